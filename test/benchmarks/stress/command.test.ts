import { afterEach, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendants, residentBytes } from "../../../benchmarks/harness/processes";
import { parseStress } from "../../../benchmarks/stress/results";
import { main, missedBy } from "../../../benchmarks/stress/run";
import { FULL, QUICK } from "../../../benchmarks/stress/stress";
import { NotFound } from "../../../benchmarks/stress/trouble";
import { stressTargets } from "../../../benchmarks/targets/stress";
import { results, trouble } from "./sample";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Runs the command in a checkout, or in a package, that has nothing else. */
async function run(
  argv: string[],
  measured: unknown = results,
  { isCheckout = true, signal = new AbortController().signal } = {},
) {
  const root = await mkdtemp(join(tmpdir(), "envoi-stress-command-"));
  folders.push(root);
  await Bun.write(join(root, "package.json"), "{}");
  if (isCheckout) await Bun.write(join(root, "src/index.ts"), "");
  const said = { out: "", err: "" };
  const tell = (where: keyof typeof said) => (text: string) => {
    said[where] += text;
  };
  let effort: typeof FULL | undefined;
  const around = { root, out: tell("out"), err: tell("err"), progress() {}, isTerminal: true, signal };
  const status = await main(argv, around, async (asked) => {
    effort = asked;
    if (measured instanceof Error) throw measured;
    return measured as typeof results;
  });
  const text = await Bun.file(join(root, "benchmarks/results/stress.json"))
    .text()
    .catch(() => undefined);
  return { status, ...said, effort, written: text && parseStress(text) };
}

test("a wrong command line ends with status 2, says what there is and measures nothing", async () => {
  const there = "There are --quick, --check, --json, --help.";
  for (const [wrong, sentence] of [
    ["--quik", `Unknown option '--quik'. ${there}`],
    ["messaging", "Unexpected argument 'messaging'"],
  ] as const) {
    const err = expect.stringContaining(sentence);
    expect(await run([wrong])).toEqual({ status: 2, out: "", err, effort: undefined, written: undefined });
  }
});

test("a full run in a checkout writes what it measured, with its pages; a quick one and a package's write nothing", async () => {
  const { status, out, effort, written } = await run([]);
  expect({ status, effort, written }).toEqual({ status: 0, effort: FULL, written: results });
  expect(out).toContain("**It bore 100,000/s, and broke at 110,000/s**");
  expect(await readdir(join(folders[0] ?? "", "benchmarks/results"))).toContain("stress.md");
  expect(await run(["--quick"])).toMatchObject({ status: 0, effort: QUICK, written: undefined });
  expect(await run([], results, { isCheckout: false })).toMatchObject({ status: 0, written: undefined });
});

test("--help tells every option, of what was typed; --json prints the results and nothing else", async () => {
  const { status, out } = await run(["--help"], results, { isCheckout: false });
  expect({ status, first: out.split("\n")[0] }).toEqual({ status: 0, first: "envoi stress [options]" });
  for (const option of ["--quick", "--check", "--json"]) expect(out).toContain(option);
  expect((await run(["--help"])).out).toStartWith("bun run stress [options]\n");
  expect(parseStress((await run(["--json", "--quick"])).out)).toEqual(results);
});

test("--check ends with status 1 when a target is missed, and names it; without it, the status is 0", async () => {
  expect(missedBy(results, stressTargets)).toEqual([]);
  const ladders = results.ladders.map((each) => ({ ...each, held: 900 }));
  const { status, err } = await run(["--check", "--quick"], { ...results, ladders });
  expect(status).toBe(1);
  expect(err).toContain('missed: stress: "messaging only" has load that held 900; its limit is ≥ 10,000\n');
  expect(await run(["--quick"], { ...results, ladders })).toMatchObject({ status: 0 });
});

test("what does not hold, and no breaking point, end every run with status 1, and are told", async () => {
  const ladders = results.ladders.map((each) => ({ ...each, overload: { ...trouble, failed: ["It leaks."] } }));
  const { status, err } = await run(["--quick"], { ...results, ladders });
  expect(status).toBe(1);
  expect(err).toEndWith("more than it bears: It leaks.\nmore than it bears: It leaks.\n");
  const unfound = await run([], new NotFound("At 5 a second, the generator was late."));
  expect(unfound).toMatchObject({ status: 1, written: undefined });
  expect(unfound.err).toEndWith("The breaking point was not found: At 5 a second, the generator was late.\n");
});

test("a run that is ended by a signal leaves no process and no file, and its status says so", async () => {
  const own = await mkdtemp(join(tmpdir(), "envoi-interrupt-"));
  folders.push(own);
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../../benchmarks/stress/run.ts"), "--quick"], {
    env: { ...process.env, TMPDIR: own },
    stdout: "pipe",
    stderr: "pipe",
  });
  let children: number[] = [];
  for (; children.length === 0; await Bun.sleep(10)) children = descendants(child.pid); // Until the test's own time is over.
  child.kill("SIGINT");
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ out, status }).toEqual({ out: "", status: 130 });
  expect(err).toEndWith("Ended before it was over; nothing was written.\n");
  while (children.some((pid) => residentBytes(pid) > 0)) await Bun.sleep(10);
  expect(await readdir(own)).toEqual([]);
}, 60_000);
