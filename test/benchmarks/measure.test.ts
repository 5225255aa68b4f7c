import { describe, expect, test } from "bun:test";
import { type Effort, measureRow, reportRow, smokeRow } from "../../benchmarks/harness/measure";
import { Gate, Sampler } from "../../benchmarks/harness/sampling";
import type { Row } from "../../benchmarks/harness/suite";
import { counting, countingFloor, probe, row } from "./rows";

const BRIEF: Effort = { rounds: 3, turn: 1e5, warmUp: 1e4 };

const refusal = (bad: Row) => async () => {
  const reasons = await Promise.all(
    [smokeRow(bad), measureRow(bad, BRIEF)].map((it) => it.then(String, (error: Error) => error.message)),
  );
  expect(reasons[1]).toBe(reasons[0] as string);
  return reasons[0];
};

describe("a row is refused", () => {
  test("when it does nothing", async () => {
    const reason = await refusal(row({ setup: () => counting(10, 0) }))();
    expect(reason).toBe('Row "a row" is refused: it did nothing: no operation was completed.');
  });

  test("when it does less than it says", async () => {
    const reason = await refusal(row({ setup: () => counting(10, 9) }))();
    expect(reason).toBe('Row "a row" is refused: 9 operations were complete when 1 × 10 were due.');
  });

  test("when it returns before its work is done", async () => {
    const setup = () => {
      let completed = 0;
      const run = () => {
        completed += 9;
        queueMicrotask(() => {
          completed++;
        });
      };
      return { run, completed: () => completed };
    };
    const reason = await refusal(row({ setup }))();
    expect(reason).toBe('Row "a row" is refused: 9 operations were complete when 1 × 10 were due.');
  });

  test("when the work stops after a while", async () => {
    let completed = 0;
    const run = () => {
      if (completed < 1000) completed += 10;
    };
    const tired = row({ setup: () => ({ run, completed: () => completed }) });
    await expect(measureRow(tired, BRIEF)).rejects.toThrow("1000 operations were complete");
  });

  test("when its own verification fails", async () => {
    const verify = () => {
      throw new Error("the reply was 4, not 5");
    };
    const reason = await refusal(row({ setup: () => ({ ...counting(10), verify }) }))();
    expect(reason).toBe('Row "a row" is refused: the reply was 4, not 5.');
  });

  test("when its floor does nothing", async () => {
    const idle = { ...countingFloor, setup: () => counting(1, 0) };
    expect(await refusal(row({ floor: idle }))()).toContain('Row "a row, its floor" is refused: it did nothing');
  });

  test("when its run takes an argument, which mitata would take for an iterator", async () => {
    const setup = () => ({ run: ((_: unknown) => 1) as () => unknown, completed: () => 10 });
    expect(await refusal(row({ setup }))()).toContain("must take no argument");
  });
});

describe("a measured row", () => {
  test("gives its figures, its floor and its ratio", async () => {
    const result = await measureRow(row(), BRIEF);
    if (result.kind !== "timed" || "none" in result.floor || result.ratio === null) throw new Error("not a timed row");
    expect(result.p50).toBeGreaterThan(0);
    expect(result.p95).toBeGreaterThanOrEqual(result.p75);
    expect(result.floor.name).toBe("counting");
    expect(result.ratio.min).toBeLessThanOrEqual(result.ratio.median);
    expect(result.operationsPerSample % 10).toBe(0);
  });

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
    const varying = reportRow(row({ floor: { ...countingFloor, varies: true } }), 100, rounds, floors);
    expect(varying.floor).toMatchObject({ varies: true });
    expect(reportRow(row({ floor: { none: "why" } }), 100, rounds, []).ratio).toBeNull();
  });

  test("of work that is known to take a time takes that time: twice that of a floor of half as much", async () => {
    const WAIT = 40_000;
    const waiting = (nanoseconds: number, operations: number) => {
      let completed = 0;
      const run = () => {
        for (let i = 0; i < operations; i++) {
          for (const end = Bun.nanoseconds() + nanoseconds; Bun.nanoseconds() < end; );
          completed++;
        }
      };
      return { run, completed: () => completed };
    };
    const floor = { ...countingFloor, setup: (operations: number) => waiting(WAIT / 2, operations) };
    const known = row({ operations: 5, per: 10, floor, setup: () => waiting(WAIT, 5) });
    const result = await measureRow(known, { rounds: 5, turn: 4e6, warmUp: 1e6 });
    if (result.kind !== "timed" || result.ratio === null) throw new Error("not a timed row");
    expect(result.min).toBeGreaterThanOrEqual(10 * WAIT);
    expect(result.throughput).toBeLessThanOrEqual(1e9 / WAIT);
    expect(result.ratio.median).toBeGreaterThan(1.8);
    expect(result.ratio.median).toBeLessThan(2.2);
    expect(result.throughput * (result.mean / 10)).toBeGreaterThan(0.5e9);
  });

  test("counts asynchronous work to its end", async () => {
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < 10; i++) {
        await Promise.resolve();
        completed++;
      }
    };
    const result = await measureRow(row({ setup: () => ({ run, completed: () => completed }) }), BRIEF);
    expect(result.kind).toBe("timed");
  });

  test("is torn down, also when it is refused", async () => {
    let torn = 0;
    const teardown = () => {
      torn++;
    };
    await measureRow(row({ setup: () => ({ ...counting(10), teardown }) }), BRIEF);
    await measureRow(row({ setup: () => ({ ...counting(10, 1), teardown }) }), BRIEF).catch(() => {});
    expect(torn).toBe(2);
  });
});

