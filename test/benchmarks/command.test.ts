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
import { counting, probe, row, surroundings } from "./rows";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "envoi-bench-"));
  folders.push(path);
  return path;
}

const suiteOf = (name: string, ...rows: Suite["rows"]): Suite => ({ name, about: "What it is about.", rows });
const all = [
  suiteOf("routing", row({ name: "ref.ask" }), row({ name: "ref.tell" })),
  suiteOf("memory", probe({ name: "idle actor" })),
];
const bytes: Target = { suite: "memory", row: "idle actor", figure: "bytes", atMost: 250, aim: 210, reason: "small" };
const idle = row({ name: "idle", setup: () => counting(10, 0) });
const REFUSED = 'Row "idle" is refused: it did nothing: no operation was completed.';

async function run(argv: string[], suites: readonly Suite[] = all, changes: Partial<Surroundings> = {}) {
  const root = await folder();
  await Bun.write(join(root, "package.json"), '{ "version": "1.2.3" }');
  const { around, said } = surroundings(root, { suites: async () => suites, targets: [bytes], writePages, ...changes });
  const status = await main(argv, around);
  const err = said.err.replace(/^\d+ rows?.*: about .*\.\n/, "");
  const written = (await readdir(root)).filter((name) => name !== "package.json");
  return { status, out: said.out, err, root, written };
}

describe("a wrong command line ends with status 2 and says what there is:", () => {
  const isCheckout = false;
  const cases: [string[], string, Partial<Surroundings>?][] = [
    [
      ["--quik"],
      "Unknown option '--quik'. There are --quick, --check, --smoke, --json, --page, --help, --filter …, --out …,",
    ],
    [["--quick=yes"], "Option '--quick' does not take an argument. There are"],
    [["--filter"], "Option '--filter <value>' argument missing. There are"],
    [["rooting"], 'There is no suite "rooting". There are routing, memory.'],
    [["--filter", "nothing"], 'No row of routing, memory contains "nothing".'],
    [["routing", "--check"], "No row of routing has a limit."],
    [["--compare", "v0.1.0", "--check"], "--compare goes with no --check."],
    [["--compare=", "--json"], "--compare goes with no --json."],
    [["routing", "--soak", "1"], "--soak goes with no suite."],
    [["--out", "/dev/null/results", "memory"], "--out /dev/null/results: nothing can be written there"],
    [["--page"], "--page needs a checkout of envoi", { isCheckout }],
    [["--compare", "v0.1.0"], "--compare needs a checkout of envoi", { isCheckout }],
  ];
  for (const [argv, sentence, changes] of cases) {
    test(argv.join(" "), async () => {
      const { status, out, err } = await run(argv, all, changes);
      expect({ status, out }).toEqual({ status: 2, out: "" });
      expect(err).toStartWith(sentence);
    });
  }
});

test("what the system refuses, and a file that does not fit, are told in a sentence", async () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write 'x'"), { code: "ENOSPC" });
  const page = (writePages: Surroundings["writePages"]) => run(["--page"], all, { writePages });
  expect(await page(() => Promise.reject(full))).toMatchObject({ status: 1, err: `${full.message}\n` });
  const unfit = {
    status: 2,
    err: expect.stringMatching(/^old\.json does not fit: .* again, which writes them anew\.\n$/),
  };
  expect(await page(async () => void parseResults("[]", "old.json"))).toMatchObject(unfit);
});

test("--help tells the options and runs nothing; what other parts do is handed to them", async () => {
  const help = await run(["--help"], [], { command: "envoi bench" });
  expect({ status: help.status, out: help.out }).toEqual({
    status: 0,
    out: expect.stringMatching(/^envoi bench \[suite…\]/),
  });
  const given: unknown[] = [];
  const soak: Surroundings["soak"] = async (minutes) => {
    given.push(minutes);
    return 3;
  };
  const compare: Surroundings["compare"] = async (revision, suites, quick) => {
    given.push([revision, suites.map(({ name }) => name), quick]);
    return 3;
  };
  expect((await run(["--soak=1.5"], all, { soak })).status).toBe(3);
  const argv = ["routing", "--compare", "v0.1.0", "--quick", "--filter", "ask"];
  expect((await run(argv, all, { compare })).status).toBe(3);
  expect(given).toEqual([1.5, ["v0.1.0", ["routing"], true]]);
});

test("--smoke runs each row, times and writes nothing; one that does not its work is named, and the others run all the same", async () => {
  const ran = await run(["--smoke"]);
  expect(ran).toMatchObject({ status: 0, out: "3 rows ran and did their work\n", err: "", written: [] });
  const failed = await run(["--smoke"], [suiteOf("routing", idle, row())], { targets: [] });
  expect(failed).toMatchObject({ status: 1, out: "1 row ran and did its work\n", err: `${REFUSED}\n` });
});

