import {
  type ActorReport,
  createSystem,
  type Logger,
  type ObservedHandling,
  quote,
  type System,
  systemClock,
} from "../index";
import { createRandom, type SeededRandom } from "./seeded-random";
import { audited, closed, left } from "./simulate-checks";
import { SimulatedClock } from "./simulate-clock";
import { SeededDispatcher } from "./simulate-dispatcher";
import { FaultInjector, SimulatedFault } from "./simulate-faults";
import type { FaultCounts, Plan } from "./simulate-options";
import { flattened, nameOf, occupied, show, Trace } from "./simulate-trace";
import type { SimulatedProgram, Simulation } from "./simulation";

/** The reason why a run failed. */
export interface Failure {
  readonly sentence: string;
  readonly cause: unknown;
}

/** The result of one run. */
export interface Outcome {
  /** Null when nothing was wrong. */
  readonly failure: Failure | null;
  readonly steps: number;
  readonly faults: FaultCounts;
  readonly isUnfinished: boolean;
  readonly trace: readonly string[];
  /** True if the program requested a fault that needs an observed run. This run does not count then. */
  readonly mustBeObserved: boolean;
}

/** The program runs; its remaining work is finished; the checks of `eventually` run; the system shuts down. */
type Phase = "program" | "rest" | "checks" | "shutdown";

/** Longest time for the work that a program leaves, in milliseconds of virtual time. */
const LONGEST_REST = 3_600_000;
/** Probability that macrotasks run before the actors that are ready. */
const MACROTASK = 1 / 4;

/** One run of a program, by one seed. */
export class Run {
  readonly #plan: Plan;
  readonly #program: SimulatedProgram;
  readonly #system: System;
  /** Its own, and those that the program made. */
  readonly #systems: System[] = [];
  readonly #simulation: Simulation;
  readonly #clock = new SimulatedClock();
  readonly #schedule: SeededRandom;
  readonly #dispatcher: SeededDispatcher;
  readonly #fault: FaultInjector;
  readonly #trace: Trace;
  readonly #always: (() => void)[] = [];
  readonly #eventually: (() => unknown)[] = [];
  readonly #onStep = (): void => this.#step();
  readonly #outcome = Promise.withResolvers<Outcome>();
  #settling: (() => void)[] = [];
  #phase: Phase = "program";
  /** True once the work of this phase has ended. */
  #hasCome = false;
  #restEnds = Number.POSITIVE_INFINITY;
  #steps = 0;
  #hasHandled = false;
  #isUnfinished = false;
  #mustBeObserved = false;
  #failure: Failure | null = null;

