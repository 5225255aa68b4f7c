import { describe, expect, test } from "bun:test";
import { inFreshProcess } from "../../../benchmarks/harness/fresh-process";
import { NO_COLLECTION } from "../../../benchmarks/harness/heap";
import { measureRow, QUICK, smokeRow } from "../../../benchmarks/harness/measure";
import type { Charted } from "../../../benchmarks/harness/suite";
import { checkTargets } from "../../../benchmarks/harness/target";
import { lasting, suite } from "../../../benchmarks/suites/memory.bench";
import { targets } from "../../../benchmarks/targets";
import { result } from "../sample-result";

const subjects = new URL("subjects.ts", import.meta.url);
const LONG = process.env["ENVOI_LONG"] !== undefined;

/** The least slope of three measurements at most: what grows once is no leak, as for the suite's own rows. */
async function leastSlope(subject: string, share: number): Promise<Charted["readings"]> {
  let least: Charted["readings"] | undefined;
  for (let i = 0; i < 3; i++) {
    const { readings } = await inFreshProcess<Charted>(subjects, subject, share);
    if ((readings["heap slope, least"] ?? 0) < (least?.["heap slope, least"] ?? Number.POSITIVE_INFINITY))
      least = readings;
    if ((least?.["heap slope, least"] ?? 0) <= 0.02) break;
  }
  return least ?? {};
}

describe("a slope of memory", () => {
  test("is surely above 0 where an actor keeps something of one message in fifty", async () => {
    const { readings, series } = await inFreshProcess<Charted>(subjects, "keepsOneIn", 50);
    // An entry of a map and an object, which it keeps; a 50th of that.
    expect(readings["heap slope, least"]).toBeGreaterThan(0.5);
    expect(readings["heap slope, most"]).toBeLessThan(4);
    expect(series.map(({ name, along, unit }) => ({ name, along, unit }))).toEqual([
      { name: "heap", along: "messages", unit: "MB" },
      { name: "RSS", along: "messages", unit: "MB" },
    ]);
    expect(series[0]?.points).toHaveLength(101);
    const [along = 0, megabytes = 0] = series[0]?.points.at(-1) ?? [];
    expect(along).toBe(500_000);
    expect(megabytes).toBeGreaterThan(1);
    expect(megabytes).toBeLessThan(50);
  });

  test.if(LONG)("is not, where it keeps nothing", async () => {
    const readings = await leastSlope("keepsOneIn", 1e9);
    expect(readings["heap slope, least"]).toBeLessThanOrEqual(0.02); // The compiler may still be at work.
  });

  test.if(LONG)("is not, where it keeps something in the first two fifths, as what is filled once does", async () => {
    const readings = await leastSlope("keepsFirst", 0.4);
    expect(readings["heap slope"]).toBeLessThan(0.5);
    expect(readings["heap slope, least"]).toBeLessThanOrEqual(0.02);
  });

  test.if(LONG)("misses its target where it is surely above 0", async () => {
    const sizes = { smoke: 50, full: 50 }; // One in so many is kept.
    const { row: leaking } = lasting("10,000,000 messages, told and asked", "keepsOneIn", sizes, subjects.href);
    const row = await measureRow(leaking, { ...QUICK, rounds: 1 });
    const { checked, misses } = checkTargets(targets, [{ ...result({}), suite: "memory", rows: [row] }]);
    expect(checked).toBe(2);
    expect(misses.map(({ target }) => target.figure)).toContain("heap slope, least");
  });
});

test("a leak is looked for in three processes or more, whatever the first one says: what grows once is none", async () => {
  let calls = 0;
  const { row: probe } = lasting("a row", "keepsOneIn", { smoke: 50, full: 50 }, subjects.href);
  for (const leaks of [
    [1, 0, 0],
    [0, 1, 1],
  ] as const) {
    const measure = async () => ({ "heap slope, least": leaks[calls++ % 3] ?? 0 });
    const figures = [{ name: "heap slope, least", unit: "B", ratio: false }] as const;
    const row = await measureRow({ ...probe, figures, measure }, QUICK);
    expect(row).toMatchObject({ figures: [{ median: leaks[1] }] });
  }
  expect(calls).toBe(6);
});

describe("what is allocated", () => {
  test("is what the objects take, and the heads of the blocks that they are in", async () => {
    for (const each of [1, 2]) {
      const { bytes = 0 } = await inFreshProcess(subjects, "objects", each, NO_COLLECTION);
      expect(bytes / each).toBeGreaterThan(48);
      expect(bytes / each).toBeLessThan(50);
    }
  });

  test("is not told where the collector runs meanwhile", async () => {
    await expect(inFreshProcess(subjects, "objects", 20)).rejects.toThrow("the collector ran");
  });
});

describe("each row of the suite about memory does its work:", () => {
  for (const row of suite.rows) test(row.name, () => smokeRow(row));
});

// Each row takes many seconds; the short form is that each does its work, above.
if (LONG) {
  describe("nothing of what envoi does leaks:", () => {
    for (const row of suite.rows) {
      if (row.kind !== "probe" || !row.figures.some(({ name }) => name === "heap slope, least")) continue;
      test(row.name, async () => {
        // One in a hundred flat ones is called a leak by chance; a leak is called one each time.
        const leasts: number[] = [];
        for (let round = 0; round < 3 && leasts.every((least) => least > 0); round++) {
          const { readings } = (await row.measure("full")) as Charted; // As `slopesProbe` gives it.
          leasts.push(readings["heap slope, least"] ?? Number.NaN);
        }
        expect(Math.min(...leasts)).toBeLessThanOrEqual(0);
      }, 120_000);
    }
  });
}
