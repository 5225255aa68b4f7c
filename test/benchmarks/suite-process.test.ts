import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../benchmarks/harness/cli";
import { loadSuites } from "../../benchmarks/harness/load";
import { type FailedRow, QUICK } from "../../benchmarks/harness/measure";
import { disk } from "../../benchmarks/harness/places";
import { canSeeProcesses, descendants } from "../../benchmarks/harness/processes";
import { parseRun } from "../../benchmarks/harness/results";
import { SuiteProcess } from "../../benchmarks/harness/suite-process";

const home = join(import.meta.dir, "apart");
const file = join(home, "apart.bench.ts");
const effort = { ...QUICK, rounds: 1 };
/** Seconds. */
const PATIENCE = 60;

const started: SuiteProcess[] = [];
afterEach(async () => {
  for (const each of started.splice(0)) await each.end();
});

function start(): SuiteProcess {
  const suite = new SuiteProcess(file);
  started.push(suite);
  return suite;
}

async function processOf(suite: SuiteProcess, row: string): Promise<number> {
  const result = await suite.measure(row, effort, PATIENCE);
  return result.kind === "probe" ? (result.figures[0]?.median ?? 0) : 0;
}

test("a suite that was loaded is measured in a process of its own, and its rows that fail are told beside those that do not", async () => {
  const root = mkdtempSync(join(tmpdir(), "envoi-apart-"));
  await Bun.write(join(root, "package.json"), '{ "version": "1.2.3" }');
  const said = { out: "", err: "" };
  const [suite] = await loadSuites(home);
  const rows = suite?.rows.filter(({ name }) => name !== "hears nothing") ?? [];
  const status = await main(["--json", "--quick"], {
    root,
    command: "bun run bench",
    suites: async () => (suite ? [{ ...suite, rows }] : []),
    targets: [],
    isCheckout: true,
    isTerminal: true,
    signal: new AbortController().signal,
    writePages: async () => {},
    progress: () => {},
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  rmSync(root, { recursive: true });
  expect(status).toBe(1);
  const run = parseRun(said.out);
  const measured = run.results.flatMap(({ rows }) => rows.map(({ row }) => row));
  expect(measured).toEqual(["first", "second", "keeps a folder"]);
  expect(run.failed).toEqual([
    { suite: "apart", row: "dies", why: "its process ended (7)" },
    {
      suite: "apart",
      row: "idle",
      why: 'Row "idle" is refused: it did nothing: no operation was completed.',
    },
  ]);
  expect(said.err).toContain('Row "dies" failed: its process ended (7): no more of this\n');
  expect(said.err).toContain('Row "idle" is refused: it did nothing: no operation was completed.\n');
});

describe("the process of a suite", () => {
  test("is one for all of its rows, and not this one", async () => {
    const suite = start();
    const first = await processOf(suite, "first");
    expect(first).not.toBe(process.pid);
    expect(await processOf(suite, "second")).toBe(first);
  });

  test("that died is followed by another", async () => {
    const suite = start();
    const first = await processOf(suite, "first");
    await expect(suite.measure("dies", effort, PATIENCE)).rejects.toThrow("its process ended (7)");
    const second = await processOf(suite, "second");
    expect(second).not.toBe(first);
    expect(second).toBeGreaterThan(0);
  });

  test("has a row given up that never ends, with its name, and is followed by another", async () => {
    const suite = start();
    const failed = await suite.measure("hears nothing", effort, 1).catch((error: FailedRow) => error.failure);
    expect(failed).toEqual({
      why: "it was given up after 1 s",
      told: 'Row "hears nothing" failed: it was given up after 1 s.',
    });
    expect(await processOf(suite, "second")).toBeGreaterThan(0);
  });

  test("puts away what it made when it is over", async () => {
    const suite = start();
    const pid = await processOf(suite, "keeps a folder");
    const kept = () => readdirSync(disk.folder).filter((name) => name.startsWith(`envoi-apart-${pid}-`)).length;
    expect(kept()).toBe(1);
    await suite.end();
    expect(kept()).toBe(0);
  });

  test.skipIf(!canSeeProcesses)("is ended where it hears nothing, and nothing waits for its row", async () => {
    const suite = start();
    const pid = await processOf(suite, "first");
    const failed = suite.measure("hears nothing", effort, PATIENCE).catch((error: Error) => error.message);
    await suite.end();
    expect(await failed).toBe("its process ended (SIGKILL)");
    expect(descendants(process.pid)).not.toContain(pid);
  });
});
