import { describe, expect, test } from "bun:test";
import { type Effort, measureRow, reportRow, smokeRow } from "../../benchmarks/harness/measure";
import { Sampler } from "../../benchmarks/harness/sampling";
import type { Row } from "../../benchmarks/harness/suite";
import { counting, countingFloor, probe, row } from "./rows";

const BRIEF: Effort = { rounds: 3, turn: 1e5, warmUp: 1e4, calls: 1, probeRounds: 3 };
const SAMPLE = 25_000; // As long as a sample, in nanoseconds, so that none is made of many calls.

/** Work that takes a time for each operation, and tells of each call. */
function spinning(nanoseconds: number, operations: number, onCall = () => {}) {
  let completed = 0;
  const run = () => {
    onCall();
    for (let i = 0; i < operations; i++, completed++) {
      for (const end = Bun.nanoseconds() + nanoseconds; Bun.nanoseconds() < end; );
    }
  };
  return { run, completed: () => completed };
}

describe("a row is refused, timed or not, and its teardown runs:", () => {
  const late = () => {
    let completed = 0;
    const run = () => {
      completed += 9;
      queueMicrotask(() => completed++);
    };
    return { run, completed: () => completed };
  };
  const verify = () => {
    throw new Error("the reply was 4, not 5");
  };
  const eager = (_: unknown) => 1;
  const cases: [string, Partial<Row>, string][] = [
    ["it does nothing", { setup: () => counting(10, 0) }, ": it did nothing: no operation was completed"],
    [
      "it does less than it says",
      { setup: () => counting(10, 9) },
      ": 9 operations were complete when 1 × 10 were due",
    ],
    ["it returns before its work is done", { setup: late }, ": 9 operations were complete when 1 × 10 were due"],
    ["its verification fails", { setup: () => ({ ...counting(10), verify }) }, ": the reply was 4, not 5"],
    ["its floor does nothing", { floor: { ...countingFloor, setup: () => counting(1, 0) } }, ": it did nothing: no"],
    [
      "mitata would call it with an argument",
      { setup: () => ({ run: eager as () => unknown, completed: () => 10 }) },
      ": its run() must",
    ],
  ];
  for (const [what, changes, sentence] of cases) {
    test(what, async () => {
      let open = 0;
      const setup = async () => {
        open++;
        return { ...(await row(changes).setup()), teardown: () => open-- };
      };
      const bad = row({ ...changes, setup });
      for (const measuring of [() => smokeRow(bad), () => measureRow(bad, BRIEF)]) {
        const reason = await measuring().then(String, (error: Error) => error.message);
        expect(reason).toStartWith('Row "a row');
        expect(reason).toContain(` is refused${sentence}`);
      }
      expect(open).toBe(0);
    });
  }

  test("it counts what it does not do", async () => {
    let completed = 0;
    const run = () => {
      completed += 1_000_000;
    };
    const idle = row({ operations: 1_000_000, setup: () => ({ run, completed: () => completed }) });
    await expect(measureRow(idle, BRIEF)).rejects.toThrow("is refused: it counts what it does not do: an operation");
  });

  test("a probe's floor gives 0, of which nothing is a multiple", async () => {
    const bad = probe({ floor: { name: "raw", measure: async () => ({ bytes: 0 }) } });
    await expect(measureRow(bad, BRIEF)).rejects.toThrow('its floor gave 0 for "bytes", which has no multiples');
  });

  test("a probe gives no number", async () => {
    const empty = probe({ measure: async () => ({ size: 1 }) });
    await expect(smokeRow(empty)).rejects.toThrow('"a probe" is refused: it gave no number for its figure "bytes"');
  });
});

