import { expect, test } from "bun:test";
import {
  checkOptions,
  createSystem,
  defineProtocol,
  type OptionChecks,
  option,
  type SystemOptions,
} from "../../src/index";

interface Given {
  readonly size?: number;
  readonly wait?: number;
  readonly order?: "first" | "last";
  readonly store?: object;
  readonly box?: Given;
}
const CHECKS: OptionChecks<Given> = {
  size: option.count,
  wait: option.duration,
  order: option.oneOf("first", "last"),
  store: option.methods("get", "put"),
  box: option.group({ size: option.count }, "{ size: 4 }"),
};
const check = (options: unknown) => () => checkOptions(options, CHECKS, "@(box)", "{ size: 4 }");

test("options that fit, that are left out or that are inherited are taken", () => {
  expect(check({})).not.toThrow();
  expect(check({ size: 1, wait: Number.POSITIVE_INFINITY, order: undefined })).not.toThrow();
  expect(check({ size: 1, wait: 0.5, order: "last", store: { get() {}, put() {} } })).not.toThrow();
  expect(check(Object.create({ size: 0 }))).toThrow("The size of @(box)"); // It is read, so it is checked.
});

test.each<[unknown, Error]>([
  [null, new TypeError("The options of @(box) are an object, such as { size: 4 }; got null.")],
  [{ sise: 4 }, new TypeError('There is no option "sise" for @(box); write one of size, wait, order, store, box.')],
  [
    { toString: 4 },
    new TypeError('There is no option "toString" for @(box); write one of size, wait, order, store, box.'),
  ],
  [{ size: 1.5 }, new RangeError("The size of @(box) is a whole number from 1; got 1.5.")],
  [
    { wait: Number.NaN },
    new RangeError("The wait of @(box) is a number of milliseconds above 0, or Infinity; got NaN."),
  ],
  [{ order: "next" }, new TypeError('The order of @(box) is "first" or "last"; got "next".')],
  [{ store: null }, new TypeError("The store of @(box) has the methods get, put; this one has no get().")],
])("%p is refused, with what to write", (options, error) => expect(check(options)).toThrow(error));

test("an option that has options itself is named in their sentences", () => {
  expect(check({ box: 7 })).toThrow(
    new TypeError("The options of the box of @(box) are an object, such as { size: 4 }; got 7."),
  );
  expect(check({ box: { sise: 4 } })).toThrow('There is no option "sise" for the box of @(box); write one of size.');
  expect(check({ box: { size: 0 } })).toThrow("The size of the box of @(box) is a whole number from 1; got 0.");
  const supervision = { backoff: { jitter: 2 } };
  expect(() => createSystem({ supervision } as SystemOptions)).toThrow(
    new RangeError("The jitter of the backoff of the supervision of a system is a number from 0 to 1; got 2."),
  );
  const spawn = () =>
    createSystem().spawn("a", defineProtocol("a", {}), () => ({}), { supervision: { backoff: { initial: 0 } } });
  expect(spawn).toThrow(
    "The initial of the backoff of the supervision of @(a) is a number of milliseconds above 0; got 0.",
  );
});

test.each([
  [option.count, [1, 2 ** 40], [0, 1.5, "1", Number.POSITIVE_INFINITY]],
  [option.bound, [1, Number.POSITIVE_INFINITY], [0, 1.5, Number.NaN]],
  [option.whole(0), [0, 7], [-1, 0.5, Number.POSITIVE_INFINITY]],
  [option.whole(4, 6), [4, 6], [3, 7]],
  [option.duration, [0.1, Number.POSITIVE_INFINITY], [0, -1, Number.NaN]],
  [option.wait, [0, Number.POSITIVE_INFINITY], [-1, Number.NaN]],
])("a number outside of its bounds is a RangeError, case %#", (check, fitting, wrong) => {
  for (const value of fitting) expect(() => check(value, "size", "@(box)")).not.toThrow();
  for (const value of wrong) expect(() => check(value, "size", "@(box)")).toThrow(RangeError);
});

test.each([
  [option.text, ["a"], ["", " ", 7, null]],
  [option.texts, [[], ["a"]], ["a", [""], [7]]],
  [option.flag, [true, false], [0, "true"]],
  [option.function(" of a size"), [() => {}], [{}, "f"]],
  [option.oneOf("a", "b", "c"), ["a", "c"], ["d", 7]],
  [option.rule("is even", (value) => value === 2), [2], [3]],
])("a value of another kind is a TypeError, case %#", (check, fitting, wrong) => {
  for (const value of fitting) expect(() => check(value, "size", "@(box)")).not.toThrow();
  for (const value of wrong) expect(() => check(value, "size", "@(box)")).toThrow(TypeError);
});
