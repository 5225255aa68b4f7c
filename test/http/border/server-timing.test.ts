import { describe, expect, test } from "bun:test";
import { createGateway } from "../../../src/http/index";
import { address, defineProtocol, Type } from "../../../src/index";
import { testSystems } from "../../actor/test-system";
import { get, post } from "../counter";
import { byName, createService } from "./service";

const { createTestSystem } = testSystems();
const PREFER = { prefer: "server-timing" };

const Slow = defineProtocol("slow", {
  work: { payload: Type.Number(), reply: Type.Number() },
  pass: { reply: Type.Number() },
});

const Looked = defineProtocol("looked", { look: { reply: Type.Number(), hints: { readOnly: true } } });

/** An actor that takes its time, and one that hands on. */
function createSlow(serverTiming = true) {
  const test = createTestSystem();
  const { clock } = test;
  const wait = (time: number) => new Promise<void>((resolve) => clock.setTimer(resolve, time));
  const ref = test.system.spawn("slow", Slow, () => ({
    async work(time) {
      await wait(time);
      return time;
    },
    pass: () => 1,
  }));
  const gateway = createGateway(test.system, {
    expose: { slow: { ref, operations: ["work", "pass"] } },
    serverTiming,
    async authenticate(request) {
      await wait(5);
      return byName(request, { clock, log: test.system.log });
    },
    async authorize() {
      await wait(2);
      return true;
    },
  });
  const ask = (time: number, headers: Record<string, string> = PREFER) =>
    post(gateway, "/actors/slow/work", time, { "x-user": "ada", ...headers });
  return { ...test, gateway, ask, ref };
}

const timingOf = ({ headers }: Response) => headers.get("server-timing");

describe("Server-Timing", () => {
  test("tells what authentication, the mailbox and the handler took, in milliseconds", async () => {
    const { ask, advance } = createSlow();
    const answers = [ask(30), ask(40)];
    await advance(100);
    const [first, second] = (await Promise.all(answers)).map(timingOf);
    expect(first).toBe(
      "auth;dur=7.00, validate;dur=0.00, queue;dur=0.00, handler;dur=30.00, encode;dur=0.00, total;dur=37.00",
    );
    expect(second).toBe(
      "auth;dur=7.00, validate;dur=0.00, queue;dur=30.00, handler;dur=40.00, encode;dur=0.00, total;dur=77.00",
    );
  });

  test("of an actor elsewhere tells what its transport took, and counts no handler that it asked", async () => {
    const { system, clock, advance } = createTestSystem();
    const { ref } = system.attach(address("node-7/looked"), Looked, {
      send: (out) => void clock.setTimer(() => out.complete(1), 25),
      cancel() {},
      credit() {},
      close() {},
    });
    const front = system.spawn("front", Looked, (ctx) => ({
      look: async () => (await ctx.ask(ref, "look")).unwrapOr(0),
    }));
    const expose = { ref: { ref, operations: ["look"] }, front: { ref: front, operations: ["look"] } } as const;
    const gateway = createGateway(system, { expose, serverTiming: true });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (const name of ["ref", "front"]) {
      const answer = get(gateway, `/actors/${name}/look`, { ...PREFER, traceparent });
      await advance(50);
      expect(timingOf(await answer)).toContain("queue;dur=0.00, handler;dur=25.00,");
    }
  });

  test("is told to those who prefer it, where the owner allows it, and in no refusal of a stranger", async () => {
    const off = createSlow(false);
    const on = createSlow();
    const told = async ({ ask, advance }: typeof on, headers: Record<string, string>) => {
      const answer = ask(1, headers);
      await advance(50);
      return timingOf(await answer) !== null;
    };
    expect(await told(off, PREFER)).toBe(false);
    expect(await told(on, { prefer: "wait=5" })).toBe(false);
    expect(await told(on, { prefer: "no-server-timing" })).toBe(false);
    expect(await told(on, { prefer: "wait=5, Server-Timing" })).toBe(true);
    const stranger = post(on.gateway, "/actors/slow/work", 1, PREFER);
    await on.advance(10);
    const refused = await stranger;
    expect([refused.status, timingOf(refused)]).toEqual([401, null]);
  });

  test("P18: tells durations and nothing else, also of a failure", async () => {
    const test = createTestSystem();
    const gateway = createService(test, { serverTiming: true });
    for (const response of [
      await post(gateway, "/actors/counter/fail", null, PREFER),
      await get(gateway, "/actors/counter/ticks?input=2", PREFER),
    ]) {
      expect(timingOf(response)).toMatch(/^(?:[a-z]+;dur=\d+\.\d\d(?:, |$))+$/);
      await response.body?.cancel();
    }
    test.takeLog();
    await test.settle();
  });

  test("leaves no mark that a handler reads as metadata", async () => {
    const gateway = createService(createTestSystem(), { serverTiming: true });
    const response = await post(gateway, "/actors/counter/told", null, PREFER);
    expect([await response.json(), timingOf(response)]).toEqual([{}, expect.stringContaining("handler")]);
  });

  test("tells what it took to look a session up, and its actor to answer", async () => {
    const test = createTestSystem();
    const gateway = createGateway(test.system, {
      expose: {},
      serverTiming: true,
      sessions: { protocol: Looked, operations: ["look"], factory: () => ({ look: () => 1 }), path: ":memory:" },
    });
    const at = (await post(gateway, "/sessions", {})).headers.get("location");
    const answer = await post(gateway, `${at}/messages`, { operation: "look" }, PREFER);
    expect([await answer.json(), timingOf(answer)]).toEqual([
      1,
      "lookup;dur=0.00, validate;dur=0.00, queue;dur=0.00, handler;dur=0.00, total;dur=0.00",
    ]);
    await gateway.close();
  });

  test("observes nothing before such a request, and nothing soon after the last one", async () => {
    const { ask, advance, system } = createSlow();
    let count = 0;
    let live = 0;
    const around = system.around.bind(system);
    Object.assign(system, {
      around: (...given: Parameters<typeof around>) => {
        count++;
        live++;
        const stop = around(...given);
        return () => {
          live--;
          stop();
        };
      },
    });
    const plain = ask(1, {});
    await advance(20);
    await plain;
    expect(count).toBe(0);
    const timed = [ask(1), ask(1)];
    await advance(20);
    await Promise.all(timed);
    await advance(900);
    const late = ask(3_000);
    await advance(3_000);
    expect([count, live]).toEqual([1, 1]);
    await advance(20);
    expect(timingOf(await late)).toContain("handler;dur=3000.00");
    await advance(2_000);
    expect([count, live]).toEqual([1, 0]);
    const again = ask(1);
    await advance(20);
    expect([timingOf(await again), count]).toEqual([expect.stringContaining("handler;dur=1.00"), 2]);
  });
});
