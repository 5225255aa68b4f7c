import { describe, expect, test } from "bun:test";
import { complaints, isAsBefore } from "../../../benchmarks/stress/overload";
import type { Overload } from "../../../benchmarks/stress/results";
import { overload, window } from "./sample";

const slow = { count: 30_000, p50: 1, p95: 9.1, p99: 20, p999: 30, max: 40 };

test("a window is as before with hardly any errors and a p95 near what it was", () => {
  const before = window(100);
  expect(isAsBefore(window(100), before)).toBe(true);
  expect(isAsBefore(window(100, { latency: { ...slow, p95: 8.9 } }), before)).toBe(true);
  expect(isAsBefore(window(100, { latency: slow }), before)).toBe(false);
  expect(isAsBefore(window(100, { ok: 29_700 }), before)).toBe(true);
  expect(isAsBefore(window(100, { ok: 29_600 }), before)).toBe(false);
});

describe("what should hold past the break is told when it does not:", () => {
  test("nothing, when all held", () => expect(complaints(overload)).toEqual([]));
  const cases: [string, Partial<Overload>, string][] = [
    [
      "no refusal",
      { during: [window(100, { ok: 0, errors: { unanswered: 30_000 } })] },
      "However much was asked for, nothing was refused",
    ],
    ["no return", { after: window(100, { latency: slow }) }, "After the load fell, the p95 was 9.1 ms"],
    ["a heap that grows", { heap: { ...overload.heap, during: [12e6, 40e6] } }, "The heap went on growing"],
    ["a heap that stays", { heap: { ...overload.heap, after: 30e6 } }, "The heap had 8.0 MB before, and 30.0 MB after"],
    ["lost messages", { audit: { ...overload.audit, handled: 80_999 } }, "The audit does not balance"],
    [
      "messages that wait for ever",
      { audit: { ...overload.audit, dead: 18_998, queued: 2 } },
      "2 messages wait or run",
    ],
  ];
  for (const [name, changes, sentence] of cases) {
    test(name, () => expect(complaints({ ...overload, ...changes })).toEqual([expect.stringContaining(sentence)]));
  }
});
