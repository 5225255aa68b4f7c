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

/** Options of the trusted tier. */
export interface TrustedOptions {
  /** Most runs at once; a further one gets `busy`. */
  readonly size: number;
  readonly clock: Clock;
}

/**
 * Runs code in this process as if it were the host's own, without isolation. The code can see and change all that the host
 * can, and `memory` does not limit it. Code that loops without an `await` blocks the process for as long as it likes; its
 * timeout is reported afterwards. If its time is up while it waits, the timeout is reported at once, and the code goes on in
 * the background. A rejected promise that it leaves unhandled is one of the process: Bun prints it, and exits with status 1.
 */
export function createTrusted(options: TrustedOptions): Tier {
  return new Trusted(options);
}

class Trusted implements Tier, Home {
  readonly isolation = "trusted";
  readonly clock: Clock;
  readonly waiting = new Set<TrustedRun>();
  readonly programs = null; // Places in other programs are not in the caller's source.
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

  /** A run with its own `Math` or `Date` gets a room that no other run enters. */
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

  /** Makes only the arguments that the code can reach: a console costs 0.2 µs. */
  #begin(run: Run, { code, url, hasConsole, hasTools, hasProgress }: Compiled): Ended | Promise<Ended> {
    const active = new TrustedRun(run, this, url);
    const tools = hasTools ? toolsFor(active) : undefined;
    const progress = hasProgress ? progressFor(active) : undefined;
    const console = hasConsole ? consoleFor(active) : undefined;
    return active.begin(code, tools, progress, console);
  }
}

// Separate functions: closures inside `#begin` would cost every run, even one that does not use them.
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
