import { describe, expect, test } from "bun:test";
import { address, idOf, isAddress, MAX_ID_LENGTH, parseAddress, quote } from "../../src/message/address";

const throwing = (): never => {
  throw new Error("hostile");
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const GOOD = [
  "echo",
  "workers/3",
  "a/b/c/d",
  ".",
  "..",
  "../up",
  "a.b:c~d-e_f",
  "@",
  "50%",
  "naïve",
  "φύλλα/α",
  "作業者/三",
  "🦊/🐻",
  "a".repeat(MAX_ID_LENGTH),
  "🦊".repeat(MAX_ID_LENGTH / 2),
] as const;

const BAD: readonly (readonly [what: string, id: string])[] = [
  ["nothing", ""],
  ["a space", "two words"],
  ["a space at the end", "end "],
  ["a tab", "a\tb"],
  ["a line feed at the end", "end\n"],
  ["a no-break space", "a\u00a0b"],
  ["a byte order mark", "\ufeffa"],
  ["a control character", "a\u0000b"],
  ["DEL", "a\u007fb"],
  ["a C1 control character", "a\u0085b"],
  ["a zero-width space", "a\u200bb"],
  ["a zero-width joiner", "a\u200db"],
  ["a zero-width non-joiner at the end", "a\u200c"],
  ["a word joiner", "a\u2060b"],
  ["a right-to-left override", "a\u202eb"],
  ["a left-to-right mark", "\u200ea"],
  ["an isolate", "a\u2066b\u2069"],
  ["a soft hyphen", "a\u00adb"],
  ["a grapheme joiner", "a\u034fb"],
  ["a variation selector", "a\ufe0f"],
  ["a supplementary variation selector", "a\u{e0100}"],
  ["a tag character", "a\u{e0041}"],
  ["an annotation anchor", "a\ufff9b"],
  ["a Hangul filler", "\u3164"],
  ["a halfwidth Hangul filler", "a\uffa0"],
  ["a Mongolian vowel separator", "a\u180e"],
  ["a blank braille pattern", "\u2800"],
  ["a noncharacter", "a\uffff"],
  ["an opening parenthesis", "a(b"],
  ["a closing parenthesis", "a)b"],
  ["a slash at the start", "/a"],
  ["a slash at the end", "a/"],
  ["a doubled slash", "a//b"],
  ["only a slash", "/"],
  ["a high surrogate alone", "a\ud83e"],
  ["a low surrogate alone", "\udd8ab"],
  ["surrogates in the wrong order", "\udd8a\ud83e"],
  [`${MAX_ID_LENGTH + 1} characters`, "a".repeat(MAX_ID_LENGTH + 1)],
  [`${MAX_ID_LENGTH + 1} code units of another alphabet`, `${"🦊".repeat(MAX_ID_LENGTH / 2)}a`],
];

const NOT_TEXT: readonly (readonly [what: string, value: unknown])[] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 7],
  ["a bigint", 7n],
  ["a symbol", Symbol("echo")],
  ["a function", throwing],
  ["an array", ["echo"]],
  ["a String object", new String("@(echo)")],
  ["an object whose toString throws", { toString: throwing, [Symbol.toPrimitive]: throwing }],
  ["an object without a prototype", Object.create(null)],
  ["a revoked proxy", revoked()],
];

describe("address()", () => {
  test.each([...GOOD])("takes the id %j", (id) => {
    expect(address(id)).toBe(`@(${id})`);
    expect(idOf(address(id))).toBe(id);
  });

  test.each([...BAD])("refuses an id with %s, and says the rule", (_, id) => {
    expect(() => address(id)).toThrow(TypeError);
    expect(() => address(id)).toThrow(/is not an actor id: an id has 1 to 512 characters.*: workers\/3\.$/);
  });

  test.each([...NOT_TEXT])("refuses %s with a TypeError", (_, value) => {
    expect(() => address(value as string)).toThrow(TypeError);
    expect(() => address(value as string)).toThrow("is not an actor id");
  });
});

describe("isAddress()", () => {
  test.each([...GOOD])("knows the address of %j", (id) => {
    expect(isAddress(`@(${id})`)).toBe(true);
  });

  test.each([...BAD])("is false where the id has %s", (_, id) => {
    expect(isAddress(`@(${id})`)).toBe(false);
  });

  test.each([...NOT_TEXT])("is false for %s", (_, value) => {
    expect(isAddress(value)).toBe(false);
  });

  test.each([
    "",
    "echo",
    "@",
    "@(",
    "@()",
    "@(echo",
    "(echo)",
    "echo)",
    " @(echo)",
    "@(echo) ",
    "@(echo)\n",
    "@((echo))",
  ])("is false for the text %j", (text) => {
    expect(isAddress(text)).toBe(false);
  });
});

describe("parseAddress()", () => {
  test("takes an address apart into its id and segments", () => {
    expect(parseAddress("@(workers/3)")._unsafeUnwrap()).toEqual({
      address: address("workers/3"),
      id: "workers/3",
      segments: ["workers", "3"],
    });
    expect(parseAddress("@(echo)")._unsafeUnwrap().segments).toEqual(["echo"]);
  });

  test.each([...BAD])("gives an error, and does not throw, where the id has %s", (_, id) => {
    const error = parseAddress(`@(${id})`)._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "invalid-address", path: "", retryable: false });
    expect(error.message).toContain("is not an address; write @(id)");
  });

  test.each([...NOT_TEXT])("gives an error, and does not throw, for %s", (_, value) => {
    expect(parseAddress(value)._unsafeUnwrapErr().kind).toBe("invalid-address");
  });
});

describe("a value quoted in an error", () => {
  test("is cut where it is long, and stays on one line", () => {
    expect(quote("x".repeat(1_000))).toBe(`"${"x".repeat(77)}…"`);
    expect(quote("x".repeat(80))).toBe(`"${"x".repeat(80)}"`);
    expect(quote("a\nb")).toBe('"a\\nb"');
  });

  test("is named by its kind where it is no text", () => {
    expect([null, undefined, 7, true, throwing, [1], { a: 1 }].map(quote)).toEqual([
      "null",
      "undefined",
      "7",
      "true",
      "a function",
      "an array",
      "an object",
    ]);
  });
});

test("an error shows the characters of a text that would not be seen", () => {
  expect(quote("work\u200bers\u202e/\u{e0041}")).toBe(String.raw`"work\u200bers\u202e/\udb40\udc41"`);
  expect(() => address("work\u200bers")).toThrow(String.raw`"work\u200bers" is not an actor id`);
  expect(parseAddress("@(\u2066a)")._unsafeUnwrapErr().message).toContain(String.raw`"@(\u2066a)"`);
});

test("each character of an id is either seen or refused: no format, control or default-ignorable one passes", () => {
  const hidden = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
  const passing: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const id = String.fromCodePoint(code);
    const isUnassigned = /[\p{Cn}\p{Co}]/u.test(id) && !/\p{Noncharacter_Code_Point}/u.test(id); // A newer Unicode may show it.
    if (hidden.test(id) && !isUnassigned && isAddress(`@(${id})`)) passing.push(code.toString(16));
  }
  expect(passing).toEqual([]);
});
