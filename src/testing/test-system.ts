import {
  type AnyRef,
  type AnySignatures,
  type Clock,
  createSystem,
  type DeadLetter,
  type FailedEvent,
  type Protocol,
  quote,
  type Router,
  type Supervision,
  type System,
  type SystemEvent,
  type SystemOptions,
} from "../index";
import { doingOf, findingsOf, isUnfinished, reportsOf } from "./findings";
import { detailOf, fits, type LogEntry, recordIn } from "./log";
import { createManualClock, isManual, type ManualClock, ownPartOf } from "./manual-clock";
import { createProbe, type Probe } from "./probe";
import { listed, showThrown } from "./show";

/** The options of a test system: those of any system, except `logger`. */
export interface TestSystemOptions extends Omit<SystemOptions, "clock" | "logger"> {
  /**
   * A clock that several systems share, such as those of a link (`createLink`): a test that moves it moves all of them. Default: a
   * clock of its own.
   */
  readonly clock?: ManualClock;
}

/**
 * A system on a clock that stands still, with a record of its events, dead letters and log. It may be destructured:
 * `const { system, advance } = createTestSystem()`.
 */
export interface TestSystem extends AsyncDisposable {
  readonly system: System;
  /** The system's router. */
  readonly router: Router;
  readonly clock: ManualClock;
  /** All events so far, in order. */
  readonly events: readonly SystemEvent[];
  /** All dead letters so far, in order. */
  readonly deadLetters: readonly DeadLetter[];
  /** Lets everything that is ready run, without time passing: `clock.settle()`. */
  settle(): Promise<void>;
  /** Lets `milliseconds` pass, timer by timer: `clock.advance()`. */
  advance(milliseconds: number): Promise<void>;
  /**
   * Spawns an actor that records its messages. Default name: `probe-1`, and so on.
   *
   * @example
   * const log = test.createProbe(Log);
   */
  createProbe<Signatures>(protocol: Protocol<string, Signatures>, name?: string): Probe<Signatures>;
  /** Registers a probe that takes any message, for messages sent by a router. */
  createProbe(name?: string): Probe<AnySignatures>;
  /** Takes the log lines that were neither taken nor expected so far. They count as expected now. */
  takeLog(): LogEntry[];
  /** Takes the failures that were not expected so far, also those that an asker was told of. They count as expected now. */
  takeFailures(): FailedEvent[];
  /**
   * Expects a failure: the oldest one that fits and was not expected so far. Its log lines, and the failures of the
   * supervisors to which it escalated, are expected with it.
   *
   * @param of the actor that failed. Default: any actor.
   * @param message a text in the thrown error's `name: message`, or a pattern for it. Default: anything.
   * @returns the failure, once the system has settled.
   * @throws Error when there is none. The error lists the other failures.
   * @example
   * const { error } = await test.expectFailure(worker, "no such file");
   */
  expectFailure(of?: AnyRef, message?: string | RegExp): Promise<FailedEvent>;
  /**
   * Expects a log line, such as that of a dead letter: the oldest one that fits and was not expected so far.
   *
   * @throws Error when there is none. The error lists the other lines.
   * @example
   * await test.expectLogged("dead letter (stopped)");
   */
  expectLogged(message: string | RegExp): Promise<LogEntry>;
  /**
   * Expects an actor to have unfinished work at the end of the test: a handler that never ends, or messages that wait.
   *
   * @throws Error when the actor has no unfinished work.
   */
  expectUnfinished(of: AnyRef): Promise<void>;
  /**
   * Ends the test: shuts the system down, on the manual clock. `await using` calls it by itself; a second call does
   * nothing. An `onStop` that waits for the machine, as a code actor's does for its processes, gets two seconds of real time.
   *
   * @throws Error that lists everything the test did not expect: a log line (so each failure that no sender was told of, and
   * each that no supervisor handled), a message that waits or is still being handled (so each pending ask), a timer that is
   * left, an audit that does not balance.
   */
  finish(): Promise<void>;
}

/**
 * Makes a system for a test, which ends by `finish()` or `await using`. It works with any test runner: it throws what it
 * finds. If the test's code throws and the end finds something too, `await using` makes a SuppressedError of the two, which
 * Bun prints without either. `withTestSystem` shows both.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * test("a worker reports", async () => {
 *   await using test = createTestSystem();
 *   const log = test.createProbe(Log);
 *   const worker = test.system.spawn("worker", Worker, createWorker(log.ref));
 *   worker.tell("work", 2);
 *   await log.expectMessage("write", "2 done");
 * });
 */