describe("a timed row", () => {
  test("reports samples by `per` operations, throughput over wall time, and the ratio round by round", () => {
    const round = (samples: number[], wall: number) => ({ samples, operations: samples.length * 100, wall });
    // The machine is four times slower in the second round, for both.
    const rounds = [round([20, 20, 22], 1e4), round([80, 88, 80], 5e4), round([30, 30, 30], 1e4)];
    const floors = [round([10, 10], 1e4), round([40, 40], 1e4), round([10, 10], 1e4)];
    const report = reportRow(row({ per: 10 }), 100, rounds, floors);
    expect(report).toMatchObject({ per: 10, operationsPerSample: 100, samples: 9, min: 200, p50: 300, p99: null });
    expect(report.throughput).toBeCloseTo((900 / 7e4) * 1e9, 3);
    expect(report.ratio).toEqual({ median: 2, min: 2, max: 3 });
    expect(report.floor).toEqual({ name: "counting", about: "adds to a number", p50: 100, rounds: [100, 400, 100] });
    expect(reportRow(row({ floor: { none: "why" } }), 100, rounds, []).ratio).toBeNull();
  });

  test("of work that is known to take a time takes that time: twice that of a floor of half as much", async () => {
    const WAIT = 40_000;
    const floor = { ...countingFloor, setup: (operations: number) => spinning(WAIT / 2, operations) };
    const known = row({ operations: 5, per: 10, floor, setup: () => spinning(WAIT, 5) });
    const result = await measureRow(known, { ...BRIEF, rounds: 5, turn: 4e6, warmUp: 1e6 });
    if (result.kind !== "timed" || result.ratio === null) throw new Error("not a timed row");
    expect(result.min).toBeGreaterThanOrEqual(10 * WAIT);
    expect(result.throughput).toBeLessThanOrEqual(1e9 / WAIT);
    expect(result.throughput * (result.mean / 10)).toBeGreaterThan(0.5e9);
    expect(result.ratio.median).toBeWithin(1.8, 2.2);
  });

  test("whose rounds are cut into pieces takes turns with its floor within a round, and the work of both is checked", async () => {
    const calls: string[] = [];
    const floor = {
      ...countingFloor,
      setup: (count: number) => spinning(SAMPLE / count, count, () => calls.push("floor")),
    };
    const cut = row({ floor, pieces: 10, setup: () => spinning(SAMPLE / 10, 10, () => calls.push("row")) });
    const result = await measureRow(cut, { ...BRIEF, turn: 2e6 });
    const changes = calls.filter((name, at) => at > 0 && name !== calls[at - 1]).length;
    expect(changes).toBe(20 * BRIEF.rounds + 1); // Whole rounds would give 2 of each.
    expect(result).toMatchObject({
      floor: { rounds: { length: BRIEF.rounds } },
      ratio: { median: expect.any(Number) },
    });
  });

  test("has samples of as many calls as the quickest one asks for: the last may have waited for the processor", async () => {
    const work = spinning(0, 1, () => work.completed() === 2 && Bun.sleepSync(1));
    const sampler = new Sampler("a row", 1, work);
    await sampler.warmUp(0);
    expect(sampler.operationsPerSample).toBeGreaterThan(1);
  });

  test("warms up by as many calls at least as it says, of which a quick run makes a share", async () => {
    for (const [calls, least] of [
      [1, 400],
      [0.1, 40],
    ] as const) {
      const work = spinning(SAMPLE, 1);
      const slow = row({ warmUp: 400, operations: 1, floor: { none: "it is not needed" }, setup: () => work });
      await measureRow(slow, { ...BRIEF, calls });
      expect(work.completed()).toBeWithin(least, least + 40);
    }
  });
});

describe("a probe", () => {
  test("gives the median of its rounds, beside its floor, in turns, and the lines of the last round", async () => {
    const order: string[] = [];
    const values = [300, 900, 330];
    const floors = [200, 300, 300];
    const measure = async () => {
      order.push("row");
      const points = [[0, values.length]] as const;
      const series = [{ name: "heap", along: "messages", unit: "B", points }] as const;
      return { readings: { bytes: values.shift() as number }, series };
    };
    const floor = async () => {
      order.push("floor");
      return { bytes: floors.shift() as number };
    };
    const result = await measureRow(probe({ measure, floor: { name: "raw", measure: floor } }), BRIEF);
    expect(order).toEqual(["floor", "row", "floor", "row", "floor", "row"]);
    expect(result).toMatchObject({
      figures: [
        {
          ...{ figure: "bytes", unit: "B", median: 330, min: 300, max: 900 },
          floor: { median: 300, min: 200, max: 300 },
          ratio: { median: 1.5, min: 1.1, max: 3 },
        },
      ],
      series: [{ name: "heap", points: [[0, 1]] }],
    });
    expect(await measureRow(probe(), BRIEF)).not.toHaveProperty("series");
  });

  test("has as many rounds as it says, however quick or full the run", async () => {
    let rounds = 0;
    const measure = async () => ({ bytes: ++rounds });
    for (const probeRounds of [1, 3]) await measureRow(probe({ rounds: 2, measure }), { ...BRIEF, probeRounds });
    expect(rounds).toBe(4);
  });
});
