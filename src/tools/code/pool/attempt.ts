import type { Clock, ClockTimer } from "../../../index";
import type { Program, RunClock } from "../tier";
import { MOST_CALLS, REFUSALS } from "../tools/call-refusals";
import type { ActiveRun } from "./active-run";
import type { News } from "./channel";
import type { PooledProcess } from "./pooled-process";

/**
 * Milliseconds for a run to end by itself after its timeout, which spares its process. They count from the timeout, not from
 * the timer that reports it late, so the delays do not add up. A run that is told late still has `LEAST_GRACE`.
 */
const GRACE = 40;
const LEAST_GRACE = 10;
/**
 * More milliseconds for a process that holds a session, after the asker was told. A busy machine may not have let the
 * process run yet, and killing it loses everything that the session kept.
 */
const GRACE_OF_SESSION = 500;
/** Most bytes on the channel for a byte of a log or value. It is escaped twice, since a value is a text in a text. */
const INFLATION = 12;
/** Bytes that a process may write about a run beside its output: an error, and news of waiting. */
const BESIDE = 512 * 1024;
/** The same for a byte of a request, which is escaped once. */
const REQUEST_INFLATION = 6;
/** Longest answer, in UTF-16 code units. The process must be able to hold it as a string, together with the next words. */
const LONGEST_ANSWER = 512 * 1024 * 1024;
/** Bytes that each call adds to the allowance, for the news that code waits for its answer. */
const PER_CALL = 64;

/** The file name of a run's program, and the programs behind the names in its stacks. */
export interface Naming {
  readonly file: string;
  programOf(file: string): Program | undefined;
}

/** A random whole number below 2^47. `node:crypto` has one too, but takes 7 ms to load. */
function unguessable(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0x7fff) * 2 ** 32 + low;
}

/** A run in a process, from its order to its end. */
export class Attempt {
  readonly active: ActiveRun;
  /** True once the process has said anything about it. */
  isHeard = false;
  /** Not to be guessed, so that no process can answer an order before it comes. */
  readonly #number = unguessable();
  readonly #process: PooledProcess;
  readonly #clock: Clock;
  readonly #naming: Naming;
  /** Milliseconds left of the run's time at the beginning. */
  readonly #timeout: number;
  readonly #began: number;
  readonly #elapsedBefore: number;
  /** Calls without an answer so far. */
  readonly #open = new Map<number, CallClock>();
  /** The number of open calls that have stopped the clock. */
  #stopped = 0;
  /** Bytes that the process may still write, not counting calls. */
  #left: number;
  #isWaiting = false;
  #isOver = false;
  #isKept = false;
  #grace: ClockTimer | undefined;

  constructor(active: ActiveRun, process: PooledProcess, clock: Clock, naming: Naming) {
    const { timeout, maxOutput } = active.run;
    this.active = active;
    this.#process = process;
    this.#clock = clock;
    this.#naming = naming;
    this.#began = clock.monotonicTime();
    this.#elapsedBefore = active.time.elapsed;
    this.#timeout = Math.max(timeout - this.#elapsedBefore, 0);
    this.#left = maxOutput * INFLATION + BESIDE;
  }

  /** Sends the order and starts the run's clock. False if the process is gone; nothing has begun then. */
  begin(isKept: boolean): boolean {
    this.#isKept = isKept;
    const { program, input, memory, maxOutput, seed, now, calls } = this.active.run;
    const order = {
      number: this.#number,
      file: this.#naming.file,
      body: program.body,
      declares: program.declares,
      timeout: this.#timeout,
      memory,
      maxOutput,
      isKept,
      ...(input !== undefined && { input }),
      ...(seed !== undefined && { seed }),
      ...(now !== undefined && { now }),
      ...(calls !== undefined && { tools: calls.tools }),
    };
    // Started before sending: the woken process may take the processor from this thread just then.
    this.#go();
    if (!this.#process.send(["run", order])) {
      this.active.time.halt();
      return false;
    }
    const request = calls === undefined ? 0 : maxOutput * REQUEST_INFLATION;
    this.#process.longestLine = Math.max(this.#left, request);
    this.active.attempts++;
    return true;
  }

