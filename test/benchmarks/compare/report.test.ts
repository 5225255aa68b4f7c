import { describe, expect, test } from "bun:test";
import { CONFIDENCE, type Comparison, FULL } from "../../../benchmarks/compare/judge";
import { betterOf } from "../../../benchmarks/compare/plan";
import { COMPARE_METHOD, type Report, render, serialise, statusOf } from "../../../benchmarks/compare/report";

const comparison = (changes: Partial<Comparison> = {}): Comparison => ({
  suite: "routing",
  row: "ref.ask",
  figure: "time",
  unit: "ns",
  base: 100,
  present: 110,
  ratio: 1.1,
  low: 1.05,
  high: 1.15,
  pairs: 16,
  isSecondLook: true,
  verdict: "slower",
  ...changes,
});

const same = comparison({ row: "ref.tell", ratio: 1, low: 0.98, high: 1.02, verdict: "no difference" });

const report = (changes: Partial<Report> = {}): Report => ({
  base: { revision: "v0.1.0", commit: "0123456789" },
  present: { commit: "abcdef012 with changes" },
  missing: [],
  resolution: FULL.resolution,
  confidence: CONFIDENCE,
  seconds: 90,
  interrupted: false,
  comparisons: [same],
  notCompared: [],
  ...changes,
});

const broken = { suite: "code", row: "a run", why: "with this tree: it did nothing", isBroken: true };

describe("a comparison ends with status", () => {
  const cases: [status: number, what: string, changes: Partial<Report>][] = [
    [0, "when nothing is slower", {}],
    [0, "when something is faster", { comparisons: [comparison({ verdict: "faster" })] }],
    [0, "when the base cannot run a row", { notCompared: [{ ...broken, isBroken: false }] }],
    [1, "when something is slower", { comparisons: [same, comparison()] }],
    [1, "when this tree cannot run a row", { notCompared: [broken] }],
    [
      3,
      "when half of the figures could have changed by a tenth unseen",
      { comparisons: [comparison({ verdict: "no difference", low: 0.85, high: 1.2 })] },
    ],
    [3, "when a difference was seen once only", { comparisons: [same, comparison({ verdict: "seen once" })] }],
    [0, "whatever the interval of a p99", { comparisons: [same, { ...same, figure: "p99", low: 0.5, high: 2 }] }],
    [3, "when nothing could be compared", { comparisons: [], notCompared: [{ ...broken, isBroken: false }] }],
    [1, "when something is slower in spite of the noise", { comparisons: [comparison({ low: 1.5, high: 2.5 })] }],
    [130, "when it was interrupted, whatever it saw", { interrupted: true, comparisons: [comparison()] }],
  ];
  for (const [status, what, changes] of cases)
    test(`${status} ${what}`, () => expect(statusOf(report(changes))).toBe(status as 0));
});

describe("its report", () => {
  test("has both figures, their ratio with its interval, and the verdict of each row", () => {
    const text = render(
      report({ comparisons: [comparison(), comparison({ row: "memory", figure: "bytes", unit: "B" })] }),
    );
    expect(text).toContain("base: v0.1.0 (0123456789)   this: abcdef012 with changes");
    expect(text).toMatch(/^ref\.ask +100 ns +110 ns +1\.100 +1\.050–1\.150 +2 × 16 +slower$/m);
    expect(text).toMatch(/^memory: bytes +100 B +110 B +1\.100 /m);
    expect(text).toContain("2 slower, 0 faster, 0 no difference; 0 not compared; 1.5 minutes.");
  });

  test("tells why rows are not compared, once for each reason", () => {
    const why = "with the base: envoi has no late in this revision";
    const left = ["one", "two"].map((row) => ({ suite: "routing", row, why, isBroken: false }));
    expect(render(report({ notCompared: left }))).toContain(`- routing: ${why} (one; two)`);
  });

  test("says so when it was interrupted, and when the machine was too noisy", () => {
    expect(render(report({ interrupted: true }))).toContain("The run was interrupted");
    expect(render(report())).not.toContain("too noisy");
    expect(render(report({ interrupted: true, comparisons: [] }))).not.toContain("Half of the figures");
    expect(render(report({ comparisons: [comparison({ verdict: "no difference", low: 0.8, high: 1.25 })] }))).toContain(
      "Half of the figures would have shown a change of 25 %, nine of ten one of 25 %",
    );
    expect(render(report({ comparisons: [comparison({ verdict: "no difference", low: 0.8, high: 1.25 })] }))).toContain(
      "too noisy",
    );
  });

  test("as JSON has the same, six digits of each figure", () => {
    const { comparisons } = JSON.parse(serialise(report({ comparisons: [comparison({ ratio: 1.0123456789 })] })));
    expect(comparisons).toEqual([comparison({ ratio: 1.01235 })]);
  });
});

describe("a probe's figure is better", () => {
  const target = { suite: "memory", row: "a row", figure: "ticks", aim: 40, reason: "" };
  const figure = (name: string, unit: "ns" | "B" | "/s" | "") => ({ name, unit, ratio: false });
  const better = (name: string, unit: "ns" | "B" | "/s" | "", targets: Parameters<typeof betterOf>[3] = []) =>
    betterOf("memory", "a row", figure(name, unit), targets);

  test("when it is lower, for times and bytes; when it is higher, for rates; a count is neither", () => {
    expect([better("time", "ns"), better("heap", "B"), better("rate", "/s"), better("ticks", "")]).toEqual([
      "lower",
      "lower",
      "higher",
      undefined,
    ]);
  });

  test("as its target says, if it has one", () => {
    expect(better("ticks", "", [{ ...target, atLeast: 38 }])).toBe("higher");
    expect(better("ticks", "", [{ ...target, atMost: 38 }])).toBe("lower");
    expect(better("ticks", "", [{ ...target, row: "another", atMost: 38 }])).toBeUndefined();
  });
});

test("the page's text on comparisons tells what they look at, and the numbers that the command works with", () => {
  expect(COMPARE_METHOD).toContain("the quickest tenth of a\nrow's samples, and at their p99");
  expect(COMPARE_METHOD).toContain("(4 to 8 pairs)");
  expect(COMPARE_METHOD).toContain("beyond the resolution, 3 %, or 10 % of a p99 (5 % and 20 % with `--quick`)");
});
