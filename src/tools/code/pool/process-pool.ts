import type { Ended, Isolation, Room, Run, Tier } from "../tier";
import { ActiveRun } from "./active-run";
import { PooledRoom, type RoomHost } from "./pooled-room";
import { FILE } from "./program-file";
import { type Gone, Seat, type SeatOptions, type SeatOwner } from "./seat";

/** Options of a pool. */
export interface PoolOptions extends SeatOptions {
  readonly isolation: Isolation;
  /** The number of processes that it keeps. Each runs one program at a time. The processes of rooms come on top. */
  readonly size: number;
  /** Most runs that wait for a process. Further ones end as `busy`. */
  readonly maxWaiting: number;
  /** The advice to give if a process reports that it cannot work here. */
  readonly remedy: string;
  /** True ends a process after its run, and another takes its place. Does not apply to rooms. Default: false. */
  readonly isSingleUse?: boolean;
}

/** Failed starts in a row before all waiting runs fail. A process that somebody killed counts a tenth. */
const MOST_FAILURES = 3;
const STOPPED = "The code actor was stopped.";

/** Runs programs in processes that are kept ready. They keep the host alive only while something runs or waits. */
export class ProcessPool implements Tier, SeatOwner, RoomHost {
  readonly #options: PoolOptions;
  readonly #seats = new Set<Seat>();
  /**
   * The process that has been idle for longest comes first. The last one is taken: its caches and machine code are the
   * warmest. It may still be restoring its memory, but that takes less than a tenth of the run's time.
   */
  readonly #idle = new Set<Seat>();
  readonly #leaving = new Set<Promise<unknown>>();
  readonly #waiting: ActiveRun[] = [];
  readonly #rooms = new Set<PooledRoom>();
  /** Rooms that wait for a process. Only a process that became free after the given turn may serve the room. */
  readonly #claims = new Map<PooledRoom, number>();
  /** The number of times that a process became free. */
  #turn = 0;
  /** The number of processes in a row that ended before they were ready, and the reason that the last one gave. */
  #failures = 0;
  #reason: string | undefined;
  /** Set when the last process could not be started at all: the error code. */
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
    if (this.#isDisposed) active.fail("stopped", STOPPED);
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
    for (const active of this.#waiting.splice(0)) active.fail("stopped", STOPPED);
    for (const room of [...this.#rooms]) void room.close();
    for (const seat of [...this.#seats]) {
      seat.running?.fail("stopped", STOPPED);
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
      // Later, because a kill takes the host 80 µs, and the asker should have its answer first.
      this.#options.clock.macrotask(() => seat.kill());
      return;
    }
    seat.turn = ++this.#turn;
    this.#idle.add(seat);
    this.#serve();
    if (this.#turn === 1) this.#refill(); // The first process is ready: start the others.
  }

  /** @internal A process has ended. */
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
      // The killer may have killed other processes without our notice yet, so no process that is idle now may take the run.
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
    // Runs that will be served by a starting process do not count as waiting. Each waiting room takes one such start.
    const served = Math.max(this.#starting + size - this.#seats.size, 0);
    if (this.#waiting.length > served + maxWaiting) {
      this.#waiting.pop();
      const message = `All ${size} processes are at work and ${maxWaiting} runs wait already; ask again later, or make the pool larger.`;
      active.fail("busy", message);
    } else {
      this.#refill();
    }
  }

  /** Gives idle processes to waiting rooms, then to waiting runs, first come, first served. */
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

  /** Starts processes. Later if nothing waits: a start takes the host about 1 ms, and would delay other answers. */
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

  /** Starts missing processes. Until the first is ready, only as many as are waited for: more would delay the first. */
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

  /** Starting processes keep the host alive while somebody waits for one. */
  #hold(): void {
    const isAwaited = this.#waiting.length > 0 || this.#claims.size > 0;
    for (const seat of this.#seats) if (seat.isStarting) seat.hold(isAwaited);
  }
}
