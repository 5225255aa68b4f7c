import { expect, test } from "bun:test";
import { join } from "node:path";
import { problemOf, STATUSES } from "../../src/http/problem";

const root = join(import.meta.dir, "../..");

/** The one table whose first heading is this, row by row, in a page or in a doc comment. */
async function tableIn(file: string, heading: string): Promise<string[][]> {
  const lines = (await Bun.file(join(root, file)).text()).split("\n").map((line) => line.replace(/^ \* /, ""));
  const begins = lines.flatMap((line, index) => (line.split("|")[1]?.trim() === heading ? [index] : []));
  expect({ file, heading, tables: begins.length }).toEqual({ file, heading, tables: 1 });
  const table = lines.slice(begins[0]);
  const end = table.findIndex((line) => !line.startsWith("|"));
  return table
    .slice(0, end < 0 ? undefined : end)
    .filter((_, index) => index !== 1)
    .map((row) => row.split("|").slice(1, -1).map(plain));
}

const plain = (cell: string): string => cell.replace("(default)", "").replaceAll(/\s+/g, " ").trim();

for (const [guide, heading, file] of [
  ["docs/supervision.md", "what happened", "src/actor/supervision.ts"],
  ["docs/flow-control.md", "overflow", "src/actor/options.ts"],
] as const) {
  test(`the table "${heading}" in ${guide} says what that in ${file} says`, async () => {
    const page = await tableIn(guide, heading);
    expect(page.length).toBeGreaterThan(4); // Both are tables, and none is cut off after its head.
    expect(await tableIn(file, heading)).toEqual(page);
  });
}

test("the table of statuses in docs/http.md has each kind of refusal, with its status", async () => {
  const [, ...rows] = await tableIn("docs/http.md", "status");
  const listed = rows.flatMap(([status, kinds = ""]) =>
    [...kinds.matchAll(/`([\w-]+)`/g)].map(([, kind = ""]) => [kind, Number(status)] as const),
  );
  expect(listed.length).toBe(Object.keys(STATUSES).length);
  expect<Record<string, number>>(Object.fromEntries(listed)).toEqual(STATUSES);
});

test("docs/http.md says which refusals may be tried again", async () => {
  // The names of STATUSES are its keys.
  const kinds = Object.keys(STATUSES) as (keyof typeof STATUSES)[];
  const retryable = kinds.filter((kind) => problemOf(kind, "").retryable);
  const told = kinds.filter((kind) => [408, 429, 503, 504].includes(STATUSES[kind]) && kind !== "cancelled");
  expect(retryable.toSorted()).toEqual(told.toSorted());
  expect(await Bun.file(join(root, "docs/http.md")).text()).toContain(
    "`retryable` is true for 408, 429, 504, and for 503 but for `cancelled`.",
  );
});
