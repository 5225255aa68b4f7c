import type { Ended, Isolation, Room, Run, Tier } from "../tier";
import { ActiveRun } from "./active-run";
import { PooledRoom, type RoomHost } from "./pooled-room";
import { FILE } from "./program-file";
import { type Gone, Seat, type SeatOptions, type SeatOwner } from "./seat";

/** How a pool is made. */
export interface PoolOptions extends SeatOptions {
  readonly isolation: Isolation;
  /** How many processes it keeps, each of which runs one program at a time; those of rooms come beside them. */
  readonly size: number;
  /** How many runs wait for a process at most; further ones end as `busy`. */
  readonly maxWaiting: number;
  /** What to do where a process says that it cannot work here. */
  readonly remedy: string;
  /** Whether a process ends after its run, and another one takes its place. Not so in rooms. Default: false. */
  readonly isSingleUse?: boolean;
}

/** How often in a row a process may fail to start before those who wait are told; one that somebody killed counts a tenth. */
const MOST_FAILURES = 3;
const STOPPED = "The code actor was stopped.";

/** Runs programs in processes that it keeps ready. They keep the host alive only while something runs or waits. */
export class ProcessPool implements Tier, SeatOwner, RoomHost {
  readonly #options: PoolOptions;
  readonly #seats = new Set<Seat>();
  /**
   * Idle for longest first. The last one is taken, whose caches and machine code are the warmest: it may still put back
   * what its run changed, but that takes less than a tenth of what the run did.
   */
  readonly #idle = new Set<Seat>();
  readonly #leaving = new Set<Promise<unknown>>();
  readonly #waiting: ActiveRun[] = [];
  readonly #rooms = new Set<PooledRoom>();
  /** Rooms that wait for a process, and the turn after which that has to have become free. */
  readonly #claims = new Map<PooledRoom, number>();
  /** How often a process became free. */
  #turn = 0;
  /** How many processes in a row ended before they were ready, and what the last one said. */
  #failures = 0;
  #reason: string | undefined;
  /** Why the last one could not be started at all. */
  #fault: string | undefined;
  #isToFill = false;
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
    const active = new ActiveRun(run, this.#options.clock, resolve, (aborted) => this.#abandon(aborted));
    if (this.#isDisposed) active.fail("crashed", STOPPED);
    else if (!active.isSettled) this.#admit(active);
    return promise;
  }

  open(memory: number): Room {
    const { clock, maxWaiting } = this.#options;
    const room = new PooledRoom(this, { clock, maxWaiting, memory });
    this.#rooms.add(room);
    if (this.#isDisposed) void room.close();
    return room;
  }

  inspect(): ReturnType<Tier["inspect"]> {
    const sum = { processes: this.#seats.size, idle: this.#idle.size, running: 0, waiting: this.#waiting.length };
    for (const seat of this.#seats) if (seat.running !== undefined) sum.running++;
    for (const room of this.#rooms) {
      const { processes, running, waiting } = room.inspect();
      sum.processes += processes;
      sum.running += running;
      sum.waiting += waiting;
    }
    return sum;
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const active of this.#waiting.splice(0)) active.fail("crashed", STOPPED);
    for (const room of [...this.#rooms]) void room.close();
    for (const seat of [...this.#seats]) {
      seat.running?.fail("crashed", STOPPED);
      seat.hold(true);
      seat.kill();
    }
    await Promise.all(this.#leaving);
  }

  /** @internal A process is free for the next run. */
  free(seat: Seat): void {
    this.#failures = 0;
    const isSurplus = this.#seats.size > this.#options.size + this.#claims.size;
    if (isSurplus || (seat.isUsed && this.#options.isSingleUse === true)) {
      // Soon: that takes the host 80 µs, for which whoever waits for the answer should not have to wait.
      this.#options.clock.macrotask(() => seat.kill());
      return;
    }
    seat.turn = ++this.#turn;
    this.#idle.add(seat);
    this.#serve();
    if (this.#turn === 1) this.#refill(); // The others.
  }

  /** @internal A process is no more. */
  gone(seat: Seat, { isEarly, isStruck, reason, fault, unbegun }: Gone): void {
    this.#seats.delete(seat);
    this.#idle.delete(seat);
    if (this.#isDisposed) return;
    if (isEarly) {
      this.#reason = reason;
      this.#fault = fault;
      this.#failures += isStruck ? 0.1 : 1;
      if (reason !== undefined) this.#failures = MOST_FAILURES;
      if (this.#failures >= MOST_FAILURES) this.#giveUp();
    }
    if (unbegun !== undefined) {
      // Who killed one may have killed others, of which one does not know yet: those that are idle now are not for it.
      unbegun.after = this.#turn;
      this.#waiting.unshift(unbegun);
      this.#serve();
    }
    this.#refill();
  }

  /** @internal */
  claim(room: PooledRoom, isAgain: boolean): void {
    if (!this.#claims.has(room)) this.#claims.set(room, isAgain ? this.#turn : 0);
    this.#serve();
    this.#refill();
  }

  /** @internal */
  forget(room: PooledRoom): void {
    this.#rooms.delete(room);
    this.#claims.delete(room);
    this.#hold();
  }

  #admit(active: ActiveRun): void {
    this.#waiting.push(active);
    this.#serve();
    if (this.#waiting.length === 0) return;
    const { size, maxWaiting } = this.#options;
    // Those that are about to be served wait for a start only, of which each room that waits has one.
    const served = Math.max(this.#starting + size - this.#seats.size, 0);
    if (this.#waiting.length > served + maxWaiting) {
      this.#waiting.pop();
      const message = `All ${size} processes are at work and ${maxWaiting} runs wait already; ask again later, or make the pool larger.`;
      active.fail("busy", message);
    } else {
      this.#refill();
    }
  }

  /** Gives processes that are idle to rooms that wait, and then to runs, first come, first served. */
  #serve(): void {
    for (const seat of [...this.#idle].reverse()) {
      if (this.#waiting.length === 0 && this.#claims.size === 0) break;
      const room = this.#claimantOf(seat);
      if (room !== undefined) {
        this.#claims.delete(room);
        this.#idle.delete(seat);
        this.#seats.delete(seat);
        room.take(seat);
        this.#refill();
        continue;
      }
      const index = this.#waiting.findIndex(({ after }) => after < seat.turn);
      const [active] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (active === undefined) continue;
      this.#idle.delete(seat);
      const { program } = active.run;
      const naming = { file: FILE, programOf: (file: string) => (file === FILE ? program : undefined) };
      if (!seat.run(active, naming, false)) this.#waiting.unshift(active);
    }
    this.#hold();
  }

  #claimantOf(seat: Seat): PooledRoom | undefined {
    for (const [room, after] of this.#claims) if (after < seat.turn) return room;
    return undefined;
  }

  /** Soon: a start takes the host about a millisecond, for which nobody who waits for an answer should have to wait. */
  #refill(): void {
    if (this.#waiting.length > 0 || this.#claims.size > 0) {
      this.#fill();
    } else if (!this.#isToFill) {
      this.#isToFill = true;
      this.#options.clock.macrotask(() => {
        this.#isToFill = false;
        this.#fill();
      });
    }
  }

  /** Starts what is missing. Until one has started, only as many as are waited for: others would have it be ready later. */
  #fill(): void {
    const wanted = this.#waiting.length + this.#claims.size;
    if (this.#isDisposed || (this.#failures >= MOST_FAILURES && wanted === 0)) return;
    const all = this.#options.size + this.#claims.size;
    const most = this.#turn > 0 ? all : Math.min(Math.max(wanted, 1), all);
    while (this.#seats.size < most) {
      const seat = new Seat(this, this.#options);
      this.#seats.add(seat);
      this.#leaving.add(seat.exited);
      void seat.exited.then(() => this.#leaving.delete(seat.exited));
    }
    this.#hold();
  }

  get #starting(): number {
    let starting = 0;
    for (const seat of this.#seats) if (seat.isStarting) starting++;
    return starting;
  }

  #giveUp(): void {
    const { isolation, remedy } = this.#options;
    const reason = this.#reason;
    const fault = this.#fault === undefined ? "" : `, since the host can start none (${this.#fault}); ask again later`;
    this.#reason = undefined;
    const message =
      reason === undefined
        ? `A process of the tier "${isolation}" cannot start here${fault}.`
        : `The tier "${isolation}" cannot start: ${remedy}. (${reason})`;
    for (const active of this.#waiting.splice(0)) active.fail("unavailable", message);
    for (const room of [...this.#claims.keys()]) {
      this.#claims.delete(room);
      room.refuse(message);
    }
  }

  #abandon(active: ActiveRun): void {
    const index = this.#waiting.indexOf(active);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      this.#hold();
      return;
    }
    for (const seat of this.#seats) seat.abandon(active);
  }

  /** Those that start keep the host alive while somebody waits for one. */
  #hold(): void {
    const isAwaited = this.#waiting.length > 0 || this.#claims.size > 0;
    for (const seat of this.#seats) if (seat.isStarting) seat.hold(isAwaited);
  }
}
