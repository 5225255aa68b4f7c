import type { Clock } from "../../../index";
import { consoleOf } from "../console";
import { tableText } from "../console-table";
import type { Ended, Program, Room, Run, Tier } from "../tier";
import { toolsInCode } from "../tools/tools-in-code";
import { type Compiled, compile } from "./compiled";
import { type Failure, failure } from "./ended";
import { display } from "./recorder";
import { tableOf } from "./table";
import { TrustedRoom } from "./trusted-room";
import { type Home, TrustedRun } from "./trusted-run";

/** How trusted code runs. */
export interface TrustedOptions {
  /** How many may be under way at once; one more is told `busy`. */
  readonly size: number;
  readonly clock: Clock;
}

/**
 * Runs code in this process, as if it were the host's own: no isolation. It sees and changes all that the host can,
 * `memory` does not hold it, and one that loops without an `await` holds up the process for as long as it likes; that it
 * took too long is told then. One whose time is up while it waits is told so at once, and goes on behind. A rejected promise
 * that it leaves unhandled is one of the process: Bun prints it, and ends with status 1.
 */
export function createTrusted(options: TrustedOptions): Tier {
  return new Trusted(options);
}

class Trusted implements Tier, Home {
  readonly isolation = "trusted";
  readonly clock: Clock;
  readonly waiting = new Set<TrustedRun>();
  readonly programs = null; // Another program's places are not its caller's.
  readonly #size: number;
  readonly #compiled = new WeakMap<Program, Compiled | Failure>();
  readonly #rooms = new Set<TrustedRoom>();
  /** Runs that have a room of their own. */
  #apart = 0;

  constructor({ size, clock }: TrustedOptions) {
    this.#size = size;
    this.clock = clock;
  }

  run(run: Run): Ended | Promise<Ended> {
    if (run.seed !== undefined || run.now !== undefined) return this.#alone(run);
    const { program } = run;
    let compiled = this.#compiled.get(program);
    if (compiled === undefined) {
      compiled = compile(program);
      this.#compiled.set(program, compiled);
    }
    if ("kind" in compiled) return compiled;
    if (this.#isFull) return this.#refuse();
    return this.#begin(run, compiled);
  }

  get #isFull(): boolean {
    return this.waiting.size + this.#apart >= this.#size;
  }

  #refuse(): Failure {
    return failure("busy", `${this.#size} runs are under way already; ask again later.`);
  }

  /** A run with names of its own has a room, which nobody else enters. */
  #alone(run: Run): Ended | Promise<Ended> {
    if (this.#isFull) return this.#refuse();
    const room = this.open();
    this.#apart++;
    const leave = (): void => {
      this.#apart--;
      void room.close();
    };
    const ended = room.run(run);
    if (ended instanceof Promise) return ended.finally(leave);
    leave();
    return ended;
  }

  open(): Room {
    const room = new TrustedRoom(this.clock, () => this.#rooms.delete(room));
    this.#rooms.add(room);
    return room;
  }

  inspect() {
    let [running, waiting] = [this.waiting.size, 0];
    for (const room of this.#rooms) {
      running += room.running;
      waiting += room.queued;
    }
    return { processes: 0, idle: 0, running, waiting };
  }

  async dispose(): Promise<void> {
    for (const active of this.waiting) active.abandon("The code actor was stopped before the code had ended.");
    await Promise.all(Array.from(this.#rooms, (room) => room.close()));
  }

  /** What the code cannot get at is not made: a console costs 0.2 µs. */
  #begin(run: Run, { code, url, hasConsole, hasTools, hasProgress }: Compiled): Ended | Promise<Ended> {
    const active = new TrustedRun(run, this, url);
    const tools = hasTools ? toolsFor(active) : undefined;
    const progress = hasProgress ? progressFor(active) : undefined;
    const console = hasConsole ? consoleFor(active) : undefined;
    return active.begin(code, tools, progress, console);
  }
}

// Functions of their own, since each run would pay for closures in one that makes them.
const toolsFor = (active: TrustedRun) => {
  const { calls } = active.run;
  return calls === undefined ? undefined : toolsInCode(tableOf(calls), (request) => active.call(request));
};
const progressFor = (active: TrustedRun) => (value: unknown) => active.recorder.progress(value);
const consoleFor = (active: TrustedRun) =>
  consoleOf(
    { show: display, tell: (level, text) => active.recorder.add(level, text), now: () => active.now },
    tableText,
  )[0];
