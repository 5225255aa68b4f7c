import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { fillFigures, render } from "../../benchmarks/harness/page";
import { readResults, serialise } from "../../benchmarks/harness/results";
import { targetTable } from "../../benchmarks/harness/tables";
import type { Target } from "../../benchmarks/harness/target";
import { targets } from "../../benchmarks/targets";
import { result } from "./sample-result";

const root = join(import.meta.dir, "../..");
const limits: readonly Target[] = [
  { suite: "routing", row: "ref.ask", figure: "ratio", atMost: 1.5, aim: 1.25, reason: "" },
  { suite: "routing", row: "timer", figure: "ticks", atLeast: 38, aim: 40, reason: "" },
];

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

  test("names machine, versions, commit, date, and the machine of the published figures", () => {
    expect(page).toContain("A Processor, 2 cores, Linux 6 x64; Bun 1.4.5; commit abc1234; 2026-02-03; 9 rounds.");
    expect(page).toContain("Apple M4 Max, Bun 1.2.20");
  });

  test("in the repository is what its results give", async () => {
    const committed = Bun.file(join(root, "BENCHMARKS.md"));
    expect(await committed.text()).toBe(render(await readResults(join(root, "benchmarks/results")), targets));
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

  test("without markers stays as it is", () => {
    for (const text of ["# envoi\n", "<!-- figures:begin -->\n", "<!-- figures:end --><!-- figures:begin -->"]) {
      expect(fillFigures(text, [result({})], limits)).toBe(text);
    }
  });

  test("in the repository has the figures of the committed results", async () => {
    const readme = Bun.file(join(root, "README.md"));
    const results = await readResults(join(root, "benchmarks/results"));
    expect(results).not.toBeEmpty();
    const text = await readme.text();
    expect(text).toBe(fillFigures(text, results, targets));
  });
});
