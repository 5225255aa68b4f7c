import { afterEach, expect } from "bun:test";
import {
  type ActorReport,
  type Audit,
  createRouter,
  type DeadLetter,
  type Logger,
  type Router,
  type Supervision,
} from "../../src/index";
import {
  createManualClock,
  createTestSystem,
  type LogEntry,
  type ManualClock,
  type TestSystem,
  type TestSystemOptions,
} from "../../src/testing/index";

export type { LogEntry, TestSystem };
export type TestOptions = TestSystemOptions;

/** A router on a clock that stands still, and what it said so far. */
export interface TestRouter {
  readonly router: Router;
  readonly clock: ManualClock;
  /** All that died, in order. */
  readonly deadLetters: readonly DeadLetter[];
  /** What was logged since the last call. A test that leaves some untaken fails. */
  takeLog(): LogEntry[];
}

/** Handlers that fail are what many of these tests are about; how that is supervised has tests of its own. */
const supervision: Supervision = { decide: () => "resume" };

/**
 * Call it once at the top of a test file. At each dead letter and after each test it holds every system that the test made to
 * P1 (the audit balances), after the test to P6 (no timer is left once all asks have settled, also before a shutdown), and to what was logged being
 * expected. Handlers that never end are what many of these tests are about, too: they may be left.
 */
export function testSystems(): {
  createTestSystem(options?: TestOptions): TestSystem;
  createTestRouter(options?: TestOptions): TestRouter;
} {
  let checks: (() => Promise<void>)[] = [];

  afterEach(async () => {
    const due = checks;
    checks = [];
    for (const check of due) await check();
  });

  return {
    createTestSystem(options = {}) {
      const test = createTestSystem({ supervision, ...options });
      holdAtEachLetter(test.router);
      checks.push(() => endOf(test));
      return test;
    },
    createTestRouter(options = {}) {
      const clock = createManualClock();
      const entries: LogEntry[] = [];
      const deadLetters: DeadLetter[] = [];
      const router = createRouter({ supervision, ...options, clock, logger: recordIn(entries) });
      router.deadLetters.subscribe((letter) => deadLetters.push(letter));
      holdAtEachLetter(router);
      checks.push(async () => {
        await clock.settle();
        expect({ logged: entries }).toEqual({ logged: [] });
        expectBalance(router.audit());
        expect({ timers: clock.heldTimers }).toEqual({ timers: 0 });
      });
      return { router, clock, deadLetters, takeLog: () => entries.splice(0) };
    },
  };
}

/** P1 at this very moment: what it throws is logged, and so fails the test. */
function holdAtEachLetter(router: Router): void {
  router.deadLetters.subscribe(() => expectBalance(router.audit()));
}

async function endOf({ system, router, clock, finish, expectUnfinished }: TestSystem): Promise<void> {
  await clock.settle();
  expectBalance(router.audit());
  expect({ timers: clock.heldTimers }).toEqual({ timers: 0 });
  for (const report of unfinishedIn(system.inspect())) await expectUnfinished(report);
  await finish();
}

const unfinishedIn = (reports: readonly ActorReport[]): ActorReport[] =>
  reports.flatMap((report) => [
    ...(report.queued > 0 || !["idle", "restarting", "held"].includes(report.state) ? [report] : []),
    ...unfinishedIn(report.children),
  ]);

/** P1: what was accepted is what became of it. */
export function expectBalance(audit: Audit): void {
  const { accepted, handled, failed, dead, sent = 0, queued, running } = audit;
  expect({ ...audit, accepted: handled + failed + dead + sent + queued + running }).toEqual({ ...audit, accepted });
}

/** A logger that writes into a list. */
export const recordIn = (entries: LogEntry[]): Logger => ({
  warn: (message, details) => void entries.push({ level: "warn", message, details }),
  error: (message, details) => void entries.push({ level: "error", message, details }),
});

/** Why each letter died. */
export const reasonsOf = (letters: readonly DeadLetter[]): string[] => letters.map((letter) => letter.reason);
