import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timesIn } from "../../benchmarks/harness/bench";
import { span } from "../../benchmarks/harness/format";
import { FULL, QUICK } from "../../benchmarks/harness/measure";
import { type SuiteResult, serialise } from "../../benchmarks/harness/results";
import { probe, row } from "./rows";
import { result } from "./sample-result";

/** Times as a folder gives them that holds this file. */
async function timesOf(text: string) {
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

test("how long a row will take is what it took last, at the effort that is given, and guessed of one never measured", async () => {
  const times = await last();
  expect([times("routing", ask, FULL), times("routing", timer, FULL)]).toEqual([expect.closeTo(1.2), 2]);
  expect(times("routing", ask, QUICK)).toBeCloseTo(0.2);
  expect(times("routing", timer, QUICK)).toBeCloseTo(2 / 3);
  expect(times("routing", { ...timer, rounds: 6 }, QUICK)).toBeCloseTo(4);
  expect((await last({ rounds: 3, probeRounds: 1 }))("routing", timer, FULL)).toBeCloseTo(6);
  for (const guessed of [await timesOf("no JSON"), await timesIn("/nowhere")])
    expect(guessed("routing", timer, FULL)).toBeGreaterThan(guessed("routing", timer, QUICK));
});

test("a time is told as one says it", () => {
  const told = ["1 s", "45 s", "1 min", "1 min", "2 min 10 s", "10 min", "1 h", "1 h 5 min"];
  expect([0.2, 45.4, 59.6, 62, 130, 600, 3_600, 3_900].map(span)).toEqual(told);
});
