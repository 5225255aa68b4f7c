import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../src/index";
import { Matcher } from "../../src/record/transforms/matcher";
import { drop, redact, replace } from "../../src/record/transforms/transform";
import { isLongerThan, isMeasurable } from "../../src/record/values/measurable";
import { readValue } from "../../src/record/values/read-value";
import { isUntouched } from "../../src/record/values/untouched";
import { ValueWriter, type ValueWriterOptions } from "../../src/record/values/value-writer";

const PLACE = { address: "@(a)", operation: "b", part: "payload" } as const;

describe("a value whose text can be measured", () => {
  class Point {
    x = 1;
  }
  test.each([
    ["a bigint", [1n]],
    ["an object with a toJSON", [{ toJSON: () => 1 }]],
    ["a proxy", [new Proxy([], {})]],
    ["a list of empty places", [new Array(5_000_000)]],
    ["an instance of a class", [new Point()]],
    ["an endless nesting", [JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`)]],
  ])("is not %s", (_, value) => {
    expect(isMeasurable(value)).toBe(false);
    expect(isLongerThan(value, 1_000_000, 10)).toBe(false);
  });

  test("counts the characters of its keys and texts, without texts that are too long, and one for each value", () => {
    const value = { note: "12345", list: [1, null, "123456789"] };
    expect(isMeasurable(value)).toBe(true);
    const length = 1 + 4 + 5 + 4 + 1 + 2 + 9;
    expect([isLongerThan(value, length, 100), isLongerThan(value, length - 1, 100)]).toEqual([false, true]);
    expect([isLongerThan(value, length - 9, 8), isLongerThan(value, length - 10, 8)]).toEqual([false, true]);
  });
});

describe("a value that no transform changes", () => {
  const spot = new Matcher([redact("payload.list[*].email"), redact("payload.only.email")]).at(PLACE);
  const untouched = (value: unknown, most = 1_000) => isUntouched(value, spot, most);

  test("has nothing at the end of a path", () => {
    expect(untouched({ list: [{ name: "a" }], only: { name: 1 }, other: { email: "e" } })).toBe(true);
    expect(untouched({ list: [{ name: "a" }, { email: "e" }] })).toBe(false);
    expect(isUntouched({ email: "e" }, null, 1)).toBe(true);
  });

  test("holds nothing on its way that is something else when it is written", () => {
    const map = new Map([["email", "e"]]);
    for (const only of ['{"email":"e"}', { toJSON: () => ({ email: "e" }) }, new Proxy({}, {}), map]) {
      expect(untouched({ only })).toBe(false);
    }
  });

  test("is known in so many steps, or is not", () => {
    const anywhere = new Matcher([redact("**.email")]).at(PLACE);
    const list = Array.from({ length: 20 }, () => "a");
    expect([isUntouched(list, anywhere, 21), isUntouched(list, anywhere, 20)]).toEqual([true, false]);
    let reads = 0;
    const counted = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key${index}`, index]));
    for (const key of Object.keys(counted)) {
      Object.defineProperty(counted, key, { get: () => ++reads, enumerable: true });
    }
    expect(isUntouched(counted, anywhere, 5)).toBe(false);
    expect(reads).toBeLessThan(10);
  });
});

test("a long list is written where its later items are short once a path led into their texts of JSON", () => {
  const note = JSON.stringify({ a: "y".repeat(40) });
  const list = Array.from({ length: 1_000 }, (_, index) => (index < 100 ? { note: "y".repeat(40) } : { note }));
  const limits = { value: 36_000 };
  const writer = new ValueWriter({ limits, transforms: [drop("payload[*].note.a")] });
  expect(JSON.parse(writer.text(list, PLACE))).toHaveLength(1_000);
});

describe("a value is written", () => {
  const written = (value: unknown, options: ValueWriterOptions = {}) =>
    JSON.parse(new ValueWriter({ key: "k", ...options }).text(value, PLACE));

  test("by its own keys, where its toJSON gives itself", () => {
    class Point {
      x = 1;
      toJSON(): this {
        return this;
      }
    }
    expect(written([new Point()])).toEqual([{ x: 1 }]);
  });

  test("with one hash of a redacted part, whatever else is hidden in it", () => {
    const value = { user: { password: "hunter2" } };
    const transforms = [redact("payload.user")];
    expect(written(value, { transforms })).toEqual(written(value, { transforms, keep: ["passwords"] }));
  });

  test("with what a replace let pass looked through", () => {
    const more = replace("**.a", (value) => (typeof value === "number" ? value + 1 : value));
    expect(written({ a: { b: { a: 1 } } }, { transforms: [more] })).toEqual({ a: { b: { a: 2 } } });
  });

  test("twice, where it stands at two places and is too large at the one that is redacted", () => {
    const part = { big: "y".repeat(30).split(""), small: 1 };
    const transforms = [redact("payload.secret"), drop("payload.again.big")];
    expect(written({ secret: part, again: part }, { transforms, limits: { value: 100 } })).toEqual({
      secret: expect.stringContaining("redacted:"),
      again: { small: 1 },
    });
  });

  test("as a whole by its size, where a part of a part is too large", () => {
    const parts = new Map([["a", { b: "y".repeat(200).split("") }]]);
    expect(written({ parts }, { limits: { value: 100 } })).toEqual({ $large: { bytes: 100, type: "object" } });
  });

  test("with a redacted text as it is, where a transform redacts it again", () => {
    const transforms = [redact("payload.email")];
    const once = written({ email: "ada@example.com" }, { transforms });
    expect(written(once, { transforms })).toEqual(once);
  });

  test("without the key __proto__, which a reader refuses", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"email":"e"}');
    expect(written(value, { transforms: [redact("payload.email")] })).toEqual({
      $__proto__: { a: 1 },
      email: expect.stringContaining("redacted:"),
    });
  });

  test("and an object with a key of a tag beside another key is none", () => {
    expect(readValue({ $bigint: "12", more: 1 })).toEqual({ bigint: "12", more: 1 });
  });
});

test("the error of an ask is written with its cause", async () => {
  await using system = createSystem({ logger: { warn() {}, error() {} } });
  const Shop = defineProtocol("shop", { buy: { reply: Type.Number() } });
  const shop = system.spawn("shop", Shop, () => ({ buy: () => Promise.reject(new RangeError("sold out")) }));
  const error = (await shop.ask("buy"))._unsafeUnwrapErr();
  const text = new ValueWriter().text(error, { ...PLACE, part: "error" });
  expect(JSON.parse(text)).toMatchObject({
    kind: "handler-failed",
    cause: { $error: { name: "RangeError", message: "sold out" } },
  });
});

test("the fields of an error that are no keys of its own are written: its errors, and a message that is no text", () => {
  const written = (error: unknown) =>
    JSON.parse(new ValueWriter({ transforms: [redact("**.email")] }).text(error, { ...PLACE, part: "error" }));
  expect(written(new AggregateError([new Error("one")], "all")).errors).toMatchObject([{ $error: { message: "one" } }]);
  const odd = Object.assign(new Error("text"), { message: 7 });
  expect(written(odd)).toMatchObject({ name: "Error", stack: odd.stack });
  const stackless = Object.assign(new Error("Bearer abcdef0hijkl"), { stack: 7 });
  expect(written(stackless)).toMatchObject({ message: expect.stringContaining("redacted:"), stack: 7 });
});