describe("a probe", () => {
  test("gives the median of its rounds, beside its floor, in turns", async () => {
    const order: string[] = [];
    const values = [300, 900, 330];
    const floors = [200, 300, 300];
    const result = await measureRow(
      probe({
        measure: async () => {
          order.push("row");
          return { bytes: values.shift() as number };
        },
        floor: {
          name: "raw",
          measure: async () => {
            order.push("floor");
            return { bytes: floors.shift() as number };
          },
        },
      }),
      BRIEF,
    );
    expect(order).toEqual(["floor", "row", "floor", "row", "floor", "row"]);
    if (result.kind !== "probe") throw new Error("not a probe");
    expect(result.figures).toEqual([
      {
        figure: "bytes",
        unit: "B",
        median: 330,
        min: 300,
        max: 900,
        floor: { median: 300, min: 200, max: 300 },
        ratio: { median: 1.5, min: 1.1, max: 3 },
      },
    ]);
  });

  test("is refused when it gives no number", async () => {
    const empty = probe({ measure: async () => ({ size: 1 }) });
    await expect(measureRow(empty, BRIEF)).rejects.toThrow(
      '"a probe" is refused: it gave no number for its figure "bytes"',
    );
    await expect(smokeRow(empty)).rejects.toThrow("refused");
  });
});

describe("what a row's result tells beside its figures", () => {
  test("the lines that a probe read along the way, those of the last round", async () => {
    let rounds = 0;
    const measure = async () => ({
      readings: { bytes: 300 },
      series: [{ name: "heap", along: "messages", unit: "B", points: [[0, ++rounds]] }] as const,
    });
    const result = await measureRow(probe({ measure }), BRIEF);
    expect(result).toMatchObject({
      figures: [{ figure: "bytes", median: 300 }],
      series: [{ name: "heap", points: [[0, 3]] }],
    });
    expect(await measureRow(probe(), BRIEF)).not.toHaveProperty("series");
  });

  test("how long it took to measure", async () => {
    const measure = async () => {
      await Bun.sleep(2);
      return { bytes: 300 };
    };
    expect((await measureRow(probe({ measure }), BRIEF)).seconds).toBeGreaterThanOrEqual(0.006);
  });
});

