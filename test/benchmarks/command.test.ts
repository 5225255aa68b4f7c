import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../benchmarks/harness/cli";
import type { Suite } from "../../benchmarks/harness/suite";
import type { Target } from "../../benchmarks/harness/target";
import { counting, probe, row } from "./rows";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const suites: readonly Suite[] = [
  { name: "routing", about: "Routing.", rows: [row({ name: "ref.ask" }), row({ name: "ref.tell" })] },
  { name: "memory", about: "Memory.", rows: [probe({ name: "idle actor" })] },
];
const bytes: Target = { suite: "memory", row: "idle actor", figure: "bytes", atMost: 250, aim: 210, reason: "small" };

async function run(argv: string[], { all = suites, targets = [bytes] as readonly Target[] } = {}) {
  const root = await mkdtemp(join(tmpdir(), "envoi-bench-"));
  folders.push(root);
  const said = { out: "", err: "" };
  const status = await main(argv, {
    suites: async () => all,
    targets,
    root,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    progress: () => {},
  });
  return { status, ...said, root };
}

const exists = (...path: string[]) => Bun.file(join(...path)).exists();

describe("a wrong command line ends with status 2 and says what there is:", () => {
  const cases: [string[], string][] = [
    [
      ["--quik"],
      "There is no option --quik; there are --quick, --check, --smoke, --json, --write, --help, --filter TEXT.",
    ],
    [["-q"], "There is no option -q;"],
    [["routes"], 'There is no suite "routes"; there are routing, memory.'],
    [["--filter"], "--filter needs a text"],
    [["--filter", "nothing"], 'No row of routing, memory contains "nothing".'],
    [["memory", "--filter=ask"], 'No row of memory contains "ask".'],
    [["--smoke", "--check"], "--smoke times nothing"],
    [["--write", "--filter", "ask"], "--write goes with no --filter"],
  ];
  for (const [argv, sentence] of cases) {
    test(argv.join(" "), async () => {
      const { status, out, err } = await run(argv);
      expect({ status, out }).toEqual({ status: 2, out: "" });
      expect(err).toStartWith(sentence);
    });
  }
});

test("--help tells every option and runs nothing", async () => {
  const { status, out } = await run(["--help"], { all: [] });
  expect(status).toBe(0);
  for (const option of ["--quick", "--check", "--smoke", "--filter TEXT", "--write", "--json"])
    expect(out).toContain(option);
});

describe("--smoke", () => {
  test("runs each row, times nothing and writes nothing", async () => {
    const { status, out, err, root } = await run(["--smoke"]);
    expect({ status, out, err }).toEqual({ status: 0, out: "3 rows ran and did their work\n", err: "" });
    expect(await readdir(root)).toEqual([]);
  });

  test("ends with status 1 and names the row that does not do its work", async () => {
    const all = [{ name: "routing", about: "", rows: [row({ name: "idle", setup: () => counting(10, 0) })] }];
    const { status, err } = await run(["--smoke"], { all, targets: [] });
    expect(status).toBe(1);
    expect(err).toBe('Row "idle" is refused: it did nothing: no operation was completed.\n');
  });
});

describe("--check", () => {
  const memory = ["memory", "--quick", "--check"];

  test("ends with status 1 and names row, figure and target when one is missed", async () => {
    const { status, err } = await run(memory);
    expect(status).toBe(1);
    expect(err).toBe(
      'missed: memory: "idle actor" has bytes 300; its target is ≤ 250\n0 of 1 targets kept (1 in all)\n',
    );
  });

  test("ends with status 0 when all are kept", async () => {
    const { status, err } = await run(memory, { targets: [{ ...bytes, atMost: 300 }] });
    expect({ status, err }).toEqual({ status: 0, err: "1 of 1 targets kept (1 in all)\n" });
  });

  test("a target of a row that does not exist is an error, whatever is run", async () => {
    await expect(run(["routing", "--smoke"], { targets: [{ ...bytes, row: "busy actor" }] })).rejects.toThrow(
      'of row "busy actor" in suite "memory" names no row',
    );
  });
});

describe("what is written:", () => {
  test("rows that the machine could not run, where there are any", async () => {
    const leftOut = [{ row: "ref.ask, tmpfs", why: "there is no tmpfs" }];
    const all = suites.map((suite) => (suite.name === "memory" ? { ...suite, leftOut } : suite));
    const { root } = await run(["--quick", "--write"], { all });
    const written = (suite: string) => Bun.file(join(root, `benchmarks/results/${suite}.json`)).json();
    expect(await written("memory")).toMatchObject({ leftOut });
    expect(await written("routing")).not.toHaveProperty("leftOut");
  });

  test("nothing by a quick run or a filtered one", async () => {
    for (const argv of [
      ["memory", "--quick"],
      ["memory", "--filter", "idle"],
    ]) {
      const { status, root } = await run(argv);
      expect(status).toBe(0);
      expect(await readdir(root)).toEqual([]);
    }
  });

  test("results and page by a full run, and by a quick one with --write", async () => {
    for (const argv of [["memory"], ["memory", "--quick", "--write"]]) {
      const { root } = await run(argv);
      expect(await exists(root, "benchmarks/results/memory.json")).toBe(true);
      expect(await Bun.file(join(root, "BENCHMARKS.md")).text()).toContain("| idle actor: bytes | 300 (300–300) B |");
      expect(await exists(root, "README.md")).toBe(false);
    }
  });
});

test("--json prints the results and what was missed, and nothing else", async () => {
  const { out } = await run(["memory", "--quick", "--json"]);
  const { results, missed } = JSON.parse(out);
  expect(results[0].rows[0].figures[0].median).toBe(300);
  expect(missed).toEqual(['memory: "idle actor" has bytes 300; its target is ≤ 250']);
});
