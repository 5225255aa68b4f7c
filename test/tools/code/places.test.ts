import { expect, test } from "bun:test";
import { errorIn, tiers, valueIn, withCode } from "./tiers";

const sources: readonly (readonly [what: string, before: string, line: number, column: number])[] = [
  ["lines that end in each way of the language", "1;\r2;\r\n3;\u20284;\u20295;\n  ", 6, 3],
  ["line ends in a text", '"\u2028\u2029";\n', 4, 1],
  ["characters of two code units", '"😀😀"; ', 1, 9],
  ["half a character", '"\ud83d"; "é"; ', 1, 11],
];

test.each(tiers)(
  "$isolation: places count lines as the language does, and columns in UTF-16 code units",
  async (tier) => {
    await withCode({ isolation: tier.isolation }, async (execute, code) => {
      for (const [what, before, line, column] of sources) {
        // Each engine puts a call at a column of its own, so columns are compared with that of a plain line.
        const plain = errorIn(await execute("null.x"));
        const error = errorIn(await execute(`${before}null.x`));
        expect([what, error.line, error.column]).toEqual([what, line, column - 1 + (plain.column ?? 0)]);
      }
      const opened = (await code.ask("session", {}))._unsafeUnwrap();
      const session = opened.ok ? opened.value.session : "";
      valueIn(await execute('"😀";\u2028function fail() {\r"😀"; null.x }', { session }));
      valueIn(await execute("1", { session }));
      const { stack = [] } = errorIn(await execute('"😀"; fail()', { session }));
      expect(stack).toMatchObject([{ line: 3, isEarlier: true }, { line: 1 }]);
      expect(stack[0]?.column).toBeGreaterThanOrEqual(10);
      expect(stack[1]?.column).toBeGreaterThanOrEqual(7);
    });
  },
);

const typed: readonly (readonly [code: string, line: number, column: number])[] = [
  ["const c = 1, y = 2; const f = c ? (y) : z => z; ", 1, 49],
  ["const f = async <\n  T,\n>(x: T)\n  : Promise<T> => x; ", 4, 22],
  ["const f = (x: number): {\n a: number } => ({ a: x }); const g = <any>\n 5; ", 3, 5],
];

test.each(tiers)("$isolation: types over several lines, and a conditional's colon, leave each place", async (tier) => {
  await withCode({ isolation: tier.isolation, languages: ["typescript"] }, async (execute) => {
    const plain = errorIn(await execute("null.x", { language: "typescript" }));
    for (const [before, line, column] of typed) {
      const error = errorIn(await execute(`${before}null.x`, { language: "typescript" }));
      expect([before, error.line, error.column]).toEqual([before, line, column - 1 + (plain.column ?? 0)]);
    }
    const both = "const c = 1, y = 3; const f = async <T,>(x: T) => x; (await f(c ? (y) : (z) => z)) as number + 2";
    expect(valueIn(await execute(both, { language: "typescript" }))).toBe(5);
  });
});
