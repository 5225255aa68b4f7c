import { expect, test } from "bun:test";
import { type CodeExecutionOptions, limitsOf } from "../../../src/tools/code/options";

/** The error for options of a caller who ignores the types; "none" if they are accepted. */
function fault(options: unknown): string {
  try {
    limitsOf(options as CodeExecutionOptions);
  } catch (error) {
    return String(error);
  }
  return "none";
}

test("every option has a default, and the safe one", () => {
  expect(limitsOf({})).toEqual({
    isolation: "sandbox",
    languages: ["javascript", "typescript"],
    timeout: 5_000,
    memory: 64 * 1024 * 1024,
    maxInputBytes: 1024 * 1024,
    maxOutput: 1024 * 1024,
    concurrency: navigator.hardwareConcurrency,
    maxWaiting: 1_000,
    maxSessions: 16,
    sessionIdle: 300_000,
    maxPrograms: 1_000,
  });
  const limits = { timeout: 1, memory: 2, maxInputBytes: 3, maxOutput: 3, concurrency: 4, maxWaiting: 0 };
  const kept = { maxSessions: 0, sessionIdle: 5, maxPrograms: 6, approve: () => true };
  const all = { isolation: "trusted", languages: ["typescript"], ...limits, ...kept } as const;
  expect(limitsOf(all)).toEqual(all);
  expect(fault({ ...all, name: "n", phase: 1, capacity: 2 })).toBe("none");
});

test("an option that cannot be one is refused with what to write", () => {
  for (const options of [null, "trusted", 7]) expect(fault(options)).toContain("{ timeout: 1_000 }");
  expect(fault({ timeOut: 1 })).toMatch(/no option "timeOut".*timeout/);
  const counts = [
    "timeout",
    "memory",
    "maxInputBytes",
    "maxOutput",
    "concurrency",
    "maxWaiting",
    "maxSessions",
    "sessionIdle",
    "maxPrograms",
  ];
  for (const key of counts) {
    for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null, 1n]) {
      expect(fault({ [key]: value })).toContain(`RangeError: The ${key} of a code actor is a whole number`);
    }
  }
  expect(fault({ timeout: 0 })).toContain("from 1");
  expect(fault({ maxInputBytes: 2 ** 30 })).toContain("536870912 at most");
  for (const isolation of ["none", "", null, 1]) expect(fault({ isolation })).toContain("sandbox, process, trusted");
  for (const languages of [null, [], "javascript", ["python"], ["javascript", "javascript"], [["javascript"]]]) {
    expect(fault({ languages })).toContain("a list of javascript or typescript, each once");
  }
  for (const tools of [null, 1, [], { a: 1 }, { "a b": 1 }, { files: { ref: 1, operations: [] } }]) {
    expect(fault({ tools })).toMatch(/^TypeError: (The|A) tool/);
  }
  expect(fault({ toolLimits: { calls: 0 } })).toContain("toolLimits.calls");
  expect(fault({ toolLimits: { call: 1 } })).toContain("calls, bytes, time");
  for (const approve of [true, null, {}]) expect(fault({ approve })).toContain("(request) => true");
});
