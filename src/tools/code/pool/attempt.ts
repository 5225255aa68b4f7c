import type { Clock, ClockTimer } from "../../../index";
import type { Program, RunClock } from "../tier";
import { MOST_CALLS, REFUSALS } from "../tools/call-refusals";
import type { ActiveRun } from "./active-run";
import type { News } from "./channel";
import type { PooledProcess } from "./pooled-process";

/**
 * Milliseconds that a run whose time is up has to end by itself, which spares its process. They count from when its time was
 * up, however late the timer of that came, so that the two do not add up; a run that is told late still has the least.
 */
const GRACE = 40;
const LEAST_GRACE = 10;
/**
 * How much longer a process lives that holds a session, once its asker was told: a busy machine may not have let it go on
 * yet, and all that the session kept would be lost with it.
 */
const GRACE_OF_SESSION = 500;
/** Bytes that a byte of a log or value takes on the channel at most, with its escapes: twice, since a value is a text in a text. */
const INFLATION = 12;
/** Bytes that a process may write about a run beside its output: an error, and that it waits. */
const BESIDE = 512 * 1024;
/** The same of a request, which is in a text once. */
const REQUEST_INFLATION = 6;
/** Longest answer, in UTF-16 code units: as a part of another text, in which it may be twice as long, it is still one. */
const LONGEST_ANSWER = 512 * 1024 * 1024;
/** Bytes that each call allows beside it, for the news that code waits for it. */
const PER_CALL = 64;

/** What a run's program is called, and what the names in its stacks stand for. */
export interface Naming {
  readonly file: string;
  programOf(file: string): Program | undefined;
}

/** A whole number below 2^47. That of `node:crypto` would do, and takes 7 ms to load. */
function unguessable(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0x7fff) * 2 ** 32 + low;
}

/** A run in a process, from the order to the end. */
export class Attempt {
  readonly active: ActiveRun;
  /** Whether the process said anything about it. */
  isHeard = false;
  /** Not to be guessed, so that no process can have answered an order before it came. */
  readonly #number = unguessable();
  readonly #process: PooledProcess;
  readonly #clock: Clock;
  readonly #naming: Naming;
  /** What is left of the run's time. */
  readonly #timeout: number;
  readonly #began: number;
  readonly #elapsedBefore: number;
  /** Calls that were not answered yet. */
  readonly #open = new Map<number, CallClock>();
  /** How many of these have stopped the clock. */
  #stopped = 0;
  /** Bytes that the process may still write, calls aside. */
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

  /** Begins to count its time; false where the process is gone, and nothing was begun. */
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
    // Before it is sent, since this thread may have to wait just then, for the process that was woken.
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

  /** `broken` where the process said what it should not have: it is not ours any more. */
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

  /** Has it end as `timeout`; a process that does not listen is killed. */
  stop(): void {
    if (this.#grace !== undefined || this.#isOver) return;
    this.#process.send(["stop", this.#number]);
    const { time, run } = this.active;
    const late = Math.max(time.elapsed - run.timeout, 0);
    this.#grace = this.#clock.setTimer(() => this.#giveUp(), Math.max(GRACE - late, LEAST_GRACE));
  }

  /** Once it is over, or its process is: calls that are under way are dropped. */
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
    // What is asked for too late is never answered.
    if (this.#grace !== undefined || this.active.isSettled) return true;
    // Code that keeps to the agreement has no more calls open, and reads the answer before it forgets one.
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
      // From here on code has something to do, until it says that it waits again.
      this.#isWaiting = false;
      this.#update();
      const paused = this.#clock.monotonicTime() - this.#began - (this.active.time.elapsed - this.#elapsedBefore);
      this.#process.send(["answer", id, text.length > LONGEST_ANSWER ? REFUSALS.unanswerable : text, paused]);
    });
    return true;
  }

  /** The clock stands still while code only waits, and a call that it waits for has stopped it. */
  #update(): void {
    const stands = this.#isWaiting && this.#stopped > 0;
    const { time } = this.active;
    if (this.#grace !== undefined || time.isStanding === stands) return;
    if (stands) time.halt();
    else this.#go();
  }
}

/** The run's clock as one call sees it, which may stop it more than once; what it forgot to start goes on with its answer. */
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
