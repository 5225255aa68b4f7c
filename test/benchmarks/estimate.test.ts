import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Progress, span, type Times, timesIn } from "../../benchmarks/harness/estimate";
import { FULL, QUICK } from "../../benchmarks/harness/measure";
import { type SuiteResult, serialise } from "../../benchmarks/harness/results";
import { probe, row, surroundings } from "./rows";
import { result } from "./sample-result";

/** Times as a folder gives them that holds this file. */
async function timesOf(text: string): Promise<Times> {
  const folder = mkdtempSync(join(tmpdir(), "envoi-times-"));
  await Bun.write(join(folder, "routing.json"), text);
  const times = await timesIn(folder);
  rmSync(folder, { recursive: true });
  return times;
}

const ask = row({ name: "ref.ask" });
const timer = probe({ name: "timer" });
/** The sample's first row took 1.2 s, its probe 2 s, in nine rounds and three. */
const last = (changes: Partial<SuiteResult> = {}) => timesOf(serialise({ ...result({}), probeRounds: 3, ...changes }));

test("how long a row will take is what it took last, at the effort that is given", async () => {
  const times = await last();
  expect(times("routing", ask, FULL)).toBeCloseTo(1.2);
  expect(times("routing", timer, FULL)).toBeCloseTo(2);
  expect(times("routing", ask, QUICK)).toBeCloseTo(0.2);
  expect(times("routing", timer, QUICK)).toBeCloseTo(2 / 3);
  expect(times("routing", { ...timer, rounds: 6 }, QUICK)).toBeCloseTo(4);
  expect((await last({ rounds: 3, probeRounds: 1 }))("routing", timer, FULL)).toBeCloseTo(6);
});

test("how long a row will take is guessed of one never measured, or by a version that wrote otherwise", async () => {
  for (const times of [await timesOf("{}"), await timesOf("no JSON"), await timesIn("/nowhere")]) {
    expect(times("routing", ask, FULL)).toBeGreaterThan(1.2);
    expect(times("routing", timer, FULL)).toBeGreaterThan(times("routing", timer, QUICK));
  }
});

test("a time is told as one says it", () => {
  const told = ["1 s", "45 s", "1 min", "1 min", "2 min 10 s", "10 min", "1 h", "1 h 5 min"];
  expect([0.2, 45.4, 59.6, 62, 130, 600, 3_600, 3_900].map(span)).toEqual(told);
});

test("progress tells how much there is to do, and row by row or suite by suite what is left, at the pace so far", async () => {
  const rows = result({}).rows.map((each) => ({ ...each, seconds: each.kind === "probe" ? 20 : 10 }));
  const times = await last({ rows });
  const suite = { name: "routing", about: "", rows: [ask, timer] };
  for (const isTerminal of [true, false]) {
    let now = 100;
    const lines: string[] = [];
    const { around, said } = surroundings("", { isTerminal, progress: (text) => lines.push(text) });
    const progress = new Progress(around, [suite], FULL, times, () => now);
    progress.suite(suite);
    progress.row(suite, ask);
    now += 20;
    progress.over(suite, ask);
    progress.row(suite, timer);
    expect(said.err).toBe(`2 rows: about 30 s.\n${isTerminal ? "" : "routing: 2 rows; 30 s left\n"}`);
    expect(lines).toEqual(["routing 1/2, 30 s left: ref.ask", "", "routing 2/2, 40 s left: timer"]);
  }
});
