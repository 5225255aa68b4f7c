import { expect, test } from "bun:test";
import { createSystem, defineProtocol, type SystemOptions } from "../../src/index";
import { type Checks, COUNT, checkOptions, DURATION, oneOf, withMethods } from "../../src/message/option";

interface Given {
  readonly size?: number;
  readonly wait?: number;
  readonly order?: "first" | "last";
  readonly store?: object;
}
const CHECKS: Checks<Given> = {
  size: COUNT,
  wait: DURATION,
  order: oneOf("first", "last"),
  store: withMethods("get", "put"),
};
const check = (options: unknown, part?: string) => () =>
  checkOptions(options as Given, CHECKS, "@(box)", "{ size: 4 }", part);

test("options that fit, that are left out or that are inherited are taken", () => {
  expect(check({})).not.toThrow();
  expect(check({ size: 1, wait: Number.POSITIVE_INFINITY, order: undefined })).not.toThrow();
  expect(check({ size: 1, wait: 0.5, order: "last", store: { get() {}, put() {} } })).not.toThrow();
  expect(check(Object.create({ size: 0 }))).toThrow("The size of @(box)"); // It is read, so it is checked.
});

test.each<[unknown, Error]>([
  [null, new TypeError("The options of @(box) are an object, such as { size: 4 }; got null.")],
  [{ sise: 4 }, new TypeError('There is no option "sise" for @(box); write one of size, wait, order, store.')],
  [{ toString: 4 }, new TypeError('There is no option "toString" for @(box); write one of size, wait, order, store.')],
  [{ size: 1.5 }, new RangeError("The size of @(box) is a whole number from 1; got 1.5.")],
  [
    { wait: Number.NaN },
    new RangeError("The wait of @(box) is a number of milliseconds above 0, or Infinity; got NaN."),
  ],
  [{ order: "next" }, new TypeError('The order of @(box) is "first" or "last"; got "next".')],
  [{ store: null }, new TypeError("The store of @(box) has the methods get, put; this one has no get().")],
])("%p is refused, with what to write", (options, error) => expect(check(options)).toThrow(error));

test("an option that has options itself is named in their sentences", () => {
  expect(check(7, "box")).toThrow(new TypeError("The box of @(box) is an object, such as { size: 4 }; got 7."));
  expect(check({ sise: 4 }, "box")).toThrow('There is no "sise" in the box of @(box); write one of size');
  expect(check({ size: 0 }, "box")).toThrow("The size of the box of @(box) is a whole number from 1; got 0.");
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
