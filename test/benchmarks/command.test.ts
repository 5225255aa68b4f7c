import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../benchmarks/harness/cli";
import { writePages } from "../../benchmarks/harness/documents";
import { parseResults, parseRun } from "../../benchmarks/harness/results";
import type { Floor, Suite } from "../../benchmarks/harness/suite";
import type { Target } from "../../benchmarks/harness/target";
import type { Surroundings } from "../../benchmarks/harness/terminal";
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

/** A floor that takes the longer the longer it has run: each of its rounds differs, whatever came between them. */
const slowing: Floor = {
  name: "slowing",
  about: "spins",
  setup: () => {
    let spent = 0;
    let completed = 0;
    const run = () => {
      const turn = 20_000 + spent / 100;
      const until = Bun.nanoseconds() + turn;
      while (Bun.nanoseconds() < until);
      spent += turn;
      completed += 10;
    };
    return { run, completed: () => completed };
  },
};

interface Changes extends Partial<Omit<Surroundings, "suites">> {
  readonly all?: readonly Suite[];
}

async function run(argv: string[], { all = suites, ...changes }: Changes = {}) {
  const root = await mkdtemp(join(tmpdir(), "envoi-bench-"));
  folders.push(root);
  await Bun.write(join(root, "package.json"), '{ "version": "1.2.3" }');
  const said = { out: "", err: "" };
  const status = await main(argv, {
    suites: async () => all,
    command: "bun run bench",
    isCheckout: true,
    writePages,
    isTerminal: true,
    signal: new AbortController().signal,
    targets: [bytes],
    root,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    progress: () => {},
    ...changes,
  });
  const [, start = "", err = ""] = /^(\d+ rows?.*: about .*\.\n)?([\s\S]*)$/.exec(said.err) ?? [];
  return { status, out: said.out, start, err, root };
}

/** What a run left in its folder. */
const written = async (root: string) => (await readdir(root)).filter((name) => name !== "package.json");

const exists = (...path: string[]) => Bun.file(join(...path)).exists();

