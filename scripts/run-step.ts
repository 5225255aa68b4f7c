/** Programs that are run for a limited time, and what came of a run of `bun test`. */
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";

const SECOND = 1000;
/** For a program to say how far it came once its time is up, in milliseconds. Bun's tests name the files that still run. */
const GRACE = 10 * SECOND;

/** Where and how a program runs. */
export interface Place {
  readonly cwd: string;
  readonly seconds: number;
  /** A folder for what it writes. Its owner removes it. */
  readonly scratch: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** How a program ended. */
export interface Ended {
  readonly isOk: boolean;
  /** Whether it was stopped, since its time was up. */
  readonly isLate: boolean;
  /** What it wrote, without colours; how it ended, where it did not end well. */
  readonly output: string;
}

/** What came of the tests. */
export interface Tested extends Ended {
  readonly passed: number;
  /** At least 1 where anything went wrong. */
  readonly failed: number;
  readonly skipped: number;
  /** How far they came, where their time was up. */
  readonly progress: string;
}

const running = new Set<number>(); // The process groups of the running children.
let outputs = 0;

/** Ends every running child, with all that it started. */
export function killRunning(): void {
  for (const group of running) killGroup(group);
}

function killGroup(group: number | undefined): void {
  try {
    if (group !== undefined) process.kill(-group, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}

/** Runs Bun with these arguments, for at most `seconds`; what it started ends with it. */
export async function runBun(args: readonly string[], { cwd, seconds, scratch, env = {} }: Place): Promise<Ended> {
  const file = join(scratch, `output-${outputs++}`); // A file: a pipe that a grandchild keeps open would have to be waited for.
  const fd = openSync(file, "w");
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, ...env },
    stdio: ["ignore", fd, fd],
    detached: true,
  });
  if (child.pid !== undefined) running.add(child.pid);
  let isLate = false;
  let grace: ReturnType<typeof setTimeout> | undefined;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGTERM"); // It alone: what it started is its own to end.
    grace = setTimeout(() => killGroup(child.pid), GRACE);
  }, seconds * SECOND);
  const ended = Promise.withResolvers<string>();
  child.on("exit", (code, signal) => ended.resolve(signal ?? `exit code ${code}`));
  child.on("error", (error) => ended.resolve(error.message));
  const end = await ended.promise;
  clearTimeout(timer);
  clearTimeout(grace);
  killGroup(child.pid);
  running.delete(child.pid ?? 0);
  closeSync(fd);
  const output = Bun.stripANSI(await Bun.file(file).text()); // Biome colours what it writes to a file.
  const isOk = end === "exit code 0" && !isLate;
  const note = isLate ? `stopped: it took longer than ${seconds} s` : end;
  return { isOk, isLate, output: isOk ? output : `${output}(${note})\n` };
}

/** Runs `bun test` with these arguments. */
export async function runTests(args: readonly string[], place: Place): Promise<Tested> {
  const junit = join(place.scratch, "junit.xml");
  rmSync(junit, { force: true });
  const reporting = ["--reporter=junit", `--reporter-outfile=${junit}`];
  const ended = await runBun(["test", ...args, ...reporting], place);
  const xml = ended.isLate ? undefined : await textOf(junit);
  const { passed, failed, skipped } = xml === undefined ? countLines(ended.output) : countReport(xml, ended.output);
  return {
    ...ended,
    passed,
    failed: failed || (ended.isOk && passed > 0 ? 0 : 1), // A run that was stopped, or had no test, failed too.
    skipped,
    progress: ended.isLate ? progressOf(ended.output, passed) : "",
  };
}

const textOf = (file: string): Promise<string | undefined> =>
  Bun.file(file)
    .text()
    .catch(() => undefined);

function countReport(xml: string, output: string) {
  const total = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
  const count = (attribute: string) => Number(new RegExp(`\\b${attribute}="(\\d+)"`).exec(total)?.[1] ?? 0);
  // JUnit leaves out files that do not load and errors between tests.
  const errors = Number(/^ *(\d+) errors?$/m.exec(output)?.[1] ?? 0);
  return {
    passed: count("tests") - count("failures") - count("skipped"),
    failed: count("failures") + errors,
    skipped: count("skipped"),
  };
}

/** Of a run that was stopped, whose report may lack what was told last. */
function countLines(output: string) {
  const count = (what: string) => output.match(new RegExp(`^\\(${what}\\) `, "gm"))?.length ?? 0;
  return { passed: count("pass"), failed: count("fail"), skipped: count("skip") + count("todo") };
}

/** Bun names the files that still ran when it was told to end: `  test/a.test.ts (3s)`. */
function progressOf(output: string, passed: number): string {
  const [, named = ""] = output.split("\nInterrupted while still running:\n");
  const files = Array.from(named.matchAll(/^ {2}(\S+) \(.+\)$/gm), ([, file = ""]) => file);
  const last = output
    .match(/^\S+\.test\.ts:$/gm)
    ?.at(-1)
    ?.slice(0, -1);
  const where = files.length > 0 ? files.join(" and ") : last;
  return `${passed} tests had passed${where === undefined ? "" : `, and ${where} was running`}`;
}

/** Bun writes why a test failed before its name, and after the name of the one before it; the names alone once more at the end. */
export function failuresIn(output: string): string[] {
  const [told = ""] = output.split(/^\d+ tests failed:$/m);
  const ofEach = told.split(/^(?=\((?:pass|skip|todo|fail)\) )/m);
  return ofEach.flatMap((text, index) => {
    const [name = ""] = text.split("\n");
    if (!name.startsWith("(fail) ")) return [];
    const before = ofEach[index - 1] ?? "";
    return `${before.replace(/^\(\w+\) .*\n/, "").trim()}\n${name}`;
  });
}
