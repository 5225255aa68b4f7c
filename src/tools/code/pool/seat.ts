import type { Clock, ClockTimer } from "../../../index";
import type { ChildProgram } from "../child-program";
import type { ActiveRun } from "./active-run";
import { Attempt, type Naming } from "./attempt";
import type { News } from "./channel";
import type { Hold } from "./confine";
import { PooledProcess } from "./pooled-process";
import { holdingsOf } from "./resident";

/** How the processes of a pool are. */
export interface SeatOptions {
  /** What each of its processes runs. */
  readonly program: ChildProgram;
  readonly clock: Clock;
  /** What has to hold a process, or nothing runs in it. Default: nothing. */
  readonly needs?: readonly Hold[];
  /** Whether the host looks at what memory and threads a process has, and ends one that has more than it may. Default: false. */
  readonly watchMemory?: boolean;
  /** Whether a process stands still while it is idle, so that nothing goes on which a run has left. Default: false. */
  readonly standsStill?: boolean;
}

/** Who has a seat. */
export interface SeatOwner {
  /** A run may begin there: it has started, or a run there is over. */
  free(seat: Seat): void;
  /** Its process is gone: told once, and nothing after it. */
  gone(seat: Seat, how: Gone): void;
}

/** How a process went. */
export interface Gone {
  /** Whether it had not yet said that it is ready; then, what it said instead, or why it could not be started. */
  readonly isEarly: boolean;
  readonly reason?: string;
  readonly fault?: string;
  /** Whether somebody else killed it. */
  readonly isStruck: boolean;
  /** A run that it can be taken not to have begun: it is to run elsewhere. */
  readonly unbegun?: ActiveRun;
}

/** Milliseconds that a process has to start. */
const STARTUP = 20_000;
/** Milliseconds after which one that is idle stands still; sooner, what comes next would pay for two signals (30 µs). */
const REST = 10;
/** Milliseconds between two looks at the memory of a process. */
const LOOK = 10;
/** How many threads a process may have, which the kernel's own memory pays for; an engine has some for each processor. */
const MOST_THREADS = 256;
/** How often a run is given to a process at most, where those before were killed before anything was heard of it. */
const MOST_ATTEMPTS = 2;

/** A process in which one run after the other may be, from before it has started. */
export class Seat {
  owner: SeatOwner;
  readonly #options: SeatOptions;
  readonly #process: PooledProcess;
  #state: "starting" | "idle" | "running" | "gone" = "starting";
  #attempt: Attempt | undefined;
  #startup: ClockTimer;
  #look: ClockTimer | undefined;
  /** Until it stands still. */
  #rest: ClockTimer | undefined;
  #isStanding = false;
  #reason: string | undefined;
  /** Bytes of memory that it had before anything ran. */
  #base = 0;

  constructor(owner: SeatOwner, options: SeatOptions) {
    this.owner = owner;
    this.#options = options;
    this.#process = new PooledProcess(
      { news: (news, bytes) => this.#hear(news, bytes), ended: (isStruck, fault) => this.#end(isStruck, fault) },
      options.program,
    );
    this.#startup = options.clock.setTimer(() => this.#process.kill(), STARTUP);
    this.#startup.unref();
  }

  /** Whether a run was there that is over. */
  isUsed = false;
  /** When it became free last, as its pool counts. */
  turn = 0;

  get isStarting(): boolean {
    return this.#state === "starting";
  }

  /** What runs there and has somebody who waits for it. */
  get running(): ActiveRun | undefined {
    const active = this.#attempt?.active;
    return active?.isSettled === true ? undefined : active;
  }

  get exited(): Promise<number> {
    return this.#process.exited;
  }

  /** False where the process is found to be gone, which the owner was told. */
  run(active: ActiveRun, naming: Naming, isKept: boolean): boolean {
    this.#rouse();
    const attempt = new Attempt(active, this.#process, this.#options.clock, naming);
    if (!attempt.begin(isKept)) {
      this.#process.kill();
      return false;
    }
    this.#attempt = attempt;
    this.#state = "running";
    this.#process.hold();
    if (this.#options.watchMemory === true) this.#watch(active);
    return true;
  }

  /** Ends a run that nobody waits for any more, if it is here. */
  abandon(active: ActiveRun): void {
    if (this.#attempt?.active === active) this.#attempt.stop();
  }

  /** Whether somebody waits for it, which keeps the host alive. */
  hold(isAwaited: boolean): void {
    if (isAwaited) this.#process.hold();
    else this.#process.release();
  }

  /** Ends it at once; its owner is told before this returns. */
  kill(): void {
    this.#process.kill();
  }

  #hear(news: News, bytes: number): void {
    if (this.#state === "running" && this.#attempt !== undefined) {
      const course = this.#attempt.hear(news, bytes);
      this.isUsed = true;
      if (course === "over") this.#free();
      else if (course === "broken") this.#process.kill();
    } else if (this.#state === "starting" && news[0] === "ready") {
      const lacks = this.#options.needs?.filter((hold) => !news[1].includes(hold)) ?? [];
      if (lacks.length > 0) {
        this.#reason = `this machine does not hold its processes by ${lacks.join(", ")}`;
        this.#process.kill();
        return;
      }
      this.#startup.cancel();
      if (this.#options.watchMemory === true) this.#base = holdingsOf(this.#process.pid)?.bytes ?? 0;
      this.#free();
    } else {
      if (this.#state === "starting" && news[0] === "unavailable") this.#reason = news[1];
      this.#process.kill();
    }
  }

  #free(): void {
    this.#attempt = undefined;
    this.#look?.cancel();
    this.#state = "idle";
    if (this.isUsed && this.#options.standsStill === true) this.#settle();
    this.#process.release();
    this.owner.free(this);
  }

  #settle(): void {
    this.#rest = this.#options.clock.setTimer(() => {
      this.#isStanding = true;
      this.#process.stand();
    }, REST);
    this.#rest.unref();
  }

  #rouse(): void {
    this.#rest?.cancel();
    if (this.#isStanding) this.#process.goOn();
    this.#isStanding = false;
  }

  #watch(active: ActiveRun): void {
    this.#look = this.#options.clock.setTimer(() => {
      const { bytes, threads } = holdingsOf(this.#process.pid) ?? { bytes: 0, threads: 0 };
      if (bytes - this.#base > active.run.memory || threads > MOST_THREADS) {
        if (threads > MOST_THREADS) active.fail("crashed", `The code started more than ${MOST_THREADS} threads.`);
        else active.fail("out-of-memory");
        this.#process.kill();
      } else {
        this.#watch(active);
      }
    }, LOOK);
  }

  #end(isStruck: boolean, fault?: string): void {
    const attempt = this.#attempt;
    const isEarly = this.#state === "starting";
    const reason = this.#reason;
    this.#state = "gone";
    this.#attempt = undefined;
    this.#startup.cancel();
    this.#look?.cancel();
    this.#rest?.cancel();
    attempt?.close();
    const active = attempt?.active;
    // Killed while it was idle, as far as one can tell.
    const isUnbegun = isStruck && attempt?.isHeard === false && !attempt.active.isSettled;
    const unbegun = isUnbegun && attempt.active.attempts < MOST_ATTEMPTS ? attempt.active : undefined;
    this.owner.gone(this, {
      isEarly,
      isStruck,
      ...(reason !== undefined && { reason }),
      ...(fault !== undefined && { fault }),
      ...(unbegun !== undefined && { unbegun }),
    });
    if (unbegun === undefined) active?.fail("crashed", "The process of the run ended before the run did.");
  }
}
