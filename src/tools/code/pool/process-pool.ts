import { randomInt } from "node:crypto";
import type { Clock, ClockTimer } from "../../../index";
import type { Ended, Isolation, Room, Run, Tier } from "../tier";
import { ActiveRun } from "./active-run";
import type { News } from "./channel";
import { PooledProcess, type ProcessEvents } from "./pooled-process";

/** How a pool is made. */
export interface PoolOptions {
  readonly isolation: Isolation;
  /** The file that each of its processes runs. */
  readonly program: string;
  /** How many processes it keeps, each of which runs one program at a time. */
  readonly size: number;
  /** How many runs wait for a process at most; further ones end as `busy`. */
  readonly maxWaiting: number;
  readonly clock: Clock;
  /** What to do where a process says that it cannot work here. */
  readonly remedy: string;
}

/** Milliseconds that a process has to start. */
const STARTUP = 20_000;
/** How often in a row a process may fail to start before those who wait are told; one that somebody killed counts a tenth. */
const MOST_FAILURES = 3;

type Seat =
  | { readonly state: "starting"; readonly timer: ClockTimer }
  | { readonly state: "idle" }
  | { readonly state: "running"; readonly active: ActiveRun; readonly number: number };

/** Runs programs in processes that it keeps ready. They keep the host alive only while something runs or waits. */
export class ProcessPool implements Tier {
  readonly #options: PoolOptions;
  readonly #seats = new Map<PooledProcess, Seat>();
  readonly #leaving = new Set<Promise<unknown>>();
  readonly #waiting: ActiveRun[] = [];
  /** How many processes in a row ended before they were ready, and what the last one said. */
  #failures = 0;
  #reason: string | undefined;
  #isDisposed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#fill();
  }

  get isolation(): Isolation {
    return this.#options.isolation;
  }

  run(run: Run): Promise<Ended> {
    const { promise, resolve } = Promise.withResolvers<Ended>();
    const active = new ActiveRun(run, this.#options.clock, resolve, (aborted) => this.#abort(aborted));
    if (this.#isDisposed) active.fail("crashed", "The code actor was stopped.");
    else if (run.signal.aborted) this.#abort(active);
    else this.#admit(active);
    return promise;
  }

  open(): Room {
    throw new Error("Not there yet.");
  }

  inspect(): ReturnType<Tier["inspect"]> {
    const { processes, idle, running } = this.#count();
    return { processes, idle, running, waiting: this.#waiting.length };
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const active of this.#waiting.splice(0)) active.fail("crashed", "The code actor was stopped.");
    for (const process of [...this.#seats.keys()]) {
      process.hold();
      process.kill();
    }
    await Promise.all(this.#leaving);
  }

  #admit(active: ActiveRun): void {
    const { idle, starting } = this.#count();
    this.#waiting.push(active);
    // Those that are about to be served wait for a start only.
    const room = idle + Math.max(starting, this.#options.size - this.#seats.size) + this.#options.maxWaiting;
    if (this.#waiting.length > room) {
      this.#waiting.pop();
      const { size, maxWaiting } = this.#options;
      const message = `All ${size} processes are at work and ${maxWaiting} runs wait already; ask again later, or make the pool larger.`;
      active.fail("busy", message);
    } else {
      this.#serve();
      this.#fill();
    }
  }

  /** Gives what waits to those that are idle, first come, first served. */
  #serve(): void {
    for (const [process, { state }] of this.#seats) {
      if (state !== "idle") continue;
      const active = this.#waiting.shift();
      if (active === undefined) break;
      this.#begin(process, active);
    }
    this.#hold();
  }

  #begin(process: PooledProcess, active: ActiveRun): void {
    // Not to be guessed, so that no process can have answered an order before it came.
    const number = randomInt(2 ** 47);
    const order = active.begin(number, () => {
      active.timeOut();
      process.kill();
    });
    this.#seats.set(process, { state: "running", active, number });
    process.send(order, active.mostBytes);
  }

  #fill(): void {
    if (this.#isDisposed || (this.#failures >= MOST_FAILURES && this.#waiting.length === 0)) return;
    while (this.#seats.size < this.#options.size) {
      const events: ProcessEvents = {
        news: (from, news) => this.#hear(from, news),
        ended: (from, isStruck) => this.#replace(from, isStruck),
      };
      const process = new PooledProcess(events, this.#options.program);
      const timer = this.#options.clock.setTimer(() => process.kill(), STARTUP);
      timer.unref();
      this.#seats.set(process, { state: "starting", timer });
      this.#leaving.add(process.exited);
      void process.exited.then(() => this.#leaving.delete(process.exited));
    }
    this.#hold();
  }

  #hear(process: PooledProcess, news: News): void {
    const seat = this.#seats.get(process);
    if (seat?.state === "running" && news[0] === "log" && seat.active.log(news[1], news[2], news[3])) return;
    // A result counts once, and for the run that was begun: whoever tells anything else is not ours any more.
    if (seat?.state === "running" && news[0] === "end" && news[1] === seat.number) {
      this.#rest(process);
      seat.active.end(news[2]);
      this.#serve();
    } else if (seat?.state === "starting" && news[0] === "ready") {
      seat.timer.cancel();
      this.#failures = 0;
      this.#rest(process);
      this.#serve();
    } else {
      if (seat?.state === "starting" && news[0] === "unavailable") this.#reason = news[1];
      if (seat?.state === "running" && news[0] === "log") seat.active.exceedOutput();
      process.kill();
    }
  }

  /** Last in the order of the seats, so that who became idle first is served first. */
  #rest(process: PooledProcess): void {
    this.#seats.delete(process);
    this.#seats.set(process, { state: "idle" });
  }

  #replace(process: PooledProcess, isStruck: boolean): void {
    const seat = this.#seats.get(process);
    this.#seats.delete(process);
    if (seat?.state === "running") seat.active.fail("crashed", "The process of the run ended before the run did.");
    if (seat?.state === "starting") {
      seat.timer.cancel();
      this.#failures += isStruck ? 0.1 : 1;
      if (this.#reason !== undefined) this.#failures = MOST_FAILURES;
      if (this.#failures >= MOST_FAILURES) this.#giveUp();
    }
    this.#fill();
  }

  #giveUp(): void {
    if (this.#isDisposed) return;
    const reason = this.#reason;
    this.#reason = undefined;
    const message =
      reason === undefined
        ? `A process of the tier "${this.isolation}" cannot start here.`
        : `The tier "${this.isolation}" cannot start: ${this.#options.remedy}. (${reason})`;
    for (const active of this.#waiting.splice(0)) active.fail("unavailable", message);
  }

  #abort(active: ActiveRun): void {
    const index = this.#waiting.indexOf(active);
    if (index >= 0) this.#waiting.splice(index, 1);
    active.fail("crashed", "The run was ended because its asker gave up.");
    for (const [process, seat] of this.#seats) {
      if (seat.state === "running" && seat.active === active) process.kill();
    }
  }

  /** What somebody waits for keeps the host alive, and nothing else does. */
  #hold(): void {
    for (const [process, { state }] of this.#seats) {
      if (state === "running" || (state === "starting" && this.#waiting.length > 0)) process.hold();
      else process.release();
    }
  }

  #count(): { processes: number; idle: number; running: number; starting: number } {
    const counted = { processes: this.#seats.size, idle: 0, running: 0, starting: 0 };
    for (const { state } of this.#seats.values()) counted[state]++;
    return counted;
  }
}