describe("a row whose rounds are cut into pieces", () => {
  /** Work that takes as long as a sample, so that none is made of many calls. */
  const noting = (name: string, calls: string[], operations: number) => {
    let completed = 0;
    const run = () => {
      const end = Bun.nanoseconds() + 25_000;
      while (Bun.nanoseconds() < end);
      calls.push(name);
      completed += operations;
    };
    return { run, completed: () => completed };
  };

  test("takes turns with its floor within a round, and the work of both is checked", async () => {
    const calls: string[] = [];
    const floor = { ...countingFloor, setup: (operations: number) => noting("floor", calls, operations) };
    const cut = row({ floor, pieces: 10, setup: () => noting("row", calls, 10) });
    const result = await measureRow(cut, { ...BRIEF, turn: 2e6 });
    const changes = calls.filter((name, at) => at > 0 && name !== calls[at - 1]).length;
    expect(changes).toBeGreaterThan(4 * BRIEF.rounds); // Whole rounds would give 2 of each.
    expect(result).toMatchObject({
      floor: { rounds: { length: BRIEF.rounds } },
      ratio: { median: expect.any(Number) },
    });
    const tired = row({ floor, pieces: 10, setup: () => counting(10, 9) });
    await expect(measureRow(tired, BRIEF)).rejects.toThrow("9 operations were complete");
  });

  test("fails where it throws, or its floor does, and the other one does not wait for ever", async () => {
    const tired = (operations: number) => {
      const work = noting("tired", [], operations);
      const run = () => {
        if (work.completed() > 100) throw new Error("too tired");
        work.run();
      };
      return { ...work, run };
    };
    const other = () => noting("other", [], 10);
    const effort = { ...BRIEF, turn: 2e7 };
    const floor = (setup: typeof tired) => ({ ...countingFloor, setup });
    await expect(measureRow(row({ floor: floor(other), pieces: 10, setup: () => tired(10) }), effort)).rejects.toThrow(
      "tired",
    );
    await expect(measureRow(row({ floor: floor(() => tired(10)), pieces: 10, setup: other }), effort)).rejects.toThrow(
      "tired",
    );
  });

  test("counts no time in which it waited for its floor", async () => {
    const [mine, others] = Gate.pair(100_000);
    const sampler = new Sampler("mine", 10, noting("mine", [], 10));
    const other = new Sampler("other's", 10, noting("other's", [], 10));
    await sampler.warmUp(0);
    await other.warmUp(0);
    const start = Bun.nanoseconds();
    const shared = sampler.share(2e7, mine).then(({ wall }) => ({ wall, elapsed: Bun.nanoseconds() - start }));
    await other.share(2e7, others);
    const { wall, elapsed } = await shared;
    expect(mine.waited).toBeGreaterThan(0);
    expect(wall).toBeLessThanOrEqual(elapsed - mine.waited);
  });
});

describe("the gates of two who take turns", () => {
  const until = (time: number) => {
    while (Bun.nanoseconds() < time);
  };

  test("are open by turns: the first one first, each until its time is over", async () => {
    const [first, second] = Gate.pair(1e9);
    expect(first.pass()).toBeUndefined();
    expect(Bun.peek.status(second.pass() as Promise<void>)).toBe("pending");
    const [one, two] = Gate.pair(1_000);
    const shut = two.pass();
    until(Bun.nanoseconds() + 1_000);
    const waiting = one.pass();
    await shut;
    expect(Bun.peek.status(waiting as Promise<void>)).toBe("pending");
    expect(two.waited).toBeGreaterThanOrEqual(1_000);
    until(Bun.nanoseconds() + 1_000);
    expect(two.pass()).toBeInstanceOf(Promise);
    await waiting;
    expect(one.waited).toBeGreaterThanOrEqual(1_000);
  });

  test("stay open for who is left alone", async () => {
    const [first, second] = Gate.pair(1_000);
    const shut = second.pass();
    first.leave();
    await shut;
    until(Bun.nanoseconds() + 1_000);
    expect(second.pass()).toBeUndefined();
  });
});

describe("a row that says so", () => {
  test("has more rounds than others, and so has its floor; not in a quick run", async () => {
    const result = await measureRow(row({ rounds: 2 }), BRIEF);
    expect(result).toMatchObject({ floor: { rounds: { length: 2 * BRIEF.rounds } } });
    const quick = await measureRow(row({ rounds: 2 }), { ...BRIEF, beyond: 0.1 });
    expect(quick).toMatchObject({ floor: { rounds: { length: BRIEF.rounds } } });
  });

  test("warms up by so many calls at least, of which a quick run makes a share", async () => {
    const callsOf = async (beyond: number) => {
      let completed = 0;
      const run = () => {
        const end = Bun.nanoseconds() + 25_000; // As long as a sample, so that none is made of many calls.
        while (Bun.nanoseconds() < end);
        completed++;
      };
      const setup = () => ({ run, completed: () => completed });
      const slow = row({ warmUp: 400, operations: 1, floor: { none: "it is not needed" }, setup });
      await measureRow(slow, { ...BRIEF, beyond });
      return completed;
    };
    const [all, share] = [await callsOf(1), await callsOf(0.1)];
    expect(all).toBeWithin(400, 440);
    expect(share).toBeWithin(40, 80);
  });
});
