import { describe, expect, test } from "bun:test";
import { parseResults, type SuiteResult, serialise } from "../../benchmarks/harness/results";
import { suiteTable } from "../../benchmarks/harness/tables";
import type { Target } from "../../benchmarks/harness/target";
import { codePage, floorsPage, limitsPage, publishedPage, tierOf } from "../../benchmarks/pages/more";
import { fillFigures, fillPeers, render, targetTable } from "../../benchmarks/pages/page";
import { ONE_AT_A_TIME } from "../../benchmarks/peers/standing";
import { peerResult } from "./peers/sample";
import { result } from "./sample-result";

const limits: readonly Target[] = [
  { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 1.5, aim: 1.25, reason: "an ask costs a promise" },
  { suite: "routing", row: "timer", figure: "ticks", atLeast: 38, aim: 40, reason: "" },
];
const targets = limits;

describe("the page", () => {
  const page = render({ results: [result({}), result({ suite: "message-creation" })], targets });

  test("is the same for the same results, in whatever order they come, also through their JSON", () => {
    const read = [result({ suite: "message-creation" }), result({})].map((each) => parseResults(serialise(each)));
    expect(render({ results: read, targets })).toBe(page);
    expect(page.indexOf("## message-creation")).toBeLessThan(page.indexOf("## routing"));
  });

  test("begins with a summary: what was kept and missed, what is far from its floor, and where it was measured", () => {
    const missed = render({ results: [result({ ratio: 1.9 })], targets });
    expect(page).toContain("**What was kept?** 2 of 2 limits.\n");
    expect(missed).toContain("**What was kept?** 1 of 2 limits. Not kept, or unjudged:");
    expect(missed).toContain("| routing: ref.ask, times the floor | 1.9 | ≤ 1.5 | 1.25 | missed |");
    expect(missed).toContain("| routing: ref.ask | 1.9 | 128 ns | raw ask: 98 ns | ≤ 1.5 (missed) |");
    expect(page).toContain(
      "- message-creation, routing: A Processor, 2 cores, Linux 6 x64; Bun 1.4.5; commit abc1234;",
    );
    expect(page.indexOf("## Summary")).toBeLessThan(page.indexOf("## How to read it"));
  });

  test("names what cannot be judged, says how noisy the machine was, and how many limits have no figure", () => {
    const [ask, ...others] = result({}).rows;
    if (ask?.kind !== "timed" || "none" in ask.floor) throw new Error("it has a floor");
    const apart = { ...ask, floor: { ...ask.floor, rounds: [50, 98, 200] } };
    const noisy = { ...result({}), rows: [apart, ...others], noise: { spread: 0.12, floors: 4, isNoisy: true } };
    const more: Target = { suite: "routing", row: "new", figure: "ratio", atMost: 1, aim: 1, reason: "" };
    const text = render({ results: [noisy], targets: [...targets, more] });
    expect(text).toContain("1 of 2 limits. 1 are *unjudged*");
    expect(text).toContain("| routing: ref.ask, times the floor | 1.31 | ≤ 1.5 | 1.25 | unjudged |");
    expect(text).toContain("**Noisy in routing.** Its floors varied by at most 12 %.");
    expect(text).toContain("Newer rows have 1 more, without a figure in these results.");
  });

  test("says which rows the machine could not run, and why", () => {
    const lacking = { ...result({}), leftOut: [{ row: "ref.ask, tmpfs", why: "there is no tmpfs" }] };
    expect(render({ results: [lacking], targets })).toContain(
      "- *ref.ask, tmpfs*: left out, because there is no tmpfs.",
    );
  });

  test("tells where envoi loses to another library, and which one does less", () => {
    const peers = [peerResult({ envoi: 90, rival: 300, promise: 30 }, { promise: "less" })];
    const text = render({ results: [result({})], targets, peers });
    expect(text).toContain("Beside rival, promise, envoi is the best or as good in 0 of 1 rows.");
    expect(text).toContain("It loses *actors: tell* to promise, which does less (30 ns, here 90 ns).");
    expect(text).toContain("| actors: tell | 90 ns | rival: 300 ns, 3.33 times | promise: 30 ns, 0.333 times |");
    const ahead = render({ results: [], targets, peers: [peerResult({ envoi: 90, rival: 60 })] });
    expect(ahead).toContain("| actors: tell | 90 ns | **rival: 60 ns, 0.667 times** | – |");
    const equal = render({ results: [], targets, peers: [peerResult({ envoi: 90, rival: 89 })] });
    expect(equal).toContain("in 1 of 1 rows.\n");
  });

  test("shows a picture in the file that suits the page, below its question, and says what is on it", () => {
    const shown = { name: "routing", alt: 'all rows, "asks" too', question: "How slow?" };
    const text = render({ results: [result({})], targets, pictures: new Map([["routing", [shown]]]) });
    expect(text).toContain(
      [
        "**How slow?**\n",
        "<picture>",
        '  <source media="(prefers-color-scheme: dark)" srcset="benchmarks/results/charts/routing.dark.svg">',
        '  <img alt="all rows, &quot;asks&quot; too" src="benchmarks/results/charts/routing.light.svg">',
        "</picture>\n\n| row |",
      ].join("\n"),
    );
  });

  test("names the version of a package where there is no commit", () => {
    const { commit: _, ...machine } = result({}).machine;
    const text = render({ results: [{ ...result({}), machine: { ...machine, version: "0.1.0" } }], targets });
    expect(text).toContain("Bun 1.4.5; version 0.1.0; 2026-02-03; 9 rounds");
  });
});

