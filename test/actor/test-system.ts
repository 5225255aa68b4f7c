import { afterEach, expect } from "bun:test";
import {
  type Audit,
  createRouter,
  createSystem,
  type DeadLetter,
  type Logger,
  type Router,
  type Supervision,
  type System,
  type SystemOptions,
} from "../../src/index";
import { createManualClock, type ManualClock } from "../../src/testing/index";

/** One line that was logged. */
export interface LogEntry {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly details: object | undefined;
}

/** A router on a clock that stands still, and what it said so far. */
export interface TestRouter {
  readonly router: Router;
  readonly clock: ManualClock;
  /** All that died, in order. */
  readonly deadLetters: readonly DeadLetter[];
  /** What was logged since the last call. A test that leaves some untaken fails. */
  takeLog(): LogEntry[];
}

export interface TestSystem extends TestRouter {
  readonly system: System;
}

export type TestOptions = Omit<SystemOptions, "clock" | "logger">;

/** Handlers that fail are what many of these tests are about; how that is supervised has tests of its own. */
const supervision: Supervision = { decide: () => "resume" };

/**
 * Call it once at the top of a test file. After each test it holds every system that the test made to P1 (the audit
 * balances), to P6 (no timer is left once all asks have settled), and to what was logged being expected.
 */
export function testSystems(): {
  createTestSystem(options?: TestOptions): TestSystem;
  createTestRouter(options?: TestOptions): TestRouter;
} {
  let made: TestRouter[] = [];

  afterEach(async () => {
    const checked = made;
    made = [];
    for (const { router, clock, deadLetters, takeLog } of checked) {
      await clock.settle();
      if (deadLetters.some((letter) => !letter.asked)) await clock.advance(1_000); // The window of their log closes.
      expect({ logged: takeLog() }).toEqual({ logged: [] });
      expectBalance(router.audit());
      expect({ timers: clock.timers }).toEqual({ timers: 0 });
    }
  });

  const observe = (router: Router, clock: ManualClock, entries: LogEntry[]): TestRouter => {
    const deadLetters: DeadLetter[] = [];
    router.deadLetters.subscribe((letter) => deadLetters.push(letter));
    const observed = { router, clock, deadLetters, takeLog: () => entries.splice(0) };
    made.push(observed);
    return observed;
  };

  return {
    createTestSystem(options = {}) {
      const clock = createManualClock();
      const entries: LogEntry[] = [];
      const system = createSystem({ supervision, ...options, clock, logger: recordIn(entries) });
      return { system, ...observe(system.router, clock, entries) };
    },
    createTestRouter(options = {}) {
      const clock = createManualClock();
      const entries: LogEntry[] = [];
      return observe(createRouter({ supervision, ...options, clock, logger: recordIn(entries) }), clock, entries);
    },
  };
}

/** P1: what was accepted is what became of it. */
export function expectBalance(audit: Audit): void {
  const { accepted, handled, failed, dead, queued, running } = audit;
  expect({ ...audit, accepted: handled + failed + dead + queued + running }).toEqual({ ...audit, accepted });
}

/** A logger that writes into a list. */
export const recordIn = (entries: LogEntry[]): Logger => ({
  warn: (message, details) => void entries.push({ level: "warn", message, details }),
  error: (message, details) => void entries.push({ level: "error", message, details }),
});

/** Why each letter died. */
export const reasonsOf = (letters: readonly DeadLetter[]): string[] => letters.map((letter) => letter.reason);
