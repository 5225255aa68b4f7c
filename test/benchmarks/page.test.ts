import { describe, expect, test } from "bun:test";
import { type Beside, fillFigures, render } from "../../benchmarks/harness/page";
import { type SuiteResult, serialise } from "../../benchmarks/harness/results";
import { targetTable } from "../../benchmarks/harness/tables";
import type { Target } from "../../benchmarks/harness/target";
import { result } from "./sample-result";

const limits: readonly Target[] = [
  { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 1.5, aim: 1.25, reason: "" },
  { suite: "routing", row: "timer", figure: "ticks", atLeast: 38, aim: 40, reason: "" },
];

const beside: Beside = { pictures: new Map(), published: [], sections: [] };

describe("the page", () => {
  const page = render([result({}), result({ suite: "message-creation" })], limits);

  test("is the same for the same results, in whatever order they come", () => {
    expect(render([result({ suite: "message-creation" }), result({})], limits)).toBe(page);
    expect(page.indexOf("## message-creation")).toBeLessThan(page.indexOf("## routing"));
  });

  test("is the same after the results went through their JSON, at five digits", () => {
    const read = [result({}), result({ suite: "message-creation" })].map((each) => JSON.parse(serialise(each)));
    expect(render(read, limits)).toBe(page);
  });

  test("shows figure, floor, ratio, limit and aim of a row", () => {
    const cells =
      "| 1 / 1,000 | 128 ns | 130 ns | 180 ns | 1 µs | 7.12 M/s | raw ask: 98 ns | 1.31 (1.2–1.5) | ≤ 1.5 | 1.25 | – |";
    expect(page).toContain(`| ref.ask ${cells}`);
    expect(page).toContain("- *raw ask*: asks.");
  });

  test("shows no p99 of few samples, why a row has no floor, and the published figures of its own suite", () => {
    expect(page).toContain(
      "| concurrent: 10 asks | 10 / 1,000 | 1.53 µs | 130 ns | 180 ns | – | 900 /s | – | – | – | – | 14.4 µs / 14.4 µs / 15 µs |",
    );
    expect(page).toContain("- *concurrent: 10 asks*: no floor, because it has no like.");
  });

  test("says which rows the machine could not run, and why", () => {
    const lacking = { ...result({}), leftOut: [{ row: "ref.ask, tmpfs", why: "there is no tmpfs" }] };
    expect(render([lacking], limits)).toContain("- *ref.ask, tmpfs*: left out, because there is no tmpfs.");
  });

  test("shows a probe beside its floor", () => {
    expect(page).toContain("| timer: ticks | 39 (38–40) | raw: 2 | – | ≥ 38 | 40 | – |");
  });

  test("says how often the rows that are no loops were measured, and whether the machine was quiet", () => {
    const told = (changes: Partial<SuiteResult>) => render([{ ...result({}), ...changes }], limits);
    expect(told({ probeRounds: 3 })).toContain("2026-02-03; 9 rounds, 3 of what is no loop.");
    expect(told({ noise: { spread: 0.0312, floors: 4, isNoisy: false } })).toContain(
      "; 9 rounds; a quiet machine, whose floors varied by 3.12 %.",
    );
    expect(told({ noise: { spread: 0.12, floors: 4, isNoisy: true } })).toContain(
      "9 rounds. **The machine was noisy**: its floors varied by 12 %, and so may these figures.",
    );
  });

  test("shows the published targets, and which figure meets them", () => {
    const published = [
      { target: "tool overhead", about: "the tools", shownBy: [{ suite: "routing", row: "ref.ask", figure: "ratio" }] },
    ] as const;
    expect(page).not.toContain("Published targets");
    const text = render([result({ ratio: 1.05 })], limits, { ...beside, published });
    expect(text).toContain("## Published targets\n");
    expect(text).toContain("| the tools | under 10 % | 4.76 % | met | routing: *ref.ask*, ratio |");
  });

  test("links to each of its parts, as a code host names their headings", () => {
    const sections = [{ title: "Beside other libraries", pictures: [], text: "What they take." }];
    const text = render([result({}), result({ suite: "message-creation" })], limits, { ...beside, sections });
    expect(text).toContain(
      "[message-creation](#message-creation), [routing](#routing), [Beside other libraries](#beside-other-libraries).",
    );
    expect(text).toEndWith("## Beside other libraries\n\nWhat they take.\n");
  });

  test("shows a picture in the file that suits the page, before the table, and says what is on it", () => {
    const pictures = new Map([["routing", [{ name: "routing", alt: 'all rows, "asks" too' }]]]);
    const text = render([result({})], limits, { ...beside, pictures });
    const folder = "benchmarks/results/charts";
    expect(text).toContain(
      [
        "<picture>",
        `  <source media="(prefers-color-scheme: dark)" srcset="${folder}/routing.dark.svg">`,
        `  <img alt="all rows, &quot;asks&quot; too" src="${folder}/routing.light.svg">`,
        "</picture>\n\n| row |",
      ].join("\n"),
    );
  });

  test("names machine, versions, commit, date, and the machine of the published figures", () => {
    expect(page).toContain("A Processor, 2 cores, Linux 6 x64; Bun 1.4.5; commit abc1234; 2026-02-03; 9 rounds.");
    expect(page).toContain("Apple M4 Max, Bun 1.2.20");
    const { commit: _, ...machine } = result({}).machine;
    const ofPackage = { ...result({}), machine: { ...machine, version: "0.1.0" } };
    expect(render([ofPackage], limits)).toContain("Bun 1.4.5; version 0.1.0; 2026-02-03; 9 rounds.");
  });
});

describe("the README", () => {
  const table = targetTable([result({})], limits);

  test("gets the table of targets between its markers, and nothing else changes", () => {
    const before = "# envoi\n<!-- figures:begin -->\nold\n<!-- figures:end -->\nmore\n";
    const after = `# envoi\n<!-- figures:begin -->\n${table}\n<!-- figures:end -->\nmore\n`;
    expect(fillFigures(before, [result({})], limits)).toBe(after);
    expect(fillFigures(after, [result({})], limits)).toBe(after);
    expect(table).toContain("| ref.ask: 128 ns | raw ask: 98 ns | 1.31 (1.2–1.5) × floor | ≤ 1.5 |");
    expect(table).toContain("| timer: ticks | raw: 2 | 39 (38–40) | ≥ 38 |");
  });

  test("says where a limit was missed", () => {
    const [target] = limits;
    if (target === undefined) throw new Error("there is a limit");
    const missed = { ...target, atMost: 1.1 };
    expect(targetTable([result({})], [missed])).toContain("≤ 1.1 (missed) |");
  });

  test("shows the figures that it is told to, in that order, also those without a limit", () => {
    const shown = [
      { suite: "routing", row: "timer", figure: "ticks" },
      { suite: "routing", row: "ref.ask", figure: "ratio" },
      { suite: "routing", row: "not measured", figure: "ratio" },
    ];
    const [, , first, second, ...more] = targetTable([result({})], limits.slice(0, 1), shown).split("\n");
    expect(first).toBe("| timer: ticks | raw: 2 | 39 (38–40) | – |");
    expect(second).toStartWith("| ref.ask: 128 ns |");
    expect(more).toEqual([]);
  });

  test("without markers stays as it is", () => {
    for (const text of ["# envoi\n", "<!-- figures:begin -->\n", "<!-- figures:end --><!-- figures:begin -->"]) {
      expect(fillFigures(text, [result({})], limits)).toBe(text);
    }
  });
});
