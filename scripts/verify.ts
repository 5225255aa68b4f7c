/**
 * Checks everything, from a clean clone: `bun run verify`, or `bun run verify:long` with the tests that take minutes.
 * The last line reads `N passed, N failed`: each test counts, and each of the other steps counts as one.
 *
 * Two steps run at once: one core alone would work while most of them do. Each has a time of its own, so that a slow one
 * takes none of the next. A quiet machine needs about 7 minutes for all of them; the times are for one that is several
 * times as busy, and together are below 90 minutes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { failuresIn, killRunning, runBun, runTests } from "./run-step";

const SECOND = 1000;
const root = join(import.meta.dir, "..");
const isLong = process.argv.includes("--long");
const stranger = process.argv.slice(2).find((each) => each !== "--long");
if (stranger !== undefined) {
  console.error(`There is no option "${stranger}". There is --long.`);
  process.exit(2);
}
/** Of one test, in milliseconds: a busy machine, and twenty times the runs, are no failure. */
const TEST_TIMEOUT = (isLong ? 600 : 120) * SECOND;
/** Files that are tested at once, each in a process of its own; more would starve the timers that some of them watch. */
const WORKERS = Math.min(2, availableParallelism());
const env = isLong ? { ENVOI_LONG: "1" } : {};

let passed = 0;
let failed = 0;
/** What was told of each test that failed, to be told once more at the end, where one looks. */
let failures: readonly string[] = [];

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    killRunning();
    rmSync(scratch, { recursive: true, force: true });
    process.exit(1);
  });
}
// After them: told to end in between, it would leave the folder.
const scratch = mkdtempSync(join(tmpdir(), "envoi-verify-"));

function report(name: string, isOk: boolean, start: number, detail = ""): void {
  const duration = `${((performance.now() - start) / SECOND).toFixed(1)} s`;
  console.log(`${isOk ? "ok    " : "FAILED"} ${name.padEnd(10)} ${duration.padStart(8)}${detail && `   ${detail}`}`);
}

async function step(name: string, seconds: number, ...args: readonly string[]): Promise<boolean> {
  const start = performance.now();
  const { isOk, output } = await runBun(args, { cwd: root, seconds, scratch, env });
  if (isOk) passed++;
  else failed++;
  report(name, isOk, start);
  if (!isOk) console.log(output);
  return isOk;
}

async function tests(seconds: number): Promise<void> {
  const start = performance.now();
  const args = [`--parallel=${WORKERS}`, "--coverage", `--timeout=${TEST_TIMEOUT}`];
  const tested = await runTests(args, { cwd: root, seconds, scratch, env });
  passed += tested.passed;
  failed += tested.failed;
  const skipped = tested.skipped > 0 ? `, ${tested.skipped} skipped` : "";
  const stopped = tested.isLate ? `; stopped after ${seconds} s: ${tested.progress}` : "";
  const isOk = tested.failed === 0;
  report("tests", isOk, start, `${tested.passed} passed, ${tested.failed} failed${skipped}${stopped}`);
  const table = tested.output.split("\n").filter((line) => /^-+\|| \| /.test(line));
  console.log(tested.isOk ? table.join("\n") : tested.output);
  failures = failuresIn(tested.output);
}

const tool = (name: string, ...args: readonly string[]) => ["--bun", "run", name, ...args];

/** Each row of the benchmarks, whose programs need what is built; one processor is enough for them. */
async function sourcesThenBenchmarks(build: Promise<boolean>): Promise<void> {
  await step("lint", 240, ...tool("biome", "ci", "."));
  await step("types", 360, ...tool("tsc", "--checkers", "1"));
  await build;
  await step("benchmarks", 480, "benchmarks/run.ts", "--smoke");
}

/** What is packed, and all tests, which need what is built. */
async function packageThenTests(build: Promise<boolean>): Promise<void> {
  if ((await build) && (await step("pack", 240, "scripts/pack.ts", scratch))) {
    const [tarball = ""] = [...new Bun.Glob("*.tgz").scanSync({ cwd: scratch, absolute: true })];
    await step("publint", 240, ...tool("publint", "run", tarball, "--strict"));
    await step("attw", 240, ...tool("attw", tarball, "--profile", "esm-only"));
  }
  await tests(isLong ? 6000 : 2400);
}

if (await step("install", 300, "scripts/ensure-installed.ts", "--again")) {
  const build = step("build", 240, "scripts/build.ts");
  await Promise.all([sourcesThenBenchmarks(build), packageThenTests(build)]);
}

rmSync(scratch, { recursive: true, force: true });
if (failures.length > 0) console.log(["", ...failures, ""].join("\n\n"));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
