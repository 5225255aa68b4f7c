import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Address, address, createMessage, createSystem, defineProtocol, Type } from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance } from "../actor/test-system";
import { runs } from "./runs";

const Session = defineProtocol("session", { say: { payload: Type.Number(), reply: Type.Number() } });

/** What happens at one of a few addresses. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("tell"), to: fc.nat(2), n: fc.constant(0) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("ask"), to: fc.nat(2), n: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel"), to: fc.nat(2), n: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stop"), to: fc.nat(2), n: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("advance"), to: fc.constant(0), n: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("shutdown"), to: fc.constant(0), n: fc.nat(1) }) },
);
/** How each call of the function goes, and each stop. */
const outcome = fc.constantFrom("at once", "later", "nobody", "nobody later", "throws", "rejects", "never");

test("P1 P2 P6: addresses that are opened, fail, stop and are stopped for being idle lose and reorder nothing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.array(outcome, { maxLength: 20 }),
      fc.integer({ min: 1, max: 8 }),
      fc.boolean(),
      async (steps, outcomes, waiting, isStoppingSlow) => {
        const clock = createManualClock();
        const system = createSystem({
          clock,
          logger: { warn() {}, error() {} },
          askTimeout: 200,
          hookTimeout: 50,
        });
        const { router } = system;
        const wait = (delay: number): Promise<void> => new Promise((resolve) => clock.setTimer(resolve, delay));
        /** What was heard at each address; no instance runs beside another one. */
        const heard = new Map<string, number[]>();
        const alive = new Map<string, number>();
        const wrong: unknown[] = [];
        const change = (id: string, by: number): void => {
          const now = (alive.get(id) ?? 0) + by;
          alive.set(id, now);
          if (now < 0 || now > 1) wrong.push(`${id} is there ${now} times`);
        };
        const spawn = (id: string) =>
          system.spawn(id, Session, () => ({
            onStart: () => change(id, 1),
            onStop: async () => {
              if (isStoppingSlow) await wait(5);
              change(id, -1);
            },
            say(n) {
              heard.set(id, [...(heard.get(id) ?? []), n]);
              return n;
            },
          }));
        const calling = new Set<string>();
        const left = [...outcomes];
        system.resolve(
          "s/",
          (_, id) => {
            if (calling.has(id)) wrong.push(`${id} is opened twice at once`);
            switch (left.shift() ?? "at once") {
              case "later":
                calling.add(id);
                return wait(7).then(() => {
                  calling.delete(id);
                  return spawn(id);
                });
              case "nobody":
                return undefined;
              case "nobody later":
                return wait(3).then(() => undefined);
              case "throws":
                throw new Error("broken");
              case "rejects":
                return wait(3).then(() => Promise.reject(new Error("broken")));
              case "never":
                return new Promise<never>(() => {});
              default:
                return spawn(id);
            }
          },
          { idle: 20, waiting },
        );
        const check = (): void => {
          try {
            expectBalance(router.audit());
          } catch (error) {
            wrong.push(error);
          }
        };
        router.deadLetters.subscribe(check);
        const at = (to: number): Address => address(`s/${to}`);
        const asks: Promise<unknown>[] = [];
        const controllers = [0, 1, 2].map(() => new AbortController());
        let next = 0;
        let settled = 0;
        let down: Promise<unknown> | null = null;
        for (const { kind, to, n } of steps) {
          const message = createMessage(at(to), "say", next);
          if (kind === "tell") {
            next++;
            router.tell(message);
          } else if (kind === "ask") {
            next++;
            const signal = controllers[to]?.signal;
            const options = { ...(n > 0 && { timeout: n }), ...(signal !== undefined && { signal }) };
            asks.push(router.ask(message, options).then(() => settled++));
          } else if (kind === "cancel") {
            controllers[to]?.abort();
            controllers[to] = new AbortController();
          } else if (kind === "stop") void system.stop(system.ref(at(to), Session), { drain: n === 1 });
          else if (kind === "advance") await clock.advance(n);
          else down ??= system.shutdown({ drain: n === 1 });
          check();
        }
        await clock.advance(1_000);
        check();
        expect(wrong).toEqual([]);
        expect(settled).toBe(asks.length); // P6
        expect(clock.heldTimers).toBe(0);
        for (const numbers of heard.values()) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b)); // P2
        expect(router.audit()).toMatchObject({ queued: 0, running: 0, accepted: next }); // P1: each has its outcome.
        await (down ?? system.shutdown());
        await clock.advance(1_000);
      },
    ),
    runs(150),
  );
});
