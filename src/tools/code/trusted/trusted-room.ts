import type { Clock } from "../../../index";
import { consoleOf } from "../console";
import { tableText } from "../console-table";
import { fixedDate, randomOf } from "../repeat";
import type { Ended, Program, Room, Run } from "../tier";
import { toolsInCode } from "../tools/tools-in-code";
import { type Compiled, compile, type Scope } from "./compiled";
import { type Failure, failure } from "./ended";
import { display } from "./recorder";
import { tableOf } from "./table";
import { type Home, TrustedRun } from "./trusted-run";

/** Most programs whose places a room can find in a stack. Places in older programs are left out. */
const MOST_PROGRAMS = 1_000;
const CLOSED = "The session was ended before the code had.";

/**
 * A room within this process. One scope object around all its programs holds their declarations. Console, tools and progress
 * belong to the room: a function of an earlier run then logs, and calls tools, for the run that calls it.
 */
export class TrustedRoom implements Room, Home {
  readonly isLost = false; // It has no process that could end without this one.
  readonly clock: Clock;
  readonly waiting = new Set<TrustedRun>();
  readonly programs = new Map<string, Program>();
  queued = 0;
  readonly #onClose: () => void;
  readonly #scope: Scope = Object.create(null) as Scope; // An empty object is a record.
  readonly #compiled = new WeakMap<Program, Compiled | Failure>();
  readonly #progress = (value: unknown) => this.#current?.recorder.progress(value);
  readonly #beginConsole: () => void;
  /** The `Date` that stands still. */
  #date: DateConstructor | undefined;
  #current: TrustedRun | null = null;
  /** The latest run that has not ended. */
  #last: Promise<unknown> | null = null;
  #isClosed = false;

  constructor(clock: Clock, onClose: () => void) {
    this.clock = clock;
    this.#onClose = onClose;
    // The console is in the scope, where a declaration of the same name can replace it.
    const tell = (level: number, text: string): void => this.#current?.recorder.add(level, text);
    const [console, begin] = consoleOf({ show: display, tell, now: () => clock.monotonicTime() }, tableText);
    this.#scope["console"] = console;
    this.#beginConsole = begin;
  }

  get running(): number {
    return this.waiting.size;
  }

  run(run: Run): Ended | Promise<Ended> {
    const before = this.#last;
    const ended = before === null ? this.#begin(run) : this.#follow(before, run);
    if (ended instanceof Promise) {
      this.#last = ended;
      void ended.then(() => {
        if (this.#last === ended) this.#last = null;
      });
    }
    return ended;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onClose();
    this.#current?.abandon(CLOSED);
    await this.#last;
  }

  async #follow(before: Promise<unknown>, run: Run): Promise<Ended> {
    this.queued++;
    await before;
    this.queued--;
    return this.#begin(run);
  }

  #begin(run: Run): Ended | Promise<Ended> {
    if (this.#isClosed) return failure("stopped", CLOSED);
    if (run.signal.aborted) return failure("stopped", "Its asker gave up, or the code actor was stopped.");
    const compiled = this.#compile(run.program);
    if ("kind" in compiled) return compiled;
    for (const name of run.program.declares) if (!(name in this.#scope)) this.#scope[name] = undefined;
    const { code } = compiled; // Taken out of its object, so that its `this` is that of any function.
    const active = new TrustedRun(run, this, compiled.url);
    this.#current = active;
    this.#beginConsole();
    this.#repeat(run);
    const tools =
      compiled.hasTools && run.calls !== undefined
        ? toolsInCode(tableOf(run.calls), (request) => this.#call(request))
        : undefined;
    const ended = active.begin(code, tools, this.#progress, undefined);
    if (ended instanceof Promise) return ended.finally(() => this.#leave());
    this.#leave();
    return ended;
  }

  /** Replaces names in the scope only: the host's own `Math` and `Date` are shared. */
  #repeat({ seed, now }: Run): void {
    const scope = this.#scope;
    if (seed !== undefined) {
      scope["Math"] = Object.defineProperties({}, Object.getOwnPropertyDescriptors(Math));
      Object.assign(scope["Math"] as Math, { random: randomOf(seed) });
    }
    if (now !== undefined) this.#date = scope["Date"] = fixedDate(Date, now);
    else if (this.#date !== undefined && scope["Date"] === this.#date) delete scope["Date"];
  }

  #leave(): void {
    this.#current = null;
  }

  #call(request: string): Promise<string> {
    return this.#current?.call(request) ?? new Promise(() => {});
  }

  #compile(program: Program): Compiled | Failure {
    const known = this.#compiled.get(program);
    if (known !== undefined) return known;
    const compiled = compile(program, this.#scope);
    this.#compiled.set(program, compiled);
    if ("url" in compiled) this.programs.set(compiled.url, program);
    const [oldest] = this.programs.keys();
    if (this.programs.size > MOST_PROGRAMS && oldest !== undefined) this.programs.delete(oldest);
    return compiled;
  }
}
