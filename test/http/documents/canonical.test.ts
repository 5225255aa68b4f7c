import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson, NotCanonical, parseUnambiguous } from "../../../src/http/documents/canonical";
import { runs } from "../../property/runs";

describe("the canonical form is that of RFC 8785", () => {
  test("its example (section 3.2.2)", () => {
    const input = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(JSON.parse(input))).toBe(
      `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
        `"string":"€${String.raw`$\u000f\nA'B\"\\\\\"/"}`}`,
    );
  });

  test("keys go by their UTF-16 code units (section 3.2.3)", () => {
    const input = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    const order = [...canonicalJson(input).matchAll(/:"([^"]*)"/g)].map(([, name]) => name);
    expect(order).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("the number %s (appendix B)", (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, "hex").readDoubleBE())).toBe(text);
  });

  test("equal values have one form, in whatever order their keys came; others have others", () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value).map(([key, each]) => [key, shuffled(each)] as const);
      return Object.fromEntries(entries.reverse());
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(shuffled(value))).toBe(text);
        const back: unknown = JSON.parse(text);
        expect(JSON.stringify(back).length).toBe(text.length); // Nothing but the order of keys differs.
        expect(canonicalJson(back)).toBe(text);
        expect(Bun.deepEquals(back, JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
      runs(300),
    );
  });

  test("keys that are numbers go by their text, too", () => {
    expect(canonicalJson({ b: 1, 10: 2, 9: { c: [{ z: 1, 1: 2 }] } })).toBe('{"10":2,"9":{"c":[{"1":2,"z":1}]},"b":1}');
    const key = fc.oneof(
      fc.nat(200).map(String),
      fc.constantFrom("__proto__", "toJSON", "a", "", "-1", "01", "\u20ac"),
    );
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.dictionary(key, fc.nat(3), { noNullPrototype: true }), { noNullPrototype: true }),
        (value) => {
          const keys = (object: object): string[] => Object.keys(object).sort();
          const expected = keys(value).map((name) => {
            const below = value[name] ?? {};
            return `${JSON.stringify(name)}:{${keys(below)
              .map((each) => `${JSON.stringify(each)}:${below[each]}`)
              .join(",")}}`;
          });
          expect(canonicalJson(value)).toBe(`{${expected.join(",")}}`);
        },
      ),
      runs(300),
    );
  });

  test("the key __proto__ is a key like any other", () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
  });
});

describe("what JSON cannot hold, or readers would read differently, has no canonical form:", () => {
  const circle: unknown[] = [];
  circle.push(circle);
  test.each([
    ["NaN", Number.NaN],
    ["Infinity", [Number.POSITIVE_INFINITY]],
    ["undefined", { a: undefined }],
    ["a hole", new Array(1)],
    ["a bigint", 1n],
    ["a symbol", Symbol("a")],
    ["a function", () => 1],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["an object with a toJSON of its own", { toJSON: () => 1 }],
    ["a lone surrogate", "a\ud800"],
    ["a lone surrogate in a key", { "\udfff": 1 }],
    ["a circle", circle],
  ])("%s", (_, value) => {
    expect(() => canonicalJson(value)).toThrow(NotCanonical);
  });

  test("nesting that would end the stack", () => {
    expect(() => canonicalJson(JSON.parse("[".repeat(100_000) + "]".repeat(100_000)))).toThrow(NotCanonical);
  });
});

describe("JSON that all readers read alike", () => {
  test("is parsed", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(4), (value, indent) => {
        expect(parseUnambiguous(JSON.stringify(value, null, indent))).toEqual({
          value: JSON.parse(JSON.stringify(value)),
        });
      }),
      runs(300),
    );
  });

  test("has no key twice in one object, in whatever way it is written", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.jsonValue(), fc.jsonValue(), (key, first, second) => {
        const escaped = `"${[...key].map((each) => escapedBy(each)).join("")}"`;
        const twice = `{"x":{${JSON.stringify(key)}:${JSON.stringify(first)},${escaped}:${JSON.stringify(second)}}}`;
        expect(parseUnambiguous(twice)).toBeUndefined();
      }),
      runs(200),
    );
  });

  test.each(["", "{", '{"a":1}}', "undefined", `${"[".repeat(300)}${"]".repeat(300)}`])("is not %p", (text) => {
    expect(parseUnambiguous(text)).toBeUndefined();
  });
});

/** A character as JSON can write it, too. */
const escapedBy = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
