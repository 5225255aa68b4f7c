import type { Clock } from "../../../index";
import type { Ended, Room, Run } from "../tier";
import { ActiveRun } from "./active-run";
import { ProgramFiles } from "./program-file";
import type { Gone, Seat, SeatOwner } from "./seat";

/** Gives a room its process. */
export interface RoomHost {
  /** Gives the room a process or refuses it, now or later. `isAgain` if the room was given a dead process before. */
  claim(room: PooledRoom, isAgain: boolean): void;
  /** The room is closed or lost, and needs no process any more. */
  forget(room: PooledRoom): void;
}

/** Options of a room. */
export interface RoomOptions {
  readonly clock: Clock;
  readonly memory: number;
  /** Most runs that wait for their turn. */
  readonly maxWaiting: number;
}

const LOST = "The process of this session has ended, and what the session kept is gone; open another one.";
const CLOSED = "The session was closed.";

/** A room with a process of its own, from its first run on. */
export class PooledRoom implements Room, SeatOwner {
  isLost = false;
  readonly #host: RoomHost;
  readonly #options: RoomOptions;
  readonly #files = new ProgramFiles();
  readonly #waiting: ActiveRun[] = [];
  /** The current run, also if its asker gave up and it has not ended yet. */
  #running: ActiveRun | undefined;
  #seat: Seat | undefined;
  #exited: Promise<unknown> | undefined;
  #isClosed = false;

  constructor(host: RoomHost, options: RoomOptions) {
    this.#host = host;
    this.#options = options;
  }

  run(run: Run): Promise<Ended> {
    const { clock, memory, maxWaiting } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Ended>();
    const active = new ActiveRun(withMemory(run, memory), clock, resolve, (aborted) => this.#abandon(aborted));
    if (this.#isClosed) active.fail("stopped", CLOSED);
    else if (this.isLost) active.fail("crashed", LOST);
    else if (this.#waiting.length >= maxWaiting + (this.#running === undefined ? 1 : 0)) {
      active.fail("busy", `${maxWaiting} runs wait in this session already; ask again later.`);
    } else if (!active.isSettled) {
      this.#waiting.push(active);
      this.#next();
    }
    return promise;
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#fail("stopped", CLOSED);
      this.#seat?.hold(true);
      this.#seat?.kill();
      this.#host.forget(this);
    }
    await this.#exited;
  }

  inspect(): { readonly processes: number; readonly running: number; readonly waiting: number } {
    const seat = this.#seat;
    return {
      processes: seat === undefined ? 0 : 1,
      running: seat?.running === undefined ? 0 : 1,
      waiting: this.#waiting.length,
    };
  }

  /** Takes over a process in which nothing has run. */
  take(seat: Seat): void {
    this.#seat = seat;
    this.#exited = seat.exited;
    seat.owner = this;
    seat.isUsed = false;
    seat.hold(false);
    this.#next();
  }

  /** Fails all runs: there is no process for this room. */
  refuse(message: string): void {
    this.#fail("unavailable", message);
  }

  free(): void {
    this.#running = undefined;
    this.#next();
  }

  gone(seat: Seat, { unbegun }: Gone): void {
    const running = this.#running;
    this.#seat = undefined;
    this.#running = undefined;
    if (this.#isClosed) return;
    // If nothing has run there, nothing is lost.
    if (!seat.isUsed && running === unbegun) {
      if (unbegun !== undefined) this.#waiting.unshift(unbegun);
      this.#next(true);
      return;
    }
    this.isLost = true;
    running?.fail("crashed", LOST);
    this.#fail("crashed", LOST);
    this.#host.forget(this);
  }

  #next(isAgain = false): void {
    const [active] = this.#waiting;
    if (active === undefined || this.#running !== undefined) return;
    if (this.#seat === undefined) {
      this.#host.claim(this, isAgain);
      return;
    }
    const { program } = active.run;
    const naming = { file: this.#files.nameOf(program), programOf: (file: string) => this.#files.programOf(file) };
    // If that fails, `gone` has been called already.
    if (!this.#seat.run(active, naming, true)) return;
    this.#running = active;
    this.#waiting.shift();
  }

  #abandon(active: ActiveRun): void {
    const index = this.#waiting.indexOf(active);
    if (index >= 0) this.#waiting.splice(index, 1);
    else this.#seat?.abandon(active);
  }

  #fail(kind: "crashed" | "stopped" | "unavailable", message: string): void {
    this.#running?.fail(kind, message);
    for (const active of this.#waiting.splice(0)) active.fail(kind, message);
  }
}

/** Reads the fields one by one: a spread would skip those that are getters of the run's class. */
function withMemory(
  { program, input, timeout, maxOutput, signal, seed, now, calls, onLog, onProgress }: Run,
  memory: number,
): Run {
  const run = {
    program,
    input,
    timeout,
    memory,
    maxOutput,
    signal,
    ...(seed !== undefined && { seed }),
    ...(now !== undefined && { now }),
  };
  return { ...run, ...(calls && { calls }), ...(onLog && { onLog }), ...(onProgress && { onProgress }) };
}