describe("--check", () => {
  test("measures the rows with targets alone, writes nothing, and ends with 0 when all are kept", async () => {
    const { status, out, err, written } = await run(["--check"], all, { targets: [{ ...bytes, atMost: 300 }] });
    expect({ status, err, written }).toEqual({ status: 0, err: "1 of 1 limits kept (1 in all)\n", written: [] });
    expect(out).not.toContain("ref.ask");
  });

  test("measures a row that misses twice more: missed each time, it ends with 1 and names row, figure and target", async () => {
    for (const [readings, status, attempts] of [
      [[300, 300, 200], 0, 3],
      [[300, 200, 300], 0, 2],
      [[300, 300, 300, 200], 1, 3],
      [[200, 300], 0, undefined],
    ] as const) {
      const left = [...readings];
      const measure = async () => ({ bytes: left.shift() ?? 0 });
      const ended = await run(
        ["--check", "--quick", "--json"],
        [suiteOf("memory", probe({ name: "idle actor", measure }))],
      );
      expect(ended.status).toBe(status);
      expect(parseRun(ended.out).results[0]?.rows[0]?.attempts).toBe(attempts);
      if (status === 0) continue;
      const missed = 'missed: memory: "idle actor" has bytes 300; its limit is ≤ 250';
      expect(ended.err).toBe(`${missed}\n0 of 1 limits kept (1 in all)\n`);
    }
  });

  test("ends with status 3, and names the rows, where floors lie so far apart that nobody can judge, kept or missed", async () => {
    /** A floor that takes the longer the longer it has run: each of its rounds differs, whatever came between them. */
    const setup: Floor["setup"] = () => {
      let [spent, completed] = [0, 0];
      const run = () => {
        const turn = 20_000 + spent / 100;
        for (const end = Bun.nanoseconds() + turn; Bun.nanoseconds() < end; );
        spent += turn;
        completed += 10;
      };
      return { run, completed: () => completed };
    };
    const noisy = suiteOf("routing", row({ name: "noisy", floor: { name: "slowing", about: "spins", setup } }));
    const target = { ...bytes, suite: "routing", row: "noisy", figure: "ratio" };
    const targets = [0, 1e9].map((atMost) => ({ ...target, atMost }));
    const { status, err } = await run(["--quick", "--check"], [noisy], { targets });
    expect(status).toBe(3);
    expect(err).toContain("The machine was too noisy to judge by: the floors of 1 row lie");
    expect(err).toContain('could not be judged: routing: "noisy" has ratio ');
    expect(err).toEndWith("0 of 2 limits kept, 2 could not be judged (2 in all)\n");
  });

  test("ends with status 3 when the row of a target was left out, and names it; not where that was not asked for", async () => {
    const leftOut = [{ row: "execute", why: "the sandbox is not installed" }];
    const suites = [...all, { ...suiteOf("code"), leftOut }];
    const targets = [
      { ...bytes, atMost: 300 },
      { ...bytes, suite: "code", row: "execute" },
    ];
    const { status, out, err } = await run(["memory", "code", "--check"], suites, { targets });
    expect({ status, err }).toEqual({
      status: 3,
      err: 'could not be judged: code: "execute" was left out, and with it its bytes\n1 of 2 limits kept, 1 could not be judged (2 in all)\n',
    });
    expect(out).toContain('"execute" is left out, because the sandbox is not installed.');
    expect((await run(["memory", "--check"], suites, { targets })).status).toBe(0);
  });

  test("ends with status 1 when a row failed", async () => {
    const target = { ...bytes, suite: "routing", row: "idle", figure: "ratio" };
    expect((await run(["--check"], [suiteOf("routing", idle)], { targets: [target] })).status).toBe(1);
  });
});

describe("what is written:", () => {
  test("nothing by a quick run, a filtered one, or one in an installed package, which says so", async () => {
    for (const option of ["--quick", "--filter=idle"])
      expect(await run(["memory", option])).toMatchObject({ status: 0, written: [] });
    const err = "The results were not written: --out FOLDER says where.\n";
    expect(await run(["memory"], all, { isCheckout: false })).toMatchObject({ status: 0, err, written: [] });
  });

  test("results and page by a full run, with the rows that the machine could not run", async () => {
    const leftOut = [{ row: "ref.ask, tmpfs", why: "there is no tmpfs" }];
    const { root } = await run(
      ["memory"],
      all.map((suite) => ({ ...suite, leftOut })),
    );
    expect(await Bun.file(join(root, "benchmarks/results/memory.json")).json()).toMatchObject({ leftOut });
    expect(await Bun.file(join(root, "BENCHMARKS.md")).text()).toContain("| idle actor: bytes | 300 B |");
    expect(await Bun.file(join(root, "README.md")).exists()).toBe(false);
  });

  test("the figures of all rows but those that failed, which are named; none where all did", async () => {
    const failing = [suiteOf("routing", idle, probe())];
    const { status, err, root } = await run(["routing"], failing, { targets: [] });
    const why = "1 row failed: the results have those that did not.";
    expect({ status, err }).toEqual({ status: 1, err: `${REFUSED}\n${why}\n` });
    const { rows, leftOut } = parseResults(await Bun.file(join(root, "benchmarks/results/routing.json")).text());
    expect(rows.map((each) => each.row)).toEqual(["a probe"]);
    expect(leftOut).toEqual([{ row: "idle", why: "it failed when the others were measured" }]);
    const none = await run(["routing"], [suiteOf("routing", idle)], { targets: [] });
    const nothing = `${REFUSED}\nNo row was measured: nothing was written.\n`;
    expect(none).toMatchObject({ status: 1, err: nothing, written: [] });
  });

  test("the results, where --out says, of a quick run as well: a package is named by its version", async () => {
    const out = join(await folder(), "results");
    expect(await run(["memory", "--quick", "--out", out], all, { isCheckout: false })).toMatchObject({
      status: 0,
      written: [],
    });
    const { machine } = parseResults(await Bun.file(join(out, "memory.json")).text());
    expect(machine).toMatchObject({ version: "1.2.3" });
    expect(machine).not.toHaveProperty("commit");
  });
});
