import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Progress, span, Times } from "../../benchmarks/harness/estimate";
import { FULL, QUICK } from "../../benchmarks/harness/measure";
import { type SuiteResult, serialise } from "../../benchmarks/harness/results";
import type { Probe, Row, Suite } from "../../benchmarks/harness/suite";
import { probe, row } from "./rows";
import { result } from "./sample-result";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Times as a folder with these files gives them. */
async function timesOf(files: Readonly<Record<string, string>>): Promise<Times> {
  const folder = await mkdtemp(join(tmpdir(), "envoi-times-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  return Times.read(folder);
}

/** The sample's first row took 1.2 s, its probe 2 s, in nine rounds and three. */
const last = (changes: Partial<SuiteResult> = {}) => ({
  "routing.json": serialise({ ...result({}), probeRounds: 3, ...changes }),
});
const ask = row({ name: "ref.ask" });
const timer = probe({ name: "timer" });

describe("how long a row will take", () => {
  test("is what it took last, at the same effort", async () => {
    const times = await timesOf(last());
    expect(times.of("routing", ask, FULL)).toBeCloseTo(1.2);
    expect(times.of("routing", timer, FULL)).toBeCloseTo(2);
  });

  test("at another effort, is its turns, and what it took beyond them in fewer rounds", async () => {
    const slow = { ...result({}).rows[0], seconds: 10.2 } as SuiteResult["rows"][number];
    const times = await timesOf(last({ rows: [slow, ...result({}).rows.slice(2)] }));
    expect(times.of("routing", ask, QUICK)).toBeCloseTo(0.24 + (9 * 3) / 9);
    expect(times.of("routing", timer, QUICK)).toBeCloseTo(2 / 3);
  });

  test("of one that has more rounds than others, is that much longer", async () => {
    const times = await timesOf({});
    const long = { ...ask, rounds: 3 };
    expect(times.of("routing", long, FULL)).toBeGreaterThan(2.5 * times.of("routing", ask, FULL));
  });

  test("of one that was measured quickly, is more in a full run", async () => {
    const times = await timesOf(last({ rounds: 3, probeRounds: 1 }));
    expect(times.of("routing", timer, FULL)).toBeCloseTo(6);
    expect(times.of("routing", timer, QUICK)).toBeCloseTo(2);
  });

  test("is guessed for one that was never measured, or by a version that wrote otherwise", async () => {
    for (const files of [{}, { "routing.json": "{}" }, { "routing.json": "no JSON" }]) {
      const times = await timesOf(files);
      expect(times.of("routing", ask, FULL)).toBeGreaterThan(1.2);
      expect(times.of("routing", timer, FULL)).toBeGreaterThan(times.of("routing", timer, QUICK));
    }
  });

  test("without a folder of results is guessed, too", async () => {
    expect((await Times.read("/nowhere")).of("routing", ask, QUICK)).toBeGreaterThan(0.24);
  });
});

test("a time is told as one says it", () => {
  expect([0.2, 45.4, 59.6, 62, 130, 600, 3_600, 3_900].map(span)).toEqual([
    "1 s",
    "45 s",
    "1 min",
    "1 min",
    "2 min 10 s",
    "10 min",
    "1 h",
    "1 h 5 min",
  ]);
});

describe("the progress of a run", () => {
  const suites: readonly Suite[] = [
    { name: "routing", about: "", rows: [ask, timer] },
    { name: "memory", about: "", rows: [probe({ name: "unknown" })] },
  ];
  async function progressOf(isTerminal: boolean, of = suites) {
    const said = { err: "", progress: [] as string[] };
    let now = 100;
    const around = {
      isTerminal,
      err: (text: string) => {
        said.err += text;
      },
      progress: (text: string) => said.progress.push(text),
    };
    const rows = result({}).rows.map((each) => ({ ...each, seconds: each.kind === "probe" ? 20 : 10 }));
    const progress = new Progress(around, of, FULL, await timesOf(last({ rows })), () => now);
    return { progress, said, pass: (seconds: number) => (now += seconds) };
  }
  const [routing, memory] = suites as [Suite, Suite];

  test("begins with how much there is to do, and how long it will take", async () => {
    const { said } = await progressOf(true, [routing]);
    expect(said.err).toBe("2 rows: about 30 s.\n");
    expect((await progressOf(true)).said.err).toStartWith("3 rows of 2 suites: about ");
  });

  test("tells row by row what is left, at the pace of the rows so far", async () => {
    const { progress, said, pass } = await progressOf(true, [routing]);
    const [ask, other] = routing.rows as [Row, Probe];
    progress.suite(routing);
    progress.row(routing, ask);
    pass(20);
    progress.over(routing, ask);
    progress.row(routing, other);
    expect(said.progress).toEqual(["routing 1/2, 30 s left: ref.ask", "", "routing 2/2, 40 s left: timer"]);
  });

  test("is a line for each suite where there is no terminal", async () => {
    const { progress, said } = await progressOf(false);
    progress.suite(routing);
    for (const row of routing.rows) progress.over(routing, row);
    progress.suite(memory);
    expect(said.err).toMatch(/\nrouting: 2 rows; 3\d s left\nmemory: 1 row; \d+ s left\n$/);
  });
});
