import { type ActorReport, type Address, type Audit, quote, type System, systemClock } from "../index";
import { detailOf, type LogEntry } from "./log";
import type { ManualClock } from "./manual-clock";

/** The longest time that the shutdown at a test's end may take, in milliseconds of the manual clock. */
const SHUTDOWN = 5_000;

/** Looks at an `onStop` that has not ended, and the time between two looks, in milliseconds of the machine's clock. */
const LOOKS = 400;
const BETWEEN = 5;

/** The parts of a test system that are checked at its end. */
export interface Checked {
  readonly system: System;
  readonly clock: ManualClock;
  readonly entries: LogEntry[];
  /** The actors that may have unfinished work. */
  readonly mayBeUnfinished: ReadonlySet<Address>;
}

/** Ends a system and finds what the test did not expect: one sentence each. */
export async function findingsOf({ system, clock, entries, mayBeUnfinished }: Checked): Promise<string[]> {
  await settleStops(system, clock);
  const findings = entries.splice(0).map(ofEntry);
  const unfinished = [...reportsOf(system.inspect())].filter(isUnfinished);
  for (const report of unfinished) if (!mayBeUnfinished.has(report.address)) findings.push(ofUnfinished(report));

  let isDown = false;
  void system.shutdown({ timeout: SHUTDOWN }).then(() => {
    isDown = true;
  });
  await clock.settle();
  if (!isDown) {
    await clock.advance(SHUTDOWN - 1);
    await settleStops(system, clock);
    await clock.advance(1);
  }
  if (!isDown && unfinished.length === 0) findings.push("The shutdown that the test began has not ended.");
  // Unfinished actors are found above, or expected. Log lines about abandoning them and their messages only follow from that.
  const follows = (entry: LogEntry): boolean =>
    unfinished.length > 0 &&
    (detailOf(entry, "unfinished") !== undefined || unfinished.some((it) => it.address === detailOf(entry, "address")));
  findings.push(
    ...entries
      .splice(0)
      .filter((entry) => !follows(entry))
      .map(ofEntry),
  );
  findings.push(...ofAudit(system.router.audit()));
  if (clock.heldTimers > 0) findings.push(ofTimers(clock.heldTimers));
  return findings;
}

/**
 * Lets everything that is ready run, without time passing. An `onStop` may wait for something that the test's clock does not
 * move, such as the end of a process. It gets two seconds of the machine's time; without one that runs, nothing is waited for.
 */
async function settleStops(system: System, clock: ManualClock): Promise<void> {
  await clock.settle();
  for (let looks = 0; looks < LOOKS && isStopping(system); looks++) {
    await new Promise<void>((resolve) => void systemClock.setTimer(resolve, BETWEEN));
    await clock.settle();
  }
}

const isStopping = (system: System): boolean =>
  [...reportsOf(system.inspect())].some(({ current }) => current.some(({ operation }) => operation === "onStop"));

/** The actors of a tree, parents first. */
export function* reportsOf(reports: readonly ActorReport[]): Iterable<ActorReport> {
  for (const report of reports) {
    yield report;
    yield* reportsOf(report.children);
  }
}

/** True when a settled actor has work that does not end. Waiting for a restart, held back or not, is no such work. */
export const isUnfinished = ({ queued, current, state }: ActorReport): boolean =>
  queued > 0 || current.length > 0 || !["idle", "restarting", "held"].includes(state);

/** An actor's present and waiting work, as the end of a sentence. */
export function doingOf({ state, current, queued }: ActorReport): string {
  const running = current.map(({ operation, age }) => `${quote(operation)} (for ${age} ms)`);
  const doing = running.length > 0 ? `handles ${running.join(", ")}` : `is ${state}`;
  return queued === 0 ? doing : `${doing}, and ${queued} ${queued === 1 ? "message waits" : "messages wait"}`;
}

const ofEntry = ({ level, message }: LogEntry): string =>
  `Logged (${level}): ${message}\n    Expect it by expectFailure(), expectLogged() or takeLog().`;

const ofUnfinished = (report: ActorReport): string =>
  `${report.address} still ${doingOf(report)}: who asked still waits, or its handler hangs.\n` +
  "    Let it come to its end, or say that it is meant: expectUnfinished(ref).";

function ofAudit(audit: Audit): string[] {
  const { accepted, handled, failed, dead, sent = 0, queued, running } = audit;
  if (accepted === handled + failed + dead + sent + queued + running) return [];
  return [`The audit does not balance: ${JSON.stringify(audit)}. Each accepted message has one outcome.`];
}

const ofTimers = (count: number): string =>
  `${count} ${count === 1 ? "timer is" : "timers are"} left on the clock after the shutdown: cancel what was set by clock.setTimer().`;
