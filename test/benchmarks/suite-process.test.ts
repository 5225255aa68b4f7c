import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../benchmarks/harness/cli";
import { loadSuites } from "../../benchmarks/harness/load";
import { QUICK } from "../../benchmarks/harness/measure";
import { disk } from "../../benchmarks/harness/places";
import { canSeeProcesses, descendants, residentBytes } from "../../benchmarks/harness/processes";
import { parseRun } from "../../benchmarks/harness/results";
import { SuiteProcess } from "../../benchmarks/harness/suite-process";
import { WorkerProcess } from "../../benchmarks/harness/worker";
import { surroundings } from "./rows";

const home = join(import.meta.dir, "apart");
const effort = { ...QUICK, rounds: 1 };
/** Seconds. */
const PATIENCE = 60;

let suite = new SuiteProcess("");
afterEach(() => suite.end());

function start(): void {
  suite = new SuiteProcess(join(home, "apart.bench.ts"));
}

async function processOf(row: string): Promise<number> {
  const result = await suite.run(row, effort, PATIENCE);
  return result?.kind === "probe" ? (result.figures[0]?.median ?? 0) : 0;
}

test("a suite that was loaded is measured in a process of its own, and its rows that fail are told beside those that do not", async () => {
  const root = mkdtempSync(join(tmpdir(), "envoi-apart-"));
  await Bun.write(join(root, "package.json"), '{ "version": "1.2.3" }');
  const suites = async () =>
    (await loadSuites(home)).map((each) => ({
      ...each,
      rows: each.rows.filter(({ name }) => !/hears nothing|leaves work|never ends|but not/.test(name)),
    }));
  const { around, said } = surroundings(root, { suites });
  expect(await main(["--json", "--quick"], around)).toBe(1);
  rmSync(root, { recursive: true });
  const { results, failed } = parseRun(said.out);
  expect(results.flatMap(({ rows }) => rows.map(({ row }) => row))).toEqual(["first", "second", "keeps a folder"]);
  const refused = 'Row "idle" is refused: it did nothing: no operation was completed.';
  expect(failed).toEqual([
    { suite: "apart", row: "dies", why: "its process ended (7)" },
    { suite: "apart", row: "idle", why: refused },
  ]);
  expect(said.err).toContain(`Row "dies" failed: its process ended (7): no more of this\n${refused}\n`);
});

describe("the process of a suite", () => {
  test("is one for all of its rows, and not this one; one that died is followed by another", async () => {
    start();
    const first = await processOf("first");
    expect(first).not.toBe(process.pid);
    expect(await processOf("second")).toBe(first);
    await expect(processOf("dies")).rejects.toThrow("its process ended (7)");
    await expect(suite.run("dies, but not what it started", effort, 6)).rejects.toThrow("its process ended (7)");
    expect([0, first]).not.toContain(await processOf("second"));
  });

  test.if(canSeeProcesses)(
    "is told as dead by the first order after its death, though what it started holds its output open",
    async () => {
      const program = `const { follow } = await import(${JSON.stringify(import.meta.resolve("../../benchmarks/harness/worker"))});
      follow(async () => {
        Bun.spawn(["sleep", "1"], { stdio: ["ignore", "ignore", "inherit"] });
        setTimeout(() => process.exit(7), 20);
        return process.pid;
      });`;
      const worker = new WorkerProcess<null, number>(["-e", program]);
      const pid = await worker.ask(null, 10_000);
      while (residentBytes(pid) > 0) await Bun.sleep(1);
      await expect(worker.ask(null, 10_000)).rejects.toThrow("its process ended (7)");
      await worker.end();
    },
  );

  test("has a row given up that never ends, also in a smoke, and is followed by another", async () => {
    start();
    for (const how of [effort, undefined]) {
      await expect(suite.run("hears nothing", how, 1)).rejects.toThrow("it was given up after 1 s");
      await suite.run("second", how, PATIENCE);
    }
    await expect(suite.run("idle", undefined, PATIENCE)).rejects.toThrow("it did nothing");
  });

  test("refuses a row whose work goes on beside the next one, which has another process", async () => {
    start();
    const first = await processOf("first");
    await expect(processOf("leaves work behind")).rejects.toThrow("it left work behind");
    expect([0, first]).not.toContain(await processOf("second"));
  });

  test("puts away what it made when it is over, and when a row was given up", async () => {
    start();
    const kept = (by: number | string) =>
      readdirSync(disk.folder).filter((name) => name.startsWith(`envoi-apart-${by}-`)).length;
    await expect(suite.run("never ends", effort, 1)).rejects.toThrow("it was given up after 1 s");
    expect(kept(`of-${process.pid}`)).toBe(0);
    const pid = await processOf("keeps a folder");
    expect(kept(pid)).toBe(1);
    await suite.end();
    expect(kept(pid)).toBe(0);
  });

  test.skipIf(!canSeeProcesses)("is ended where it hears nothing, and nothing waits for its row", async () => {
    start();
    const pid = await processOf("first");
    const failed = processOf("hears nothing").catch((error: Error) => error.message);
    await suite.end();
    expect(await failed).toBe("its process ended (SIGKILL)");
    expect(descendants(process.pid)).not.toContain(pid);
  });
});