export function createTestSystem(options: TestSystemOptions = {}): TestSystem {
  checkTestOptions(options);
  const { clock = createManualClock() } = options;
  const own = options.clock === undefined ? clock : ownPartOf(clock);
  const entries: LogEntry[] = [];
  const events: SystemEvent[] = [];
  const failures: FailedEvent[] = [];
  const deadLetters: DeadLetter[] = [];
  const probes = new Set<AnyRef>();
  /** The addresses of living probes. Another actor may get the address of one that has stopped. */
  const probed = new Set<AnyRef["address"]>();
  const mayBeUnfinished = new Set<AnyRef["address"]>();
  let isFinished = false;

  const wired: SystemOptions & { readonly clock: Clock } = { ...options, clock: own, logger: recordIn(entries) };
  const system = createSystem({ ...wired, ...sparing(probes, options.supervision) });
  system.router.deadLetters.subscribe((letter) => deadLetters.push(letter));
  system.events.subscribe((event) => {
    events.push(event);
    // A probe fails on request only.
    if (event.kind === "failed" && !probed.has(event.address)) failures.push(event);
    else if (event.kind === "stopped") probed.delete(event.address);
  });

  const dropLinesOf = (failure: FailedEvent): void => {
    const index = entries.findIndex(
      (entry) => detailOf(entry, "address") === failure.address && Object.is(detailOf(entry, "cause"), failure.error),
    );
    if (index >= 0) entries.splice(index, 1);
  };

  const finish = async (): Promise<void> => {
    if (isFinished) return;
    isFinished = true; // Comes first, so that `await using` does not throw the same findings again.
    const findings = await findingsOf({ system, clock: own, entries, mayBeUnfinished });
    if (findings.length === 0) return;
    throw new Error(`The test has left what it did not expect:${listed(findings, "")}`);
  };

  return {
    system,
    router: system.router,
    clock,
    events,
    deadLetters,
    settle: () => clock.settle(),
    advance: (milliseconds) => clock.advance(milliseconds),
    createProbe<Signatures>(
      first?: Protocol<string, Signatures> | string,
      second?: string,
    ): Probe<Signatures> & Probe<AnySignatures> {
      const protocol = typeof first === "string" ? undefined : first;
      const name = (typeof first === "string" ? first : second) ?? `probe-${probes.size + 1}`;
      const probe = createProbe({ system, clock, entries }, protocol, name);
      probes.add(probe.ref);
      probed.add(probe.ref.address);
      // By the overloads of the interface, a probe with a protocol has its signatures, and one without takes anything.
      return probe as unknown as Probe<Signatures> & Probe<AnySignatures>;
    },
    takeLog: () => entries.splice(0),
    takeFailures() {
      const taken = failures.splice(0);
      for (const failure of taken) dropLinesOf(failure);
      return taken;
    },
    async expectFailure(of, message) {
      await clock.settle();
      const index = failures.findIndex(
        ({ address, error }) => (of === undefined || address === of.address) && fits(showThrown(error), message),
      );
      const failure = failures[index];
      if (failure === undefined) {
        const wanted = `${of?.address ?? "An actor"} was expected to fail${message === undefined ? "" : ` with ${message}`}`;
        throw new Error(`${wanted}, and did not. Failures:${listed(failures.map(ofFailure), "none")}`);
      }
      let next: FailedEvent | undefined = failure;
      while (next !== undefined) {
        failures.splice(index, 1);
        dropLinesOf(next);
        const after: FailedEvent | undefined = failures[index];
        const isPassedUp: boolean = next.directive === "escalate" && !next.isUnhandled;
        next = isPassedUp && Object.is(after?.error, failure.error) ? after : undefined;
      }
      return failure;
    },
    async expectLogged(message) {
      await clock.settle();
      const index = entries.findIndex((entry) => fits(entry.message, message));
      const [entry] = index < 0 ? [] : entries.splice(index, 1);
      if (entry !== undefined) return entry;
      const lines = entries.map(({ level, message: text }) => `${level}: ${text}`);
      throw new Error(`A log line with ${message} was expected, and none came. Logged:${listed(lines, "nothing")}`);
    },
    async expectUnfinished({ address }) {
      await clock.settle();
      const report = [...reportsOf(system.inspect())].find((it) => it.address === address);
      if (report === undefined) throw new Error(`${address} was expected to be unfinished, and has stopped.`);
      if (!isUnfinished(report)) throw new Error(`${address} was expected to be unfinished, and ${doingOf(report)}.`);
      mayBeUnfinished.add(address);
    },
    finish,
    [Symbol.asyncDispose]: finish,
  };
}

function checkTestOptions(options: TestSystemOptions): void {
  if (options.clock !== undefined && !isManual(options.clock)) {
    throw new TypeError(
      "A test system is on a clock that the test moves, of createManualClock(): leave clock out, and use test.clock.",
    );
  }
  if (Object.hasOwn(options, "logger")) {
    throw new TypeError(
      "A test system keeps its log, because a line that the test did not expect fails it: leave logger out, and use test.takeLog().",
    );
  }
}

/**
 * Wraps the code of a test, for any runner. The code gets a test system, which ends after it. If the code throws, the runner
 * gets that error, with the findings of the end as its `cause`.
 *
 * @throws nothing itself: the function that it returns rejects with the error of the code, or with the findings of the end.
 * @example
 * test("a worker reports", withTestSystem(async ({ system, createProbe }) => {
 *   …
 * }));
 */
export function withTestSystem(
  body: (test: TestSystem) => unknown,
  options: TestSystemOptions = {},
): () => Promise<void> {
  return async () => {
    const test = createTestSystem(options);
    try {
      await body(test);
    } catch (thrown) {
      const found = await test.finish().catch((error: unknown) => error);
      const canTell = thrown instanceof Error && Object.isExtensible(thrown) && thrown.cause === undefined;
      if (canTell && found !== undefined) thrown.cause = found;
      throw thrown;
    }
    await test.finish();
  };
}

/** Changes the supervision so that a probe goes on after it failed on purpose. */
function sparing(probes: ReadonlySet<AnyRef>, supervision: Supervision = {}): { supervision?: Supervision } {
  if (typeof supervision !== "object" || supervision === null) return {}; // The system refuses it.
  const { decide = () => "restart" } = supervision;
  if (typeof decide !== "function") return {};
  return {
    supervision: {
      ...supervision,
      decide: (error, child) => (probes.has(child) ? "resume" : decide(error, child)),
    },
  };
}

const ofFailure = ({ address, operation, error, directive }: FailedEvent): string =>
  `${address} in ${quote(operation)}: ${showThrown(error)} (${directive})`;
