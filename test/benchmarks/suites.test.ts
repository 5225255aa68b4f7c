import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { duration } from "../../benchmarks/harness/format";
import { loadSuites } from "../../benchmarks/harness/load";
import { MEMORY_ROW, publishedReading, publishedRows } from "../../benchmarks/harness/published";
import { needing, steps, suiteOf, timed } from "../../benchmarks/harness/rows";
import { expectExists, expectTargetsExist, isKept, isSame } from "../../benchmarks/harness/target";
import { publishedPage, publishedTargets } from "../../benchmarks/pages/published";
import { inReadme, peersInReadme } from "../../benchmarks/pages/shown";
import { readPeers } from "../../benchmarks/peers/results";
import figures from "../../benchmarks/published-figures.json";
import { targets } from "../../benchmarks/targets";
import { result } from "./sample-result";

const suites = await loadSuites(join(import.meta.dir, "../../benchmarks/suites"));

test("each target names a row and a figure that exist", () => {
  expect(() => expectTargetsExist(targets, suites)).not.toThrow();
});

test("a row that lacks something is left out with its reason, and its limits are still named", () => {
  const row = timed("one", { none: "" }, () => steps(1, () => true), [2, 1, "why"]);
  const { rows, leftOut, limits } = suiteOf("some", "", needing("there is no sandbox", [row]));
  expect({ rows, leftOut }).toEqual({ rows: [], leftOut: [{ row: "one", why: "there is no sandbox" }] });
  expect(limits).toEqual([{ row: "one", figure: "ratio", atMost: 2, aim: 1, reason: "why" }]);
});

test("each figure that the README or the table of published targets shows exists", () => {
  const named = [...inReadme, ...publishedTargets];
  for (const figure of named) expect(() => expectExists(figure, suites, "shown figure")).not.toThrow();
});

test("who keeps the targets meets all that was published as one", () => {
  for (const published of publishedTargets) {
    const own = targets.find((target) => isSame(target, published));
    if (own === undefined) throw new Error(`no target of ours is about ${published.row}, ${published.figure}`);
    expect(isKept(published, "atMost" in own ? own.atMost : own.atLeast)).toBe(true);
  }
});

test("floors of one name that do other work in other rows say so, since they tell nothing of the machine's pace", () => {
  const floors = suites.flatMap(({ rows }) =>
    rows.flatMap((row) => (row.kind === "probe" || "none" in row.floor ? [] : [row.floor])),
  );
  const varying = floors.filter(({ varies }) => varies).map(({ name }) => name);
  for (const name of ["raw read", "raw write whole", "raw list", "baseline: by hand"]) expect(varying).toContain(name);
  expect(floors.filter(({ name, varies }) => varying.includes(name) && !varies)).toEqual([]);
});

test("each library and each row of them that the README shows was measured", async () => {
  const actors = (await readPeers()).find(({ room }) => room === "actors");
  expect(actors?.peers.map(({ name }) => name)).toEqual(expect.arrayContaining([...peersInReadme.names]));
  expect(actors?.rows.map(({ row }) => row)).toEqual(expect.arrayContaining([...peersInReadme.rows]));
});

test("the README shows each suite's own kind of row, in a table that one can take in at a glance", () => {
  expect(inReadme.length).toBeLessThan(15);
  expect(new Set(inReadme.map(({ suite }) => suite)).size).toBeGreaterThanOrEqual(9);
});

/** What was published for timed rows, by the suite that has them. */
const TIMED = ["message-creation", "routing", "patterns", "files", "code"];

test("each published group of rows has its suite", () => {
  expect(Object.entries(figures).flatMap(([name, rows]) => (Array.isArray(rows) ? name : []))).toEqual(TIMED);
});

describe("each published row is in its suite, and the page shows what was published beside it:", () => {
  for (const name of TIMED) {
    test(name, () => {
      const suite = suites.find((each) => each.name === name);
      const rows = [...(suite?.rows ?? []), ...(suite?.leftOut ?? []).map(({ row }) => ({ name: row }))];
      const names = rows.map((row) => row.name);
      expect(publishedRows(name)).not.toBeEmpty();
      for (const { row, avg, p75, p99 } of publishedRows(name)) {
        expect(names).toContain(row);
        const timed = result({ suite: name }).rows.flatMap((each) => (each.kind === "timed" ? [{ ...each, row }] : []));
        const text = publishedPage([{ ...result({ suite: name }), rows: timed }]);
        expect(text).toContain(`| ${[avg, p75, p99].map(duration).join(" / ")} |`);
      }
    });
  }

  const { memory, stress } = figures;
  const { heapGrowthMB, throughputPerSecond, p95ms } = stress;
  const mixed = [throughputPerSecond, heapGrowthMB, ...Object.values(p95ms)];
  test.each([
    ["memory", MEMORY_ROW, [memory.heapGrowthMB, memory.rssGrowthMB]],
    ["latency", `${stress.row}, trusted`, mixed],
    ["latency", `${stress.row}, sandbox`, mixed],
  ])("%s: %s", (name, of, published) => {
    const row = suites.find((each) => each.name === name)?.rows.find((each) => each.name === of);
    const names = row?.kind === "probe" ? row.figures.map((figure) => figure.name) : [];
    const shown = names.map((figure) => publishedReading(name, of, figure)).filter((each) => each !== undefined);
    expect(shown).toEqual(published);
  });
});
