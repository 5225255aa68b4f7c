import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadSuites } from "../../benchmarks/harness/load";
import { publishedReading, publishedRows } from "../../benchmarks/harness/published";
import { needing, steps, suiteOf, timed } from "../../benchmarks/harness/rows";
import { type FigureName, isKept, isSame } from "../../benchmarks/harness/target";
import { publishedTargets } from "../../benchmarks/pages/published";
import { inReadme, peersInReadme } from "../../benchmarks/pages/shown";
import { readPeers } from "../../benchmarks/peers/results";
import figures from "../../benchmarks/published-figures.json";
import { targets } from "../../benchmarks/targets";

const suites = await loadSuites(join(import.meta.dir, "../../benchmarks/suites"));

/** Whether a suite has this figure, or leaves its row out on this machine. */
function exists({ suite, row, figure }: FigureName): boolean {
  const { rows = [], leftOut = [] } = suites.find(({ name }) => name === suite) ?? {};
  const found = rows.find(({ name }) => name === row);
  if (found === undefined) return leftOut.some((each) => each.row === row);
  return found.kind === "probe" ? found.figures.some(({ name }) => name === figure) : !("none" in found.floor);
}

test("each target, and each figure that the README or the table of published targets shows, is of a row that exists", () => {
  expect([...targets, ...inReadme, ...publishedTargets].filter((name) => !exists(name))).toEqual([]);
});

test("a row that lacks something is left out with its reason, and its limits are still named", () => {
  const row = timed("one", { none: "" }, () => steps(1, () => true), [2, 1, "why"]);
  const { rows, leftOut, limits } = suiteOf("some", "", needing("there is no sandbox", [row]));
  expect({ rows, leftOut }).toEqual({ rows: [], leftOut: [{ row: "one", why: "there is no sandbox" }] });
  expect(limits).toEqual([{ row: "one", figure: "ratio", atMost: 2, aim: 1, reason: "why" }]);
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

/** What was published for timed rows, by the suite that has them. */
const TIMED = ["message-creation", "routing", "patterns", "files", "code"];

test("each published row is in its suite", () => {
  const named = suites.flatMap(({ name, rows, leftOut = [] }) =>
    [...rows.map((row) => row.name), ...leftOut.map(({ row }) => row)].map((row) => `${name}: ${row}`),
  );
  const published = TIMED.flatMap((name) => publishedRows(name).map(({ row }) => `${name}: ${row}`));
  expect(published.filter((each) => !named.includes(each))).toEqual([]);
  expect(published.length).toBeGreaterThan(40);
});

test.each(Object.entries(figures.http.rows))("what was published for http is shown beside its row: %s", (of, read) => {
  const row = suites.find(({ name }) => name === "http")?.rows.find(({ name }) => name === of);
  const names = row?.kind === "probe" ? row.figures.map(({ name }) => name) : [row?.kind === "timed" ? "ratio" : ""];
  for (const [figure, value] of Object.entries(read)) {
    expect(names).toContain(figure);
    expect(publishedReading("http", of, figure)).toBe(value);
  }
});
