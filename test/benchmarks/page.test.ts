import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stalePages, writePages } from "../../benchmarks/harness/documents";
import { type SuiteResult, writeResults } from "../../benchmarks/harness/results";
import { suiteTable } from "../../benchmarks/harness/tables";
import type { Target } from "../../benchmarks/harness/target";
import { render } from "../../benchmarks/pages/page";
import { publishedPage, publishedTargets } from "../../benchmarks/pages/published";
import { floorsPage, limitsPage, suitePage } from "../../benchmarks/pages/suite";
import { peerResult } from "./peers/sample";
import { result } from "./sample-result";

const ratio = { figure: "ratio", atMost: 1.5, aim: 1.25, reason: "an ask costs a promise" };
const targets: readonly Target[] = [
  { suite: "routing", row: "ref.ask", ...ratio },
  { suite: "routing", row: "timer", figure: "ticks", atLeast: 38, aim: 40, reason: "" },
];

/** A result whose first row has another name, or another floor. */
function withRow(of: SuiteResult, { row = "ref.ask", rounds = [97, 98, 99] }): SuiteResult {
  const [ask, ...others] = of.rows;
  if (ask?.kind !== "timed" || "none" in ask.floor) throw new Error("it has a floor");
  return { ...of, rows: [{ ...ask, row, floor: { ...ask.floor, rounds } }, ...others] };
}

describe("BENCHMARKS.md", () => {
  const page = render({ results: [result({})], targets });

  test("begins with what was kept and missed, what is far from its floor, and where it was measured", () => {
    expect(page).toContain(
      "**What was kept?** 2 of 2 limits; 0 missed, 0 unjudged. Aims say what would be good, and hold nothing: 0 of 2 are met ([those missed](benchmarks/results/limits.md#missed-aims)).\n",
    );
    expect(page).toContain(
      "\n- routing: A Processor, 2 cores, Linux 6 x64; Bun 1.4.5; commit abc1234; 2026-02-03; 9 rounds.\n",
    );
    expect(page.indexOf("## Summary")).toBeLessThan(page.indexOf("## How to read it"));
    const missed = render({ results: [result({ ratio: 1.9 })], targets });
    expect(missed).toContain(
      "1 of 2 limits; 1 missed, 0 unjudged. Aims say what would be good, and hold nothing: 0 of 2 are met",
    );
    expect(missed).toContain(
      "| routing: ref.ask | 128 ns | raw ask: 98 ns | 1.9 (1.2–1.5) | ≤ 1.5 (missed) | 1.25 (missed) |",
    );
    expect(missed).toContain("1 of 2 limits kept, 1 missed. [All 3 rows](benchmarks/results/routing.md).");
  });

  test("names what cannot be judged, says how noisy the machine was, and how many limits have no figure", () => {
    const noisy = {
      ...withRow(result({}), { rounds: [50, 98, 200] }),
      noise: { spread: 0.12, floors: 4, isNoisy: true },
    };
    const text = render({ results: [noisy], targets: [...targets, { suite: "routing", row: "new", ...ratio }] });
    expect(text).toContain("1 of 2 limits; 0 missed, 1 unjudged. Newer rows have 1 more, without a figure");
    expect(text).toContain("floors lie too far apart: *routing: ref.ask*.");
    expect(text).toContain("1 of 2 limits kept, 1 unjudged. [All 3 rows]");
    expect(text).toContain(
      "**Noisy in routing.** In each suite, the floor in the middle of all rows varied by at most 12 %;",
    );
  });

  test("shows of a suite the figures that are nearest to their limits, below its chart and its question", () => {
    const shown = { name: "routing", alt: 'all rows, "asks" too', question: "" };
    const text = render({ results: [result({})], targets, pictures: new Map([["routing", [shown]]]) });
    const part = text.slice(text.indexOf("## routing"));
    expect(part).toContain(
      'srcset="benchmarks/results/charts/routing.dark.svg"><img alt="all rows, &quot;asks&quot; too"',
    );
    expect(part).toMatch(/\n\| timer: ticks \| .*\n\| ref\.ask \| .*\n\| concurrent: 10 asks \|/); // 38/39 is more than 1.31/1.5.
  });

  test("tells where envoi loses to another library, and which one does less", () => {
    const told = (of: Record<string, number>, less = {}) =>
      render({ results: [], targets, peers: [peerResult(of, less)] });
    const text = told({ envoi: 90, rival: 300, promise: 30 }, { promise: "less" });
    expect(text).toContain("Beside rival, promise, envoi is the best or as good in 0 of 1 rows.");
    expect(text).toContain("It loses *actors: tell* to promise, which does less (30 ns, here 90 ns).");
    expect(text).toContain("| actors: tell | 90 ns | rival: 300 ns, 3.3 times | promise: 30 ns, 0.33 times |");
    expect(told({ envoi: 90, rival: 60 })).toContain("| actors: tell | 90 ns | **rival: 60 ns, 0.67 times** | – |");
    expect(told({ envoi: 90, rival: 60, other: 70, near: 89 })).toContain("(60 ns, here 90 ns; better, too: other)");
    expect(told({ envoi: 90, rival: 89 })).toContain("in 1 of 1 rows.\n");
  });
});

