import { expect, test } from "bun:test";
import { join } from "node:path";

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