describe("a wrong command line ends with status 2 and says what there is:", () => {
  const cases: [string[], string][] = [
    [
      ["--quik"],
      "There is no option --quik. Did you mean --quick? There are --quick, --check, --smoke, --json, --write, --page, --help, " +
        "--filter TEXT, --out FOLDER, --compare REV, --soak MINUTES.\n",
    ],
    [["-q"], "There is no option -q. There are"],
    [["--quick=yes"], "There is no option --quick=yes. Did you mean --quick?"],
    [["rooting"], 'There is no suite "rooting". Did you mean routing? There are routing, memory.'],
    [["cpu"], 'There is no suite "cpu". There are routing, memory.'],
    [["--filter"], "--filter needs a text"],
    [["--filter", "--quick"], "--filter needs a text"],
    [["--filter", "nothing"], 'No row of routing, memory contains "nothing".'],
    [["memory", "--filter=ask"], 'No row of memory contains "ask".'],
    [["--smoke", "--check"], "--smoke goes with no --check."],
    [["--write", "--filter", "ask"], "--write goes with no --filter"],
    [["--write", "--out", "there"], "--write goes with no --out"],
    [["--compare"], "--compare needs a revision"],
    [["--compare", "v0.1.0", "--check"], "--compare goes with no --check."],
    [["--soak", "an hour"], "--soak needs a number of minutes above 0: --soak 60."],
    [["--soak=0"], "--soak needs a number of minutes above 0"],
    [["routing", "--soak", "1"], "--soak goes with no suite."],
    [["--page", "--quick"], "--page goes with no --quick."],
    [["--out", "/dev/null/results", "memory"], "--out /dev/null/results: nothing can be written there"],
    [["--out", "/proc", "memory"], "--out /proc: nothing can be written there"],
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
  const { status, out } = await run(["--help"], { all: [], command: "envoi bench" });
  expect(status).toBe(0);
  expect(out).toStartWith("envoi bench [suite…] [options]\n");
  for (const option of [
    "--quick",
    "--check",
    "--smoke",
    "--filter TEXT",
    "--write",
    "--json",
    "--page",
    "--out FOLDER",
    "--compare REV",
    "--soak MINUTES",
  ])
    expect(out).toContain(option);
});

describe("--smoke", () => {
  test("runs each row, times nothing and writes nothing", async () => {
    const { status, out, err, root } = await run(["--smoke"]);
    expect({ status, out, err }).toEqual({ status: 0, out: "3 rows ran and did their work\n", err: "" });
    expect(await written(root)).toEqual([]);
  });

  test("ends with status 1 and names the row that does not do its work; the others run all the same", async () => {
    const rows = [row({ name: "idle", setup: () => counting(10, 0) }), row({ name: "ref.ask" })];
    const { status, out, err } = await run(["--smoke"], { all: [{ name: "routing", about: "", rows }], targets: [] });
    expect({ status, out }).toEqual({ status: 1, out: "1 row ran and did its work\n" });
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

  test("ends with status 3, and names the rows, where floors lie so far apart that nobody can judge, kept or missed", async () => {
    const all = [{ name: "routing", about: "", rows: [row({ name: "noisy", floor: slowing })] }];
    for (const atMost of [0, 1e9]) {
      const targets = [{ ...bytes, suite: "routing", row: "noisy", figure: "ratio", atMost }];
      const { status, err } = await run(["--quick", "--check"], { all, targets });
      expect(status).toBe(3);
      expect(err).toContain("The machine was too noisy to judge by: the floors of 1 row lie");
      expect(err).toContain('could not be judged: routing: "noisy" has ratio ');
      expect(err).toEndWith("0 of 1 targets kept, 1 could not be judged (1 in all)\n");
    }
  });

  test("measures a row that misses twice more: it must miss each time, and what counts is in the results", async () => {
    for (const [readings, status, attempts] of [
      [[300, 300, 200], 0, 3],
      [[300, 200, 300], 0, 2],
      [[300, 300, 300, 200], 1, 3],
      [[200, 300], 0, undefined],
    ] as const) {
      const left = [...readings];
      const measure = async () => ({ bytes: left.shift() ?? 0 });
      const all = [{ name: "memory", about: "", rows: [probe({ name: "idle actor", measure })] }];
      const ended = await run(["--quick", "--check", "--json"], { all });
      expect(ended.status).toBe(status);
      expect(parseRun(ended.out).results[0]?.rows[0]?.attempts).toBe(attempts);
    }
  });

  test("ends with status 1 when a row failed, whose target nobody could look at", async () => {
    const all = [{ name: "routing", about: "", rows: [row({ name: "idle", setup: () => counting(10, 0) })] }];
    const { status } = await run(["--quick", "--check"], { all, targets: [] });
    expect(status).toBe(1);
  });

  test("ends with status 3 when the row of a target was left out, and names it; not where that was not asked for", async () => {
    const leftOut = [{ row: "execute", why: "the sandbox is not installed" }];
    const all = [...suites, { name: "code", about: "Code.", rows: [], leftOut }];
    const targets = [
      { ...bytes, atMost: 300 },
      { ...bytes, suite: "code", row: "execute" },
    ];
    const { status, err } = await run(["memory", "code", "--quick", "--check"], { all, targets });
    expect(status).toBe(3);
    expect(err).toEndWith(
      'could not be judged: code: "execute" was left out, and with it its bytes\n1 of 2 targets kept, 1 could not be judged (2 in all)\n',
    );
    expect((await run(memory, { all, targets })).status).toBe(0);
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
    const kept = (suite: string) => Bun.file(join(root, `benchmarks/results/${suite}.json`)).json();
    expect(await kept("memory")).toMatchObject({ leftOut });
    expect(await kept("routing")).not.toHaveProperty("leftOut");
  });

  test("nothing by a quick run or a filtered one", async () => {
    for (const argv of [
      ["memory", "--quick"],
      ["memory", "--filter", "idle"],
    ]) {
      const { status, root } = await run(argv);
      expect(status).toBe(0);
      expect(await written(root)).toEqual([]);
    }
  });

  test("results and page by a full run, and by a quick one with --write", async () => {
    for (const argv of [["memory"], ["memory", "--quick", "--write"]]) {
      const { root } = await run(argv);
      expect(await exists(root, "benchmarks/results/memory.json")).toBe(true);
      expect(await Bun.file(join(root, "BENCHMARKS.md")).text()).toContain("| idle actor | bytes 300 B |");
      expect(await exists(root, "README.md")).toBe(false);
    }
  });
});

test("--json prints the results and what was missed, and nothing else", async () => {
  const { out } = await run(["memory", "--quick", "--json"]);
  const { results, missed, interrupted } = parseRun(out);
  expect(results[0]?.rows[0]).toMatchObject({ figures: [{ median: 300 }] });
  expect(interrupted).toBe(false);
  expect(missed).toEqual(['memory: "idle actor" has bytes 300; its target is ≤ 250']);
});

describe("a row that fails", () => {
  const idle = row({ name: "idle", setup: () => counting(10, 0) });
  const wild = probe({
    name: "wild",
    measure: async () => {
      throw new Error("it bit");
    },
  });
  const all = [{ name: "routing", about: "", rows: [idle, wild, probe({ name: "tame" })] }];

  test("is told, and the others are measured all the same; nothing is written, and the status is 1", async () => {
    const { status, out, err, root } = await run(["routing"], { all, targets: [] });
    expect(status).toBe(1);
    expect(err).toStartWith('Row "idle" is refused: it did nothing: no operation was completed.\n');
    expect(err).toContain('Row "wild" failed: ');
    expect(err).toEndWith("2 rows failed: nothing was written.\n");
    expect(out).toContain("\ntame ");
    expect(await written(root)).toEqual([]);
  });

  test("is among the JSON", async () => {
    const { out } = await run(["--quick", "--json"], { all, targets: [] });
    expect(parseRun(out).failed).toEqual([
      { suite: "routing", row: "idle", why: 'Row "idle" is refused: it did nothing: no operation was completed.' },
      { suite: "routing", row: "wild", why: "it bit" },
    ]);
  });
});

describe("in an installed package", () => {
  const isCheckout = false;

  test("nothing is written, and --out says where to", async () => {
    const { status, err, root } = await run(["memory"], { isCheckout });
    expect({ status, err }).toEqual({ status: 0, err: "The results were not written: --out FOLDER says where.\n" });
    expect(await written(root)).toEqual([]);
  });

  test("--out writes the results there, of a quick run as well, and names the version in place of a commit", async () => {
    const folder = join(await mkdtemp(join(tmpdir(), "envoi-out-")), "results");
    folders.push(join(folder, ".."));
    const { status, root } = await run(["memory", "--quick", "--out", folder], { isCheckout });
    expect(status).toBe(0);
    expect(await written(root)).toEqual([]);
    const { machine } = parseResults(await Bun.file(join(folder, "memory.json")).text());
    expect(machine).toMatchObject({ version: "1.2.3" });
    expect(machine).not.toHaveProperty("commit");
  });

  for (const argv of [["--page"], ["--write", "--quick"], ["--compare", "v0.1.0"]]) {
    test(`${argv[0]} is refused, which needs a checkout`, async () => {
      const { status, err } = await run(argv, { isCheckout });
      expect(status).toBe(2);
      expect(err).toContain("checkout");
    });
  }
});

test("rows that were left out are told with their reason, also where all of a suite are", async () => {
  const why = "the sandbox is not installed";
  const leftOut = [
    { row: "execute", why },
    { row: "compile", why },
  ];
  const all = [...suites, { name: "code", about: "Code.", rows: [], leftOut }];
  const { status, out } = await run(["code", "--quick"], { all });
  expect(status).toBe(0);
  expect(out).toContain(`2 rows are left out, because ${why}.`);
});

describe("what other parts do is handed to them:", () => {
  /** A folder with a part that tells what it was given, and ends with a status of its own. */
  async function rootWith(path: string, name: string): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), "envoi-parts-"));
    folders.push(root);
    const telling = `(...given) => { const { out } = given.at(-1); out(JSON.stringify(given.slice(0, -1))); return 3; }`;
    await Bun.write(join(root, "benchmarks", path), `export const ${name} = ${telling};`);
    return root;
  }

  test("--compare, with the revision, suites and options", async () => {
    const root = await rootWith("compare/compare.ts", "compare");
    const { status, out } = await run(["routing", "--compare", "v0.1.0", "--quick", "--filter", "ask"], { root });
    expect(status).toBe(3);
    expect(JSON.parse(out)).toEqual(["v0.1.0", { suites: ["routing"], quick: true, json: false, filter: "ask" }]);
  });

  test("--soak, with the minutes", async () => {
    const { status, out } = await run(["--soak=1.5"], { root: await rootWith("soak/soak.ts", "soak") });
    expect({ status, out }).toEqual({ status: 3, out: "[1.5]" });
  });

  test("one that is not there is an error of the command line", async () => {
    const { status, err } = await run(["--soak", "1"]);
    expect(status).toBe(2);
    expect(err).toStartWith("benchmarks/soak/soak.ts is not part of this package");
  });
});