test("the table of a suite has a line for each figure: what it is, p99 of enough samples, floor, ratio and limit", () => {
  const slope = { figure: "slope", unit: "ms", median: 2, min: 2, max: 2, floor: null, ratio: null } as const;
  const probe = { kind: "probe", row: "asks", floor: { none: "" }, figures: [slope], seconds: 1 } as const;
  const limit: Target = { suite: "routing", row: "asks", ...ratio, figure: "slope", atMost: 0.5 };
  const { rows } = result({});
  expect(
    suiteTable({ ...result({}), rows: [...rows, probe] }, [...targets, limit])
      .split("\n")
      .slice(2),
  ).toEqual([
    "| ref.ask | 128 ns | 1 µs | raw ask: 98 ns | 1.31 (1.2–1.5) | ≤ 1.5 |",
    "| concurrent: 10 asks | 1.53 µs for 10 | – | – | – | – |",
    "| timer: ticks | 39 (38 to 40) | – | raw: 2 | – | ≥ 38 |",
    "| asks: slope | 2 ms | – | – | – | ≤ 500 µs (missed) |",
  ]);
});

describe("the pages beside it", () => {
  test("tell each floor and why a row has none, and each limit with its aim and reason", () => {
    const floors = floorsPage([result({}), result({})]);
    expect(floors.split("- *raw ask*: asks.\n")).toHaveLength(2);
    expect(floors).toContain("- Because it has no like: *routing: concurrent: 10 asks*");
    expect(limitsPage([result({})], targets)).toContain(
      "| ref.ask | 128 ns | 1.31 (1.2–1.5) | ≤ 1.5 | 1.25 (missed) | an ask costs a promise |",
    );
    expect(limitsPage([result({})], targets)).toContain(
      "## Missed aims\n\n- routing: ref.ask, 1.31 (1.2–1.5), aim 1.25\n- routing: timer: ticks, 39 (38 to 40), aim 40\n",
    );
  });

  test("have all rows of a suite, by part, what was left out and why, and which version it was", () => {
    const { commit: _, ...machine } = result({}).machine;
    const leftOut = [{ row: "a", why: "there is no tmpfs" }];
    const code = { ...result({ suite: "code" }), machine: { ...machine, version: "0.1.0" }, leftOut };
    const text = suitePage(code, [], []);
    expect(text).toContain("; Bun 1.4.5; version 0.1.0; 2026-02-03; 9 rounds.\n");
    expect(text).toContain("- *a*: left out, because there is no tmpfs.\n");
    expect(text).toMatch(/## trusted\n\n\| row .*\n.*\n\| ref\.ask /);
  });

  test("have what was published of each row, as of another machine, and whether its targets are met", () => {
    const page = publishedPage([result({})]);
    expect(page).toContain("**another machine** (Apple M4 Max, Bun 1.2.20");
    expect(page).toContain("| routing: concurrent: 10 asks | 1.53 µs for 10 | 14.4 µs / 14.4 µs / 15 µs |  |");
    const share = (times: number) =>
      publishedPage([withRow(result({ suite: "code", ratio: times }), { row: "simple arithmetic, sandbox" })]);
    expect(share(1.1)).toContain("| 128 ns | 9.09 % (16.7–33.3) | ≤ 1.11 | the actors' share");
    expect(share(1.25)).toContain("| 128 ns | 20 % (16.7–33.3) | ≤ 1.11 (missed) |");
    const met = ({ row, figure }: Target) =>
      publishedTargets.find((each) => each.row === row && each.figure === figure);
    expect(met({ suite: "latency", ...ratio, row: "read of 100 B", figure: "p95" })).toMatchObject({ atMost: 1_000 }); // In µs.
  });
});

describe("the documents that results give", () => {
  const project = join(import.meta.dir, "../..");
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  /** A project with results and a README, whose documents are not written yet. */
  async function unwritten(): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), "envoi-documents-"));
    folders.push(root);
    await writeResults(join(root, "benchmarks/results"), [result({})]);
    const places = ["figures", "peers"].map((what) => `<!-- ${what}:begin -->\n<!-- ${what}:end -->\n`);
    await Bun.write(join(root, "README.md"), places.join(""));
    return root;
  }
  const textOf = (root: string, path: string): Promise<string> => Bun.file(join(root, path)).text();

  test("are stale until they are written, when a figure is another, and when somebody typed in them", async () => {
    const root = await unwritten();
    expect(await stalePages(root)).toEqual(expect.arrayContaining(["BENCHMARKS.md", "README.md"]));
    await writePages(root);
    expect(await stalePages(root)).toEqual([]);
    expect(await textOf(root, "benchmarks/results/method.md")).toContain("`bun run bench --compare REV`");
    const page = await textOf(root, "benchmarks/results/routing.md");
    await Bun.write(join(root, "benchmarks/results/routing.md"), page.replace("128 ns", "12 ns"));
    expect(await stalePages(root)).toEqual(["benchmarks/results/routing.md"]);
    await writeResults(join(root, "benchmarks/results"), [result({ ratio: 1.49 })]);
    expect(await stalePages(root)).toContain("BENCHMARKS.md");
    const chart = "benchmarks/results/charts/gone.light.svg";
    await Bun.write(join(root, chart), "<svg/>");
    await writePages(root);
    expect(await Bun.file(join(root, chart)).exists()).toBe(false);
    await Bun.write(join(root, "README.md"), (await textOf(root, "README.md")).replace("figures:end", "figures"));
    await expect(stalePages(root)).rejects.toThrow("README.md lacks <!-- figures:begin --> or <!-- figures:end -->");
  });

  test("are those of the repository; `bun run bench --page` writes them", async () => {
    expect(await stalePages(project)).toEqual([]);
  });
});