describe("the table of a suite", () => {
  const table = suiteTable(result({}), limits);

  test("shows figure, floor, ratio and limit of a row; no p99 of few samples", () => {
    expect(table).toContain("| ref.ask | 128 ns | 1 µs | raw ask: 98 ns | 1.31 (1.2–1.5) | ≤ 1.5 |");
    expect(table).toContain("| concurrent: 10 asks | 1.53 µs for 10 | – | – | – | – |");
  });

  test("shows a probe in a line, with its floor and its rounds", () => {
    expect(table).toContain("| timer | ticks 39 (38 to 40) | – | raw: 2 | – | ≥ 38 |");
  });

  test("shows a slope with the ends of its interval, and limits in the unit of their figures", () => {
    const reading = (figure: string, median: number) =>
      ({ figure, unit: "ms", median, min: median, max: median, floor: null, ratio: null }) as const;
    const figures = [reading("slope", 2), reading("slope, least", 1), reading("slope, most", 3)];
    const probe = { kind: "probe", row: "asks", floor: { none: "" }, figures, seconds: 1 } as const;
    const target: Target = { suite: "routing", row: "asks", figure: "slope, least", atMost: 0.5, aim: 0, reason: "" };
    expect(suiteTable({ ...result({}), rows: [probe] }, [target])).toContain(
      "| asks | slope 2 ms (1 ms to 3 ms) | – | – | – | slope, least ≤ 500 µs (missed) |",
    );
  });
});

describe("the pages beside it", () => {
  test("tell each floor and why a row has none, and each limit with its aim and reason", () => {
    const floors = floorsPage([result({})]);
    expect(floors).toContain("- *raw ask*: asks.");
    expect(floors).toContain("- Because it has no like: *routing: concurrent: 10 asks*.");
    expect(limitsPage([result({})], limits)).toContain(
      "| ref.ask, times the floor | 1.31 | ≤ 1.5 | 1.25 | an ask costs a promise |",
    );
  });

  test("have the published figures of each row of its own suite, and say that it is another machine", () => {
    const page = publishedPage([result({})]);
    expect(page).toContain("**another machine** (Apple M4 Max, Bun 1.2.20");
    expect(page).toContain("| routing: concurrent: 10 asks | 1.53 µs for 10 | 14.4 µs / 14.4 µs / 15 µs |  |");
  });

  test("have the rows of code by tier, the default one first", () => {
    const [first] = result({}).rows;
    if (first === undefined) throw new Error("there is a row");
    const names = ["addition", "addition, sandbox", "addition, process", "runs in the default tier"];
    expect(names.map((row) => tierOf({ row }))).toEqual(["trusted", "sandbox", "process", "sandbox"]);
    const code: SuiteResult = { ...result({ suite: "code" }), rows: names.map((row) => ({ ...first, row })) };
    const page = codePage(code, [], []);
    const places = ["## `sandbox`", "| addition, sandbox |", "## `trusted`", "| addition |", "## `process`"];
    const found = places.map((place) => page.indexOf(place));
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found[0]).toBeGreaterThan(0);
    const front = render({ results: [code], targets: [{ ...limits[0], suite: "code", row: "addition" } as Target] });
    expect(front).toContain("All 4 rows, by tier, are on [a page of their own](benchmarks/results/code.md).");
    expect(front).not.toContain("| addition, sandbox |");
  });
});

describe("the README", () => {
  const table = targetTable([result({})], limits);

  test("gets the table of targets between its markers, and nothing else changes", () => {
    const before = "# envoi\n<!-- figures:begin -->\nold\n<!-- figures:end -->\nmore\n";
    const after = `# envoi\n<!-- figures:begin -->\n${table}\n<!-- figures:end -->\nmore\n`;
    expect(fillFigures(before, [result({})], limits)).toBe(after);
    expect(fillFigures(after, [result({})], limits)).toBe(after);
    expect(table).toContain("| ref.ask | 128 ns | raw ask: 98 ns | 1.31 (1.2–1.5) | ≤ 1.5 |");
    expect(table).toContain("| timer: ticks | 39 | raw: 2 | – | ≥ 38 |");
  });

  test("shows the figures that it is told to, in that order, also those without a limit", () => {
    const shown = [
      { suite: "routing", row: "timer", figure: "ticks" },
      { suite: "routing", row: "ref.ask", figure: "ratio" },
      { suite: "routing", row: "not measured", figure: "ratio" },
    ];
    const [, , first, second, ...more] = targetTable([result({})], limits.slice(0, 1), shown).split("\n");
    expect(first).toBe("| timer: ticks | 39 | raw: 2 | – | – |");
    expect(second).toStartWith("| ref.ask | 128 ns |");
    expect(more).toEqual([]);
  });

  test("gets the table of other libraries of actors between its markers: times, and what each does", () => {
    const before = "# envoi\n<!-- peers:begin -->\nold\n<!-- peers:end -->\nmore\n";
    const peers = [peerResult({ envoi: 12, rival: 300 }, { rival: "less" })];
    const filled = fillPeers(before, peers, ["envoi", "rival", "unknown"], ["tell", ONE_AT_A_TIME, "not measured"]);
    expect(filled.split("\n").slice(1, -2)).toEqual([
      "<!-- peers:begin -->",
      "|  | envoi | rival | unknown |",
      "| --- | ---: | ---: | ---: |",
      "| tell | 12 ns | 300 ns | – |",
      `| ${ONE_AT_A_TIME} | yes | **no** | – |`,
      "<!-- peers:end -->",
    ]);
    expect(filled).toEndWith("\nmore\n");
  });

  test("without markers stays as it is", () => {
    for (const text of ["# envoi\n", "<!-- figures:begin -->\n", "<!-- figures:end --><!-- figures:begin -->"]) {
      expect(fillFigures(text, [result({})], limits)).toBe(text);
    }
  });
});
