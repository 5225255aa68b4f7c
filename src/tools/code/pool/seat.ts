import type { Clock, ClockTimer } from "../../../index";
import type { ChildProgram } from "../child-program";
import type { ActiveRun } from "./active-run";
import { Attempt, type Naming } from "./attempt";
import type { News } from "./channel";
import type { Hold } from "./confine";
import { PooledProcess } from "./pooled-process";
import { holdingsOf } from "./resident";

/** Options of the processes of a pool. */
export interface SeatOptions {
  /** The program of each process. */
  readonly program: ChildProgram;
  readonly clock: Clock;
  /** The bounds that a process must have, or nothing runs in it. Default: none. */
  readonly needs?: readonly Hold[];
  /** True lets the host check the memory and threads of a process, and end one that has too much. Default: false. */
  readonly watchMemory?: boolean;
  /** True stops a process while it is idle, so that nothing a run has left goes on. Default: false. */
  readonly standsStill?: boolean;
}

/** The owner of a seat. */
export interface SeatOwner {
  /** A run may begin there: the process has started, or its last run is over. */
  free(seat: Seat): void;
  /** Its process is gone. Called once, and nothing is called after it. */
  gone(seat: Seat, how: Gone): void;
}

/** The end of a process. */
export interface Gone {
  /** True if it was not ready yet. `reason` is then the process's own message, `fault` the error of the start. */
  readonly isEarly: boolean;
  readonly reason?: string;
  readonly fault?: string;
  /** True if somebody else killed it. */
  readonly isStruck: boolean;
  /** A run that has presumably not begun, and is to run elsewhere. */
  readonly unbegun?: ActiveRun;
}

/** Milliseconds that a process has to start. */
const STARTUP = 20_000;
/** Idle milliseconds before a process is stopped. Any sooner, the next run would pay for two signals (30 µs). */
const REST = 10;
/** Milliseconds between two checks of a process's memory. */
const LOOK = 10;
/** Most threads of a process: they cost memory of the kernel. An engine has some for each processor. */
const MOST_THREADS = 256;
/** Most processes that a run is given to, if each was killed before it said anything about the run. */
const MOST_ATTEMPTS = 2;

/** A process for one run after the other, from before its start to its end. */
export class Seat {
  owner: SeatOwner;
  readonly #options: SeatOptions;
  readonly #process: PooledProcess;
  #state: "starting" | "idle" | "running" | "gone" = "starting";
  #attempt: Attempt | undefined;
  #startup: ClockTimer;
  #look: ClockTimer | undefined;
  /** The timer that stops the process. */
  #rest: ClockTimer | undefined;
  #isStanding = false;
  #reason: string | undefined;
  /** Bytes of memory that the process had before anything ran. */
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

  /** True once anything has run there. */
  isUsed = false;
  /** The turn of its pool at which it last became free. */
  turn = 0;

  get isStarting(): boolean {
    return this.#state === "starting";
  }

  /** The current run, unless it is settled already. */
  get running(): ActiveRun | undefined {
    const active = this.#attempt?.active;
    return active?.isSettled === true ? undefined : active;
  }

  get exited(): Promise<number> {
    return this.#process.exited;
  }

  /** Begins a run. False if the process is gone; the owner has been told then. */
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

  /** Ends a run whose asker gave up, if it runs here. */
  abandon(active: ActiveRun): void {
    if (this.#attempt?.active === active) this.#attempt.stop();
  }

  /** Keeps the host alive while somebody waits for the process. */
  hold(isAwaited: boolean): void {
    if (isAwaited) this.#process.hold();
    else this.#process.release();
  }

  /** Ends the process at once. Its owner is told before this returns. */
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
    // It was probably killed while it was idle.
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
