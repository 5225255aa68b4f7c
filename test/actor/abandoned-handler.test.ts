import { describe, expect, test } from "bun:test";
import { type AskResult, address, type Clock, defineProtocol, Type } from "../../src/index";
import { testSystems } from "./test-system";

// A restart waits for a handler that hangs, for hookTimeout. Whatever ends then, by whom and when: onStop runs once, to its own end.

const { createTestSystem } = testSystems();

const Room = defineProtocol("room", { hang: { reply: Type.String() }, fail: {}, ping: { reply: Type.Number() } });

const HOOK_TIMEOUT = 100;
const ON_STOP = 50;
const outcomeOf = (answer: AskResult): unknown => (answer.isOk() ? answer.value : answer.error.kind);

const wait = (clock: Clock, delay: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(resolve, delay));

/** How onStop ends: how long it takes, and what it returns. */
const ON_STOPS = {
  "returns at once": { takes: 0, run: () => undefined },
  "takes a while": { takes: ON_STOP, run: (clock: Clock) => wait(clock, ON_STOP) },
  rejects: {
    takes: ON_STOP,
    run: async (clock: Clock) => {
      await wait(clock, ON_STOP);
      throw new Error("of onStop");
    },
  },
  hangs: { takes: HOOK_TIMEOUT, run: () => new Promise<never>(() => {}) },
} as const;

const ENDS = ["restart", "stop", "shutdown"] as const;
const SETTLES = { before: 20, during: HOOK_TIMEOUT + 20, after: 10 * HOOK_TIMEOUT } as const;
const OUTCOMES = ["fulfils", "rejects"] as const;
/** Whether it restarts for a sibling, or for a failure beside the handler that hangs. */
const KINDS = ["one at a time", "concurrent"] as const;

const rows = ENDS.flatMap((end) =>
  Object.keys(ON_STOPS).flatMap((onStop) =>
    Object.keys(SETTLES).flatMap((settles) =>
      OUTCOMES.flatMap((outcome) =>
        KINDS.map((kind) => ({
          end,
          outcome,
          kind,
          onStop: onStop as keyof typeof ON_STOPS, // The keys were taken from them.
          settles: settles as keyof typeof SETTLES,
        })),
      ),
    ),
  ),
).filter(({ onStop, settles }) => onStop !== "returns at once" || settles !== "during");

describe("P10: an onStop runs to its own end, and the next instance is made then:", () => {
  for (const { end, onStop, settles, outcome, kind } of rows) {
    test(`${end}, ${kind}, a hung handler ${outcome} ${settles} an onStop that ${onStop}`, async () => {
      const { system, clock, router, takeLog } = createTestSystem({
        supervision: { strategy: "one-for-all" },
        hookTimeout: HOOK_TIMEOUT,
      });
      const gate = Promise.withResolvers<string>();
      const seen: [what: string, at: number][] = [];
      const note = (what: string): void => void seen.push([what, clock.monotonicTime()]);
      let made = 0;
      const room = system.spawn(
        "room",
        Room,
        () => {
          const instance = ++made;
          note(`make ${instance}`);
          return {
            hang: () => gate.promise,
            fail() {
              throw new Error("broken");
            },
            ping: () => instance,
            onStop() {
              note(`onStop ${instance}`);
              return instance === 1 ? ON_STOPS[onStop].run(clock) : undefined;
            },
          };
        },
        kind === "concurrent" ? { concurrency: 2 } : {},
      );
      const sibling = system.spawn("sibling", Room, () => ({
        hang: () => "",
        fail() {
          throw new Error("broken");
        },
        ping: () => 0,
      }));
      const hung = room.ask("hang", { timeout: 60_000 });
      await clock.settle();
      await (kind === "concurrent" ? room : sibling).ask("fail");
      await clock.advance(10);
      let isStopped = false;
      const ended = end === "stop" ? system.stop(room) : end === "shutdown" ? system.shutdown() : null;
      void ended?.then(() => {
        isStopped = true;
        note("stopped");
      });
      await clock.advance(SETTLES[settles] - 10);
      if (outcome === "fulfils") gate.resolve("done");
      else gate.reject(new Error("of the handler"));
      await clock.advance(20 * HOOK_TIMEOUT);

      const begins = settles === "before" ? SETTLES.before : HOOK_TIMEOUT;
      const over = begins + ON_STOPS[onStop].takes;
      expect(seen).toEqual([
        ["make 1", 0],
        ["onStop 1", begins],
        [end === "restart" ? "make 2" : "stopped", over],
      ]);
      expect(isStopped).toBe(end !== "restart");
      const isHeard = settles === "before";
      expect(outcomeOf(await hung)).toBe(!isHeard ? "stopped" : outcome === "fulfils" ? "done" : "handler-failed");
      expect(router.audit()).toMatchObject({ running: 0, queued: 0, failed: isHeard && outcome === "fulfils" ? 1 : 2 });
      const goesOn = end === "restart" ? "restarts" : "stops";
      const ofOnStop = 'envoi: "onStop" to @(room) failed in its handler: Error: ';
      expect(takeLog().map(({ message }) => message)).toEqual([
        `envoi: "fail" to @(${kind === "concurrent" ? "room" : "sibling"}) failed in its handler: Error: broken; it restarts.`,
        ...(isHeard
          ? []
          : [
              `envoi: @(room) ${goesOn} without waiting longer for "hang", which did not end within ${HOOK_TIMEOUT} ms: abandoned.`,
            ]),
        ...(onStop === "hangs" ? [`${ofOnStop}onStop did not end within ${HOOK_TIMEOUT} ms`] : []),
        ...(onStop === "rejects" ? [`${ofOnStop}of onStop`] : []),
      ]);
      expect(router.has(address("room"))).toBe(end === "restart");
      if (end === "restart") expect(outcomeOf(await room.ask("ping"))).toBe(2);
    });
  }
});

test("P6: a shutdown that abandons an actor which waits for a handler leaves no timer of that wait", async () => {
  const { system, clock, takeLog } = createTestSystem({ supervision: {}, hookTimeout: HOOK_TIMEOUT });
  const options = { concurrency: 2 };
  const handlers = {
    hang: () => new Promise<string>(() => {}),
    fail() {
      throw new Error("broken");
    },
    ping: () => 1,
  };
  const ref = system.spawn("room", Room, () => handlers, options);
  ref.tell("hang");
  ref.tell("fail");
  await clock.settle();
  const [{ unfinished }] = await Promise.all([system.shutdown({ timeout: 1 }), clock.advance(1)]);
  expect(unfinished).toEqual([ref.address]);
  await clock.settle();
  expect(clock.timers).toBe(0);
  expect(takeLog()).toHaveLength(2); // Its failure, and that it was abandoned.
});
