import { afterEach, beforeEach, expect, test } from "bun:test";
import { createManualClock } from "envoi/testing";
import { createSystem, defineProtocol, StreamError, Type } from "../../src/index";
import { CONSOLE_LOG } from "../../src/router/console-log";

// A system that was given no logger writes to the console.

const Fragile = defineProtocol("fragile", {
  break: { payload: Type.String() },
  ask: { payload: Type.String(), reply: Type.Number() },
});
const kept = { warn: console.warn, error: console.error };
const written: unknown[][] = [];

beforeEach(() => {
  written.length = 0;
  console.warn = console.error = (...all: unknown[]) => void written.push(all);
});
afterEach(() => {
  Object.assign(console, kept);
});

/** The only text that was written. */
function onlyText(): string {
  expect(written).toHaveLength(1);
  expect(written[0]).toHaveLength(1);
  return String(written[0]?.[0]);
}

test("a failure is one line with the actor and the operation, one stack, and the causes of the error", async () => {
  const system = createSystem({ clock: createManualClock(0), supervision: { decide: () => "resume" } });
  const ref = system.spawn("fragile", Fragile, () => ({
    break(words) {
      throw new Error(words, { cause: new TypeError("why") });
    },
    ask: () => 3,
  }));
  ref.tell("break", "two\nlines");
  expect((await ref.ask("ask", "")).unwrapOr(0)).toBe(3);
  const [line, first, ...others] = onlyText().split("\n");
  expect(line).toBe(
    'envoi: "break" to @(fragile) failed in its handler: Error: two lines address=@(fragile) operation=break',
  );
  expect(first).toStartWith("    at break (");
  expect(others.at(-1)).toBe("    caused by: TypeError: why");
  expect(others.filter((each) => each.includes("at break"))).toEqual([]); // The stack of the cause is the same.
});

test("a delivery error is told by kind, address, operation and sentence, with the stack of what was thrown alone", async () => {
  const system = createSystem({ clock: createManualClock(0), logger: { warn() {}, error() {} } });
  const ref = system.spawn("fragile", Fragile, () => ({
    break() {},
    ask() {
      throw new Error("deep inside");
    },
  }));
  const error = (await ref.ask("ask", "x"))._unsafeUnwrapErr();
  CONSOLE_LOG.error("It did not go on.", { cause: new StreamError(error) });
  const [line, ...frames] = onlyText().split("\n");
  expect(line).toBe("It did not go on. kind=handler-failed address=@(fragile) operation=ask Error: deep inside");
  expect(frames[0]).toStartWith("    at ask (");
  expect(frames.every((each) => each.startsWith("    at "))).toBe(true);
});

test("a line is written whatever its details are, and looks like no other line", () => {
  const proxy = new Proxy(
    {},
    {
      get() {
        throw new Error("no");
      },
      getPrototypeOf() {
        throw new Error("no");
      },
    },
  );
  const circle: unknown[] = [];
  circle.push(circle);
  const looped = new Error("again");
  looped.cause = looped;
  for (const cause of ["text", 7, null, undefined, proxy, looped, 1n]) CONSOLE_LOG.warn("It failed", { cause });
  CONSOLE_LOG.warn("a\nb\u001b[2J", { "na\nme": "c\nd\u001b[2J", circle, big: 1n });
  expect(written).toHaveLength(8);
  expect(written.at(-1)).toEqual(["a b\\u001b[2J na me=c\\u000ad\\u001b[2J circle=(cannot be shown) big=1"]);
});
