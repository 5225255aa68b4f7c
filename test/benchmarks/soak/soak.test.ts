import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createSystem } from "envoi";
import { loadSuites } from "../../../benchmarks/harness/load";
import { growsSurely, type Load, soak } from "../../../benchmarks/soak/soak";
import { Sink } from "../../../benchmarks/subjects/echo";

const isLong = process.env["ENVOI_LONG"] !== undefined;
const suites = () => loadSuites(join(import.meta.dir, "../../../benchmarks/suites"));

/** An actor that keeps something of each message, or nothing. */
function sink(keeps: boolean): Load {
  const system = createSystem({ logger: { warn: () => {}, error: () => {} } });
  const kept: object[] = [];
  const ref = system.spawn("sink", Sink, () => ({
    take(payload) {
      if (keeps) kept.push({ payload });
    },
  }));
  return {
    round: async () => {
      for (let i = 0; i < 50; i++) ref.tell("take", i);
      await Bun.sleep(1);
      return 50;
    },
    stop: () => system.shutdown().then(() => {}),
  };
}

/** Soaks for so many seconds. With `rounds`, it is ended after as many. */
async function soaked(seconds: number, load: Load, { settling = 0, rounds = Number.POSITIVE_INFINITY } = {}) {
  const ending = new AbortController();
  let said = "";
  let stopped = 0;
  const add = (text: string): void => {
    said += text;
  };
  const round = (): Promise<number> => {
    if (--rounds <= 0) ending.abort();
    return load.round();
  };
  const stop = (): Promise<void> => {
    stopped++;
    return load.stop();
  };
  const around = { out: add, err: add, signal: ending.signal, suites };
  const status = await soak(seconds / 60, around, { round, stop }, settling);
  expect(stopped).toBe(1);
  return { status, said };
}

describe("a soak", () => {
  test.if(isLong)(
    "of an actor that keeps something of each message ends with status 1, and says what leaks",
    async () => {
      const { status, said } = await soaked(4, sink(true));
      expect(said).toMatch(/^ {2}heap: .* at the end: it leaks$/m);
      expect(status).toBe(1);
    },
  );

  test.if(isLong)(
    "of all that envoi does is done without a failure, and says when it was too short to tell",
    async () => {
      const said: string[] = [];
      const add = (text: string) => said.push(text);
      expect(await soak(2 / 60, { out: add, err: add, signal: new AbortController().signal, suites })).toBe(3);
      expect(said.join("")).toMatch(/ 0 min +[1-9][0-9,]* operations +heap /);
    },
    60_000,
  );

  test("that ends before its load has settled says that it cannot tell, and ends with status 3", async () => {
    const { status, said } = await soaked(0.1, sink(true), { settling: 2 });
    expect(said).toMatch(/^ +0 min +[1-9][0-9,]* operations +heap /);
    expect(said).toEndWith("It ended too early to tell whether memory grows: 3 minutes tell.\n");
    expect(status).toBe(3);
  });

  test("whose work goes wrong ends with status 1, in the words of that", async () => {
    const wrong = { round: () => Promise.reject(new Error("a reply was 4, not 5")), stop: () => Promise.resolve() };
    expect(await soaked(4, wrong)).toEqual({ status: 1, said: "The work went wrong: a reply was 4, not 5\n" });
  });

  test("that is ended says what it has seen, with status 130", async () => {
    const { status, said } = await soaked(60, sink(false), { rounds: 3 });
    expect({ status, said }).toEqual({ status: 130, said: expect.stringMatching(/^ +0 min +150 operations +heap /) });
    const endless = { ...sink(false), round: () => new Promise<number>(() => {}) };
    expect((await soaked(60, endless, { rounds: 1 })).status).toBe(130);
  });
});

test("a leak is what surely grows by more than a hundredth, and nothing that may as well not grow", () => {
  const points = [0, 10, 20, 30].map((minute) => [minute, 10e6] as const);
  expect([4_000, 3_000, 0, -4_000].map((least) => growsSurely(least, points))).toEqual([true, false, false, false]);
  expect(growsSurely(0, [[0, 0]])).toBe(false);
});
