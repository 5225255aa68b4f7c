/**
 * Checks everything, from a clean clone: `bun run verify`, or `bun run verify:long` with the tests that take minutes.
 * The last line reads `N passed, N failed`: each test counts, and each of the other steps counts as one.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

const SECOND = 1000;
const root = join(import.meta.dir, "..");
const isLong = process.argv.includes("--long");
const deadline = performance.now() + (isLong ? 3600 : 470) * SECOND;
/** Of one test, in milliseconds: a busy machine, and twenty times the runs, are no failure. */
const TEST_TIMEOUT = (isLong ? 300 : 30) * SECOND;
/** Files that are tested at once, each in a process of its own; more would starve the timers that some of them watch. */
const WORKERS = Math.min(2, availableParallelism());

let passed = 0;
let failed = 0;
/** What was told of each test that failed, to be told once more at the end, where one looks. */
let failures: readonly string[] = [];

interface Outcome {
  readonly isOk: boolean;
  readonly output: string;
}

let running: number | undefined; // The running child's process group.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    killRunning();
    rmSync(scratch, { recursive: true, force: true });
    process.exit(1);
  });
}
// After them: told to end in between, it would leave the folder.
const scratch = mkdtempSync(join(tmpdir(), "envoi-verify-"));

function killRunning(): void {
  try {
    if (running !== undefined) process.kill(-running, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}

/** Runs Bun with these arguments, for at most `seconds`; what it started ends with it. */
async function bun(args: readonly string[], seconds: number): Promise<Outcome> {
  const timeout = Math.max(0, Math.min(seconds * SECOND, deadline - performance.now()));
  const file = join(scratch, "output"); // A file: a pipe that a grandchild keeps open would have to be waited for.
  const fd = openSync(file, "w");
  const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, ...(isLong && { ENVOI_LONG: "1" }) };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", fd, fd], detached: true });
  running = child.pid;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killRunning();
  }, timeout);
  const ended = Promise.withResolvers<string>();
  child.on("exit", (code, signal) => ended.resolve(signal ?? `exit code ${code}`));
  child.on("error", (error) => ended.resolve(error.message));
  const end = await ended.promise;
  clearTimeout(timer);
  killRunning();
  running = undefined;
  closeSync(fd);
  const note = isLate ? `stopped: it took longer than ${Math.round(timeout / SECOND)} s` : end;
  const isOk = end === "exit code 0";
  const output = Bun.stripANSI(await Bun.file(file).text()); // Biome colours what it writes to a file.
  return { isOk, output: isOk ? output : `${output}(${note})\n` };
}

function report(name: string, isOk: boolean, start: number, detail = ""): void {
  const duration = `${((performance.now() - start) / SECOND).toFixed(1)} s`;
  console.log(`${isOk ? "ok    " : "FAILED"} ${name.padEnd(10)} ${duration.padStart(8)}${detail && `   ${detail}`}`);
}

async function step(name: string, seconds: number, ...args: readonly string[]): Promise<boolean> {
  const start = performance.now();
  const { isOk, output } = await bun(args, seconds);
  if (isOk) passed++;
  else failed++;
  report(name, isOk, start);
  if (!isOk) console.log(output);
  return isOk;
}

async function tests(seconds: number): Promise<void> {
  const start = performance.now();
  const junit = join(scratch, "junit.xml");
  const { isOk, output } = await bun(
    [
      ...["test", `--parallel=${WORKERS}`, "--coverage", `--timeout=${TEST_TIMEOUT}`],
      ...["--reporter=junit", `--reporter-outfile=${junit}`],
    ],
    seconds,
  );
  const xml = await Bun.file(junit)
    .text()
    .catch(() => "");
  const total = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
  const count = (attribute: string) => Number(new RegExp(`\\b${attribute}="(\\d+)"`).exec(total)?.[1] ?? 0);
  const good = count("tests") - count("failures") - count("skipped");
  // JUnit leaves out files that do not load and errors between tests. A run that was stopped, or had no test, failed too.
  const errors = Number(/^ *(\d+) errors?$/m.exec(output)?.[1] ?? 0);
  const bad = count("failures") + errors || (isOk && good > 0 ? 0 : 1);
  passed += good;
  failed += bad;
  const skipped = count("skipped") > 0 ? `, ${count("skipped")} skipped` : "";
  report("tests", isOk && bad === 0, start, `${good} passed, ${bad} failed${skipped}`);
  const table = output.split("\n").filter((line) => /^-+\|| \| /.test(line));
  console.log(isOk ? table.join("\n") : output);
  failures = failuresIn(output);
}

/** Bun writes why a test failed before its name, and after the name of the one before it; the names alone once more at the end. */
function failuresIn(output: string): string[] {
  const [told = ""] = output.split(/^\d+ tests failed:$/m);
  const ofEach = told.split(/^(?=\((?:pass|skip|todo|fail)\) )/m);
  return ofEach.flatMap((text, index) => {
    const [name = ""] = text.split("\n");
    if (!name.startsWith("(fail) ")) return [];
    const before = ofEach[index - 1] ?? "";
    return `${before.replace(/^\(\w+\) .*\n/, "").trim()}\n${name}`;
  });
}

const tool = (name: string, ...args: readonly string[]) => ["--bun", "run", name, ...args];

if (await step("install", 120, "install", "--frozen-lockfile")) {
  await step("lint", 60, ...tool("biome", "ci", "."));
  await step("types", 90, ...tool("tsc"));
  const isBuilt = await step("build", 60, "scripts/build.ts");
  await tests(isLong ? 3000 : 400);
  if (isBuilt && (await step("pack", 60, "scripts/pack.ts", scratch))) {
    const [tarball = ""] = [...new Bun.Glob("*.tgz").scanSync({ cwd: scratch, absolute: true })];
    await step("publint", 60, ...tool("publint", "run", tarball, "--strict"));
    await step("attw", 60, ...tool("attw", tarball, "--profile", "esm-only"));
  }
  await step("benchmarks", 120, "benchmarks/run.ts", "--smoke");
}

rmSync(scratch, { recursive: true, force: true });
if (failures.length > 0) console.log(["", ...failures, ""].join("\n\n"));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