  /**
   * @param isObserved true to see each message before its handler. The core then takes another path than in production; false
   * tries the path of production.
   * @param tell gets each line of the trace; null if no trace is kept.
   */
  constructor(
    program: SimulatedProgram,
    seed: number,
    plan: Plan,
    isObserved: boolean,
    tell: ((line: string) => void) | null,
  ) {
    this.#program = program;
    this.#plan = plan;
    // Each part draws from its own stream, so that its draws do not change those of the others.
    const streams = createRandom(seed);
    const stream = (): SeededRandom => createRandom(streams.below(2 ** 32));
    const [random, jitter] = [stream(), stream()];
    this.#schedule = stream();
    this.#trace = new Trace(tell, () => this.#steps);
    this.#fault = new FaultInjector(plan.faults, stream(), this.#clock, this.#trace, isObserved, () => {
      this.#mustBeObserved = true;
    });
    this.#dispatcher = new SeededDispatcher(stream(), this.#clock, this);
    const create = (): System => this.#createSystem(jitter, isObserved);
    this.#system = create();
    this.#fault.system = this.#system;
    this.#simulation = this.#face(seed, random, create);
  }

  /** Runs the program to its end. */
  run(): Promise<Outcome> {
    this.#await(async () => this.#program(this.#simulation));
    systemClock.macrotask(this.#onStep);
    return this.#outcome.promise;
  }

  #createSystem(jitter: SeededRandom, isObserved: boolean): System {
    const system = createSystem({
      ...this.#plan.system,
      clock: this.#clock,
      random: () => jitter.next(),
      logger: this.#logger(),
      dispatcher: ({ afterTurn }) => {
        this.#dispatcher.afterTurns.push(afterTurn);
        return this.#dispatcher;
      },
    });
    this.#systems.push(system);
    if (isObserved) {
      system.around((handling, run) => {
        if (handling.kind === "message") this.#beforeMessage(handling);
        run();
      });
    }
    system.events.subscribe((event) => {
      if (event.kind !== "failed") return;
      const { address, operation, error, directive } = event;
      this.#trace.add(`${address} failed at ${nameOf(operation)}: ${show(error)}; ${directive}`);
      if (error instanceof SimulatedFault || this.#plan.expected(event)) return;
      this.#fail(`${address} failed at ${quote(operation)}, which nobody expected: ${show(error)}`, error);
    });
    if (this.#trace.isKept) {
      system.router.deadLetters.subscribe(({ address, operation, reason }) =>
        this.#trace.add(`dead letter: ${nameOf(operation)} to ${address} (${reason})`),
      );
    }
    return system;
  }

  #face(seed: number, random: SeededRandom, createAnother: () => System): Simulation {
    const clock = this.#clock;
    return {
      system: this.#system,
      createSystem: createAnother,
      clock: clock.face,
      seed,
      random,
      fault: this.#fault,
      get now() {
        return clock.now;
      },
      advance(milliseconds) {
        if (!(milliseconds >= 0 && Number.isFinite(milliseconds))) {
          throw new RangeError(`Time goes forward: advance by 0 ms or more, and not for ever; got ${milliseconds}.`);
        }
        return new Promise((resolve) => void clock.setTimer(resolve, milliseconds, true));
      },
      settle: () => new Promise((resolve) => void this.#settling.push(resolve)),
      always: (check) => void this.#always.push(check),
      eventually: (check) => void this.#eventually.push(check),
    };
  }

  #logger(): Logger {
    const log =
      (level: string) =>
      (message: string): void =>
        this.#trace.add(`${level}: ${message}`);
    return { warn: log("warning"), error: log("error") };
  }

  // ——— Turns

  /** Called by the dispatcher. */
  before(runnable: Parameters<SeededDispatcher["schedule"]>[0]): boolean {
    const delay = this.#fault.delayOf(runnable);
    if (delay > 0) {
      this.#fault.held++;
      const release = (): void => {
        this.#fault.held--;
        this.#dispatcher.schedule(runnable);
      };
      this.#clock.setTimer(release, delay, true);
      return false;
    }
    this.#steps++;
    this.#hasHandled = false;
    return true;
  }

  /** Called by the dispatcher. */
  after({ address }: Parameters<SeededDispatcher["schedule"]>[0]): void {
    if (!this.#hasHandled && address !== undefined)
      this.#trace.add(`${address} has a turn without a message: a hook, a timer, a watch, or an ask that was given up`);
    this.#check();
  }

  #check(): void {
    for (const check of this.#always) check();
  }

  #beforeMessage(handling: ObservedHandling): void {
    this.#hasHandled = true;
    const { address, operation, payload } = handling;
    if (this.#trace.isKept) {
      this.#trace.add(`${address} ← ${nameOf(operation)}${payload === undefined ? "" : ` ${show(payload)}`}`);
    }
    this.#fault.beforeMessage(handling);
  }

  #step(): void {
    try {
      this.#dispatcher.afterTurn();
      this.#check();
      if (this.#failure === null && !this.#mustBeObserved && this.#goOn()) {
        systemClock.macrotask(this.#onStep); // Promises that were resolved go on before that.
        return;
      }
    } catch (thrown) {
      this.#fail(thrown instanceof Error ? thrown.message : show(thrown), thrown);
    }
    this.#outcome.resolve({
      failure: this.#failure,
      steps: this.#steps,
      faults: this.#fault.counts,
      isUnfinished: this.#isUnfinished,
      trace: this.#trace.lines,
      mustBeObserved: this.#mustBeObserved,
    });
  }

  /** Does the next step. Returns false when the run is over. */
  #goOn(): boolean {
    if (this.#steps > this.#plan.maxSteps) {
      this.#fail(`it has not come to an end within ${this.#plan.maxSteps} turns`, undefined);
      return false;
    }
    if (this.#fault.strike()) return true;
    const { hasReady } = this.#dispatcher;
    if (this.#clock.hasMacrotasks && (!hasReady || this.#schedule.chance(MACROTASK))) this.#clock.runMacrotasks();
    else if (hasReady) this.#dispatcher.run();
    else if (this.#settling.length > 0 && this.#fault.held === 0) this.#tellSettled();
    else return this.#rest();
    return true;
  }

  #tellSettled(): void {
    const settling = this.#settling;
    this.#settling = [];
    for (const resolve of settling) resolve();
  }

  #passTime(): void {
    this.#steps++; // A timer that sets itself again and again must reach the limit too.
    const { now } = this.#clock;
    this.#clock.fireNext();
    if (this.#clock.now > now) this.#trace.add(`time passes from ${now} to ${this.#clock.now} ms`);
  }

  // ——— Phases

  /** Called when no actor has anything to do. Lets time pass, or begins the next phase. Returns false after the last one. */
  #rest(): boolean {
    const isOver = this.#phase === "rest" ? this.#isAtRest() : this.#hasCome;
    if (!isOver && this.#clock.isAwaited) {
      this.#passTime();
      return true;
    }
    if (!isOver && this.#phase !== "rest") this.#stuck();
    if (this.#failure !== null) return false;
    switch (this.#phase) {
      case "program":
        this.#phase = "rest";
        this.#trace.add(this.#isUnfinished ? "the program cannot go on" : "the program has ended");
        this.#fault.end();
        this.#restEnds = this.#clock.now + LONGEST_REST;
        return true;
      case "rest":
        for (const system of this.#systems) left(system, this.#plan.mayStayUnfinished);
        this.#begin("checks", async () => {
          for (const check of this.#eventually) await check();
        });
        return true;
      case "checks":
        this.#begin("shutdown", async () => {
          for (const system of this.#systems) {
            const awaiting = occupied(system.inspect(), "awaiting");
            const { unfinished } = await system.shutdown();
            if (unfinished.length === 0 || (this.#plan.mayStayUnfinished && awaiting.length > 0)) continue;
            throw new Error(`the shutdown left ${unfinished.join(", ")} unfinished`);
          }
        });
        return true;
      case "shutdown":
        for (const system of this.#systems) closed(system, this.#clock.timers);
        return false;
    }
  }

  #isAtRest(): boolean {
    if (this.#fault.held > 0) return false;
    const isEmpty = this.#systems.map(audited).every(({ queued, running }) => queued === 0 && running === 0);
    if (this.#clock.now > this.#restEnds) return true;
    return isEmpty && flattened(this.#reports()).every(({ state }) => state === "idle");
  }

  #reports(): readonly ActorReport[] {
    return this.#systems.flatMap((system) => system.inspect());
  }

  #begin(phase: Phase, work: () => Promise<unknown>): void {
    this.#phase = phase;
    this.#await(work);
  }

  #await(work: () => Promise<unknown>): void {
    const phase = this.#phase;
    this.#hasCome = false;
    work().then(
      () => {
        if (this.#phase !== phase) return;
        this.#hasCome = true;
        this.#fault.end();
      },
      (thrown: unknown) => this.#fail(thrown instanceof Error ? thrown.message : show(thrown), thrown),
    );
  }

  /** Called when nothing can end this phase any more. */
  #stuck(): void {
    if (this.#phase === "program" && this.#plan.mayStayUnfinished) {
      this.#isUnfinished = true;
      return;
    }
    const who = occupied(this.#reports());
    const waiting = who.length === 0 ? "no actor has anything to do" : who.join("; ");
    const what = { program: "the program", rest: "", checks: "a check", shutdown: "the shutdown" }[this.#phase];
    this.#fail(
      `${what} cannot go on: nobody is ready and no timer is set, but it has not ended (${waiting})`,
      undefined,
    );
  }

  #fail(sentence: string, cause: unknown): void {
    this.#failure ??= { sentence, cause };
  }
}
