import { expect, test } from "bun:test";
import fc from "fast-check";
import { readJson } from "../../src/index";

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

const hasPrototype = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototype));

/** A text with some of its characters written as escapes. */
const escaped = (text: string, every: number): string =>
  [...text]
    .map((letter, index) => (index % every === 0 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}` : letter))
    .join("");

test("P18: JSON is what JSON.parse makes of it, unless it is too deep or has a key __proto__, however that is written", () => {
  const key = fc.oneof(
    fc.constantFrom("__proto__", "__proto_", "_", "a__", "\\", "proto"),
    fc.string({ maxLength: 4 }),
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constantFrom('{"__proto__":{}}', "[[[[[[[")),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie("tree")), { maxLength: 3 }).map((entries) => {
        const made = {};
        for (const [name, value] of entries) {
          Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
        }
        return made;
      }),
    ),
  }));
  fc.assert(
    fc.property(tree, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 5 }), (value, depth, every) => {
      const plain = JSON.stringify(value);
      for (const text of [plain, plain.replaceAll("__proto__", escaped("__proto__", every))]) {
        const read = readJson(text, { depth });
        const fault = depthOf(value) > depth ? "too-deep" : hasPrototype(value) ? "own-prototype" : undefined;
        if (fault === undefined) expect(read._unsafeUnwrap()).toEqual(JSON.parse(text));
        else expect(read._unsafeUnwrapErr()).toBe(fault);
      }
    }),
  );
});

test("P18: what is no JSON is refused, and millions of brackets are, before they are parsed", () => {
  for (const text of ["", "{", "[1,]", "{'a':1}", "undefined", "\ufeff{}", "1 2", '"\n"', '"\\x"']) {
    expect([text, readJson(text, { depth: 8 })._unsafeUnwrapErr()]).toEqual([text, "no-json"]);
  }
  const deep = "[".repeat(5_000_000);
  expect(readJson(deep, { depth: 512 })._unsafeUnwrapErr()).toBe("too-deep");
  expect(readJson(`${'"'.padEnd(2_000, "[")}"`, { depth: 8 }).isOk()).toBe(true);
  expect(readJson(`["${"\\\\".repeat(40)}","${"[".repeat(40)}\\"[["]`, { depth: 1 }).isOk()).toBe(true);
});

test("a text with many marks that are no key __proto__ is taken", () => {
  for (const part of ["_", "__", "__proto", "\\\\u005f", "\\u005f", "\\n_"]) {
    const text = `{"a":"${part.repeat(100)}"}`;
    expect(readJson(text, { depth: 4 })._unsafeUnwrap()).toEqual(JSON.parse(text));
  }
  expect(readJson('{"a":"__proto__"}', { depth: 4 }).isOk()).toBe(true);
});
