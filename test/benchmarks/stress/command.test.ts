import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../../../benchmarks/harness/target";
import { main } from "../../../benchmarks/stress/command";
import { NotRecovered } from "../../../benchmarks/stress/overload";
import { parseStress, type StressResults } from "../../../benchmarks/stress/results";
import { NotFound } from "../../../benchmarks/stress/steps";
import { FULL, QUICK, type StressOptions } from "../../../benchmarks/stress/stress";
import { overload, results } from "./sample";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const held = { suite: "stress", row: "messaging only", figure: "load that held", aim: 0, reason: "so" };
const kept: Target = { ...held, atLeast: 100_000 };
const missed: Target = { ...held, atLeast: 100_001 };

interface Given {
  readonly targets?: readonly Target[];
  readonly measured?: StressResults | Error;
  readonly signal?: AbortSignal;
  readonly isInstalled?: boolean;
}

async function run(argv: string[], { targets = [kept], measured = results, signal, isInstalled = false }: Given = {}) {
  const root = await mkdtemp(join(tmpdir(), "envoi-stress-command-"));
  folders.push(root);
  const said = { out: "", err: "" };
  const pages: string[] = [];
  let asked: StressOptions | undefined;
  const status = await main(argv, {
    async measure(options) {
      asked = options;
      if (measured instanceof Error) throw measured;
      return measured;
    },
    targets,
    isInstalled,
    writePages: async (of) => void pages.push(of),
    root,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    progress() {},
    signal: signal ?? new AbortController().signal,
  });
  const file = Bun.file(join(root, "benchmarks/results/stress.json"));
  const written = (await file.exists()) ? await file.text() : undefined;
  expect(pages).toEqual(written === undefined ? [] : [root]);
  return { status, ...said, effort: asked?.effort, written };
}

describe("a wrong command line ends with status 2, says what there is and measures nothing:", () => {
  const cases: [string[], string][] = [
    [["--quik"], "Unknown option '--quik'. There are --quick, --check, --seconds N, --json, --help."],
    [["-q"], "Unknown option '-q'. There are"],
    [["messaging"], "Unexpected argument 'messaging'"],
    [["--seconds", "soon"], "--seconds takes a number above 0, at most 3600, such as --seconds 3; got soon."],
    [["--seconds=0"], "--seconds takes a number above 0"],
    [["--seconds", "Infinity"], "--seconds takes a number above 0"],
  ];
  for (const [argv, sentence] of cases) {
    test(argv.join(" "), async () => {
      const { status, out, err, effort } = await run(argv);
      expect({ status, out, effort }).toEqual({ status: 2, out: "", effort: undefined });
      expect(err).toStartWith(sentence);
    });
  }
});

test("a full run writes what it measured, and prints it", async () => {
  const { status, out, effort, written } = await run([]);
  expect({ status, effort }).toEqual({ status: 0, effort: FULL });
  expect(out).toContain("**It bore 100,000/s, and broke at 110,000/s**");
  expect(parseStress(written ?? "")).toEqual(results);
});

test("a run of an installed package writes nothing", async () => {
  expect(await run([], { isInstalled: true })).toMatchObject({ status: 0, written: undefined });
});

test("--help tells every option, of what was typed", async () => {
  const { status, out } = await run(["--help"], { isInstalled: true });
  expect({ status, first: out.split("\n")[0] }).toEqual({ status: 0, first: "envoi stress [options]" });
  for (const option of ["--quick", "--check", "--seconds N", "--json"]) expect(out).toContain(option);
  expect((await run(["--help"])).out).toStartWith("bun run stress [options]\n");
});

test("a run that is quick, or of windows of another length, writes nothing", async () => {
  expect(await run(["--quick"])).toMatchObject({ status: 0, effort: QUICK, written: undefined });
  expect(await run(["--seconds", "2.5"])).toMatchObject({ effort: { ...FULL, window: 2_500 }, written: undefined });
});

test("--json prints the results and nothing else", async () => {
  expect(parseStress((await run(["--json"])).out)).toEqual(results);
});

test("--check ends with status 1 when a target is missed, and names it; without it, the status is 0", async () => {
  expect(await run(["--check"])).toMatchObject({ status: 0 });
  const { status, err } = await run(["--check"], { targets: [kept, missed] });
  expect(status).toBe(1);
  expect(err).toContain('missed: "messaging only" has load that held 100000; its target is ≥ 100,001');
  expect(await run([], { targets: [missed] })).toMatchObject({ status: 0 });
  const elsewhere = { ...missed, row: "a row of full runs" };
  expect(await run(["--check", "--quick"], { targets: [elsewhere] })).toMatchObject({ status: 0 });
  const gone = await run(["--check"], { targets: [elsewhere] });
  expect(gone.status).toBe(1);
  expect(gone.err).toContain('missed: "a row of full runs" has no load that held, which has a target\n');
});

test("what does not hold past the break ends every run with status 1", async () => {
  const ladders = results.ladders.map((ladder) => ({ ...ladder, overload: { ...overload, failed: ["It leaks."] } }));
  const { status, err } = await run([], { measured: { ...results, ladders } });
  expect(status).toBe(1);
  expect(err).toContain("messaging only: It leaks.\nall together: It leaks.\n");
});

test("a run that finds no breaking point fails, says why and writes nothing", async () => {
  const { status, err, written } = await run([], {
    measured: new NotFound("At 5 a second, the generator was late."),
  });
  expect({ status, written }).toEqual({ status: 1, written: undefined });
  expect(err).toContain("The breaking point was not found: At 5 a second, the generator was late.\n");
});

test("a run after whose overload nothing comes back fails, and says so", async () => {
  const { status, err, written } = await run([], { measured: new NotRecovered("Not within 10 s.") });
  expect({ status, written }).toEqual({ status: 1, written: undefined });
  expect(err).toContain("After more than it bears: Not within 10 s.\n");
});

test("a run that is ended writes nothing and ends with status 130", async () => {
  const measured = new Error("generator.ts ended");
  expect(await run([], { measured, signal: AbortSignal.abort() })).toMatchObject({ status: 130, written: undefined });
  await expect(run([], { measured })).rejects.toThrow("generator.ts ended");
});
