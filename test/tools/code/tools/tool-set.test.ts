import { afterAll, describe, expect, test } from "bun:test";
import { createRouter, createSystem, defineProtocol, Type } from "../../../../src";
import { toolLimitsOf } from "../../../../src/tools/code/tools/tool-limits";
import { ToolSet, type Tools } from "../../../../src/tools/code/tools/tool-set";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
const system = createSystem();
const counter = system.spawn("counter", Counter, () => ({ add() {}, total: () => 1, *ticks() {} }));
afterAll(() => system.shutdown());

describe("tools", () => {
  test("a reference gives all that its protocol has, each asked or streamed", () => {
    const set = new ToolSet({ counter });
    expect(JSON.parse(set.table)).toEqual({ counter: { add: "ask", total: "ask", ticks: "stream" } });
    expect(set.find("counter", "add")?.operation.name).toBe("add");
  });

  test("a part of a reference gives that part, and nothing else is found", () => {
    const set = new ToolSet({ read: { ref: counter, operations: ["total"] }, $all_1: counter });
    expect(JSON.parse(set.table)).toEqual({
      read: { total: "ask" },
      $all_1: { add: "ask", total: "ask", ticks: "stream" },
    });
    for (const [tool, operation] of [
      ["read", "add"],
      ["read", "constructor"],
      ["__proto__", "total"],
      ["constructor", "name"],
      ["counter", "total"],
    ] as const) {
      expect(set.find(tool, operation)).toBeUndefined();
    }
  });

  test("what is changed in the options afterwards changes nothing", () => {
    const operations = ["total"];
    const set = new ToolSet({ counter: { ref: counter, operations } });
    operations.push("add");
    expect(set.find("counter", "add")).toBeUndefined();
  });

  test("what can be no tool is refused with what to write", () => {
    const router = createRouter();
    const registered = router.register("@(plain)" as never, () => 1) as never;
    const cases: readonly [unknown, string][] = [
      [null, "an object of references"],
      [[counter], "an object of references"],
      [{ "my-files": counter }, '"my-files": write a name'],
      [{ "1st": counter }, '"1st"'],
      [{ "": counter }, '""'],
      [JSON.parse('{ "__proto__": 1 }'), '"__proto__"'],
      [{ constructor: counter }, '"constructor"'],
      // biome-ignore lint/suspicious/noThenProperty: it is what is refused.
      [{ then: counter }, '"then"'],
      [{ counter: null }, 'The tool "counter" is no reference'],
      [{ counter: () => 1 }, 'The tool "counter" is no reference'],
      [{ counter: { ref: {}, operations: ["add"] } }, 'The tool "counter" is no reference'],
      [{ counter: { ref: counter } }, 'a list of names, such as ["read"]'],
      [{ counter: { ref: counter, operations: [] } }, "a list of names"],
      [{ counter: { ref: counter, operations: ["sub"] } }, 'no operation "sub"; write some of add, total, ticks'],
      [{ counter: { ref: counter, operations: ["toString"] } }, 'no operation "toString"'],
      [{ counter: { ref: counter, operations: [1] } }, "no operation 1"],
      [{ plain: registered }, "has no protocol"],
    ];
    for (const [tools, sentence] of cases) {
      expect(() => new ToolSet(tools as Tools)).toThrow(TypeError);
      expect(() => new ToolSet(tools as Tools)).toThrow(sentence);
    }
  });

  test("limits have defaults, and what can be none is refused", () => {
    expect(toolLimitsOf()).toEqual({ calls: 1_000, bytes: 16 * 1024 * 1024, time: 30_000 });
    expect(toolLimitsOf({ calls: 5 })).toEqual({ calls: 5, bytes: 16 * 1024 * 1024, time: 30_000 });
    expect(() => toolLimitsOf({ time: 0 })).toThrow("toolLimits.time is a whole number from 1; got 0.");
    expect(() => toolLimitsOf({ bytes: Number.POSITIVE_INFINITY })).toThrow(RangeError);
    expect(() => toolLimitsOf({ call: 1 } as never)).toThrow("There is no toolLimits.call; write one of calls, bytes");
    expect(() => toolLimitsOf({ toString: 1 } as never)).toThrow("There is no toolLimits.toString");
    expect(() => toolLimitsOf(null as never)).toThrow(TypeError);
  });
});
