import { describe, expect, test } from "bun:test";
import { inFreshProcess } from "../../../benchmarks/harness/fresh-process";
import { NO_COLLECTION } from "../../../benchmarks/harness/heap";
import { measureRow, QUICK } from "../../../benchmarks/harness/measure";
import type { Charted, Probe } from "../../../benchmarks/harness/suite";
import { suite } from "../../../benchmarks/suites/memory.bench";
import { isLong } from "../../property/runs";

const subjects = new URL("subjects.ts", import.meta.url);
const LEAST = "heap slope, least";

/** The least of three slopes at most: one in a hundred flat ones is called a leak by chance, and a leak is called one each time. */
async function leastOf(measure: () => Promise<Charted>, enough: number): Promise<number> {
  const leasts: number[] = [];
  while (leasts.length < 3 && leasts.every((least) => least > enough))
    leasts.push((await measure()).readings[LEAST] ?? Number.NaN);
  return Math.min(...leasts);
}

describe("a slope of memory", () => {
  test("is surely above 0 where an actor keeps something of one message in fifty", async () => {
    const { readings, series } = await inFreshProcess<Charted>(subjects, "keepsOneIn", 50);
    expect(readings[LEAST]).toBeWithin(0.5, 4); // An entry of a map and an object, which it keeps; a 50th of that.
    expect(series).toMatchObject(["heap", "RSS"].map((name) => ({ name, along: "messages", unit: "MB" })));
    const [along = 0, megabytes = 0] = series[0]?.points.at(-1) ?? [];
    expect([series[0]?.points.length, along]).toEqual([101, 500_000]);
    expect(megabytes).toBeWithin(1, 50);
  });

  test.if(isLong)("is not, where it keeps nothing", async () => {
    const enough = 0.02; // The compiler may still be at work.
    const least = await leastOf(() => inFreshProcess<Charted>(subjects, "keepsOneIn", 1e9), enough);
    expect(least).toBeLessThanOrEqual(enough);
  });
});

/** The rows that look for a leak. */
const leaks = suite.rows.filter(
  (row): row is Probe => row.kind === "probe" && row.figures.some(({ name }) => name === LEAST),
);

test("a leak is looked for in three processes, whatever the first one says: what grows once is none", async () => {
  expect(leaks.length).toBeGreaterThan(0);
  for (const { rounds } of leaks) expect(rounds).toBe(3);
  for (const found of [
    [1, 0, 0],
    [0, 1, 1],
  ]) {
    const left = [...found];
    const figures = [{ name: LEAST, unit: "B", ratio: false }] as const;
    const probe = { ...(leaks[0] as Probe), figures, measure: async () => ({ [LEAST]: left.shift() ?? 2 }) };
    expect(await measureRow(probe, QUICK)).toMatchObject({ figures: [{ median: found[1] }] });
  }
});

describe("what is allocated", () => {
  test("is what the objects take, and the heads of the blocks that they are in", async () => {
    for (const each of [1, 2]) {
      const { bytes = 0 } = await inFreshProcess(subjects, "objects", each, NO_COLLECTION);
      expect(bytes / each).toBeWithin(48, 50);
    }
  });
});

// Each row takes many seconds; the short form is that each does its work, as `verify` sees by `bench --smoke`.
describe.if(isLong)("nothing of what envoi does leaks:", () => {
  for (const row of leaks) {
    test(row.name, async () => {
      expect(await leastOf(() => row.measure("full") as Promise<Charted>, 0)).toBeLessThanOrEqual(0); // It has lines, too.
    }, 120_000);
  }
});