  /** Handles news of the process. `broken` if it broke the protocol and can be trusted no more. */
  hear(news: News, bytes: number): "under way" | "over" | "broken" {
    this.isHeard = true;
    const { active } = this;
    this.#left -= news[0] === "call" ? -PER_CALL : bytes;
    if (this.#left < 0) {
      active.fail("output-limit");
      return "broken";
    }
    switch (news[0]) {
      case "end":
        if (news[1] !== this.#number) return "broken";
        this.close();
        active.end(news[2], this.#naming.programOf);
        return "over";
      case "call":
        return this.#call(news[1], news[2]) ? "under way" : "broken";
      case "waiting":
        this.#isWaiting = true;
        this.#update();
        return "under way";
      case "log":
      case "progress":
        if (active.isSettled) return "under way";
        if (news[0] === "log" ? active.log(news[1], news[2], news[3]) : active.progress(news[1])) return "under way";
        active.fail("output-limit");
        return "broken";
      default:
        return "broken";
    }
  }

  /** Tells the run to end as `timeout`. A process that does not obey is killed. */
  stop(): void {
    if (this.#grace !== undefined || this.#isOver) return;
    this.#process.send(["stop", this.#number]);
    const { time, run } = this.active;
    const late = Math.max(time.elapsed - run.timeout, 0);
    this.#grace = this.#clock.setTimer(() => this.#giveUp(), Math.max(GRACE - late, LEAST_GRACE));
  }

  /** Called when the run or its process is over. Drops open calls. */
  close(): void {
    this.#isOver = true;
    this.#grace?.cancel();
    this.active.time.halt();
    this.#open.clear();
  }

  #giveUp(): void {
    this.active.fail("timeout");
    if (this.#isKept) this.#grace = this.#clock.setTimer(() => this.#process.kill(), GRACE_OF_SESSION);
    else this.#process.kill();
  }

  #go(): void {
    this.active.time.go(this.active.run.timeout, () => this.stop());
  }

  #call(id: number, request: string): boolean {
    const { calls, maxOutput } = this.active.run;
    if (calls === undefined || this.#open.has(id) || this.#open.size >= MOST_CALLS) return false;
    if (Buffer.byteLength(request) > maxOutput) return false;
    // A call that comes too late is never answered.
    if (this.#grace !== undefined || this.active.isSettled) return true;
    // A process that keeps the protocol reads an answer before it counts a call as closed, so it never exceeds this.
    if (this.#open.size + this.#process.unread >= MOST_CALLS) {
      this.active.fail(
        "crashed",
        `The code made more than ${MOST_CALLS} calls of tools without reading their answers.`,
      );
      return false;
    }
    const clock = new CallClock((by) => {
      if (this.#open.get(id) !== clock) return;
      this.#stopped += by;
      this.#update();
    });
    this.#open.set(id, clock);
    void calls.call(request, clock).then((text) => {
      if (this.#isOver) return;
      clock.close();
      this.#open.delete(id);
      // The code now has something to do, until it reports that it waits again.
      this.#isWaiting = false;
      this.#update();
      const paused = this.#clock.monotonicTime() - this.#began - (this.active.time.elapsed - this.#elapsedBefore);
      this.#process.send(["answer", id, text.length > LONGEST_ANSWER ? REFUSALS.unanswerable : text, paused]);
    });
    return true;
  }

  /** The clock stands still while the code only waits, and an open call has stopped the clock. */
  #update(): void {
    const stands = this.#isWaiting && this.#stopped > 0;
    const { time } = this.active;
    if (this.#grace !== undefined || time.isStanding === stands) return;
    if (stands) time.halt();
    else this.#go();
  }
}

/** The run's clock for one call, which may stop it more than once. The answer starts a clock that the call left stopped. */
class CallClock implements RunClock {
  readonly #change: (by: number) => void;
  #stops = 0;

  constructor(change: (by: number) => void) {
    this.#change = change;
  }

  stop(): void {
    if (this.#stops++ === 0) this.#change(1);
  }

  start(): void {
    if (this.#stops > 0 && --this.#stops === 0) this.#change(-1);
  }

  close(): void {
    if (this.#stops > 0) this.#change(-1);
    this.#stops = 0;
  }
}
