import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock, Metadata } from "../../index";
import { approveRun, GONE } from "./approval";
import { askerOf, type Task } from "./asker";
import { CodeRefusal } from "./code-refusal";
import type { Language } from "./language";
import type { CodeLimits } from "./options";
import { outcomeOf, refused, type Told, textOf } from "./outcome";
import { type KeptProgram, Programs } from "./programs";
import type {
  CheckRequest,
  CodeInspection,
  ExecuteReply,
  ExecuteRequest,
  RunRequest,
  SessionRequest,
} from "./protocol";
import type { Listeners } from "./run-stream";
import type { Session } from "./session";
import { Sessions } from "./sessions";
import { Sources } from "./source/sources";
import {
  type Asker,
  type Ended,
  ISOLATIONS,
  type Isolation,
  type LogEntry,
  type OpenCalls,
  type Program,
  type Run,
  type Tier,
} from "./tier";
import type { openTier } from "./tiers";

/** A request to run code, and where the code runs. */
interface Job {
  readonly code: string;
  readonly language: Language;
  readonly request: Pick<ExecuteRequest, "timeout" | "memory" | "seed" | "now">;
  /** A JSON text. */
  readonly input: string | undefined;
  readonly isolation: Isolation;
  readonly session: Session | null;
  readonly listeners: Listeners | undefined;
  /** The metadata of its calls of tools. */
  readonly metadata: Metadata | undefined;
  /** Enters the context of whoever runs the code (P16): a place may become free in that of another run. */
  readonly enter: <Args extends unknown[], Result>(callback: (...args: Args) => Result, ...args: Args) => Result;
}

type Limits = Pick<Run, "timeout" | "memory" | "maxOutput">;
type Outcome = Told<ExecuteReply>;
/** A program, or the error in its source; a promise while a parser is being loaded. */
type Reading = ReturnType<Sources["compile"]>;
const IN_SESSION = { isSession: true };
/** Characters that the host writes in about 1 ms. A longer input runs later, except in a session, which keeps its order. */
const LONG_INPUT = 512 * 1024;

/** Runs code in tiers. Each tier is opened when it is first needed. */
export class Executor {
  readonly #limits: CodeLimits;
  readonly #clock: Clock;
  readonly #open: typeof openTier;
  readonly #sources = new Sources();
  readonly #programs: Programs;
  readonly #sessions: Sessions;
  readonly #tiers = new Map<Isolation, Tier>();
  #held = 0;

  constructor(limits: CodeLimits, clock: Clock, open: typeof openTier) {
    this.#limits = limits;
    this.#clock = clock;
    this.#open = open;
    this.#programs = new Programs(limits.maxPrograms);
    this.#sessions = new Sessions(limits.maxSessions, clock);
  }

  warmUp(): void {
    this.#tier(this.#limits.isolation);
  }

  execute(
    request: ExecuteRequest,
    task: Task,
    metadata: Metadata | undefined,
    listeners?: Listeners,
  ): Outcome | Promise<Outcome> {
    const language = this.#languageOf(request);
    if (language instanceof CodeRefusal) return refused(language);
    return this.#perform(request.code, language, null, request, task, metadata, listeners);
  }

  run(request: RunRequest, task: Task, metadata: Metadata | undefined): Outcome | Promise<Outcome> {
    const kept = this.#programs.find(request.program);
    if (kept instanceof CodeRefusal) return refused(kept);
    return this.#perform(kept.code, kept.language, kept.program, request, task, metadata);
  }

  check(request: CheckRequest): Told<object> | Promise<Told<object>> {
    return this.#compiled(request, () => ({}));
  }

  compile(request: CheckRequest): Told<{ program: string }> | Promise<Told<{ program: string }>> {
    return this.#compiled(request, (kept) => ({ program: this.#programs.keep(kept) }));
  }

  openSession(request: SessionRequest): Told<{ session: string }> {
    const { isolation = this.#limits.isolation } = request;
    const fault = this.#refuse(isolation);
    if (fault !== null) return refused(fault);
    const most = (name: "memory" | "timeout" | "maxOutput", given = Number.POSITIVE_INFINITY) =>
      Math.min(given, this.#limits[name]);
    const session = this.#sessions.open(this.#tier(isolation), {
      isolation,
      memory: most("memory", request.memory),
      timeout: most("timeout", request.timeout),
      maxOutput: most("maxOutput", request.maxOutput),
      idleTimeout: Math.min(request.idleTimeout ?? Number.POSITIVE_INFINITY, this.#limits.sessionIdle),
    });
    return session instanceof CodeRefusal ? refused(session) : { ok: true, value: { session } };
  }

  async endSession(id: string): Promise<Told<object>> {
    const session = this.#sessions.find(id);
    if (session instanceof CodeRefusal) return refused(session);
    await session.end("was ended");
    return { ok: true, value: {} };
  }

  inspect(): CodeInspection {
    const { isolation, timeout, memory, maxInputBytes, maxOutput } = this.#limits;
    return {
      isolation,
      languages: [...this.#limits.languages],
      limits: { timeout, memory, maxInputBytes, maxOutput },
      tiers: Array.from(this.#tiers.values(), (tier) => ({ isolation: tier.isolation, ...tier.inspect() })),
      sessions: this.#sessions.size,
      programs: this.#programs.size,
      held: this.#held,
    };
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#sources.dispose(), this.#sessions.dispose()]);
    await Promise.all(Array.from(this.#tiers.values(), (tier) => tier.dispose()));
  }

  #compiled<Value>(request: CheckRequest, result: (kept: KeptProgram) => Value): Told<Value> | Promise<Told<Value>> {
    const { code } = request;
    const language = this.#languageOf(request);
    if (language instanceof CodeRefusal) return refused(language);
    const tell = (program: Program | CodeRefusal): Told<Value> =>
      program instanceof CodeRefusal ? refused(program) : { ok: true, value: result({ code, language, program }) };
    const program = this.#sources.compile(code, language);
    return program instanceof Promise ? program.then(tell) : tell(program);
  }

  #perform(
    code: string,
    language: Language,
    known: Program | null,
    request: Omit<RunRequest, "program">,
    task: Task,
    metadata: Metadata | undefined,
    listeners?: Listeners,
  ): Outcome | Promise<Outcome> {
    const session = request.session === undefined ? null : this.#sessions.find(request.session);
    if (session instanceof CodeRefusal) return refused(session);
    const isolation = session?.limits.isolation ?? request.isolation ?? this.#limits.isolation;
    const fault = session === null ? this.#refuse(isolation) : session.refuse(request);
    if (fault !== null) return refused(fault);
    const input = textOf(request.input, this.#limits.maxInputBytes);
    if (input instanceof CodeRefusal) return refused(input);
    const job: Job = {
      code,
      language,
      request,
      input,
      isolation,
      session,
      listeners,
      metadata,
      enter: AsyncLocalStorage.snapshot(),
    };
    const program = (session === null ? known : null) ?? this.#read(code, job);
    if (program instanceof CodeRefusal) return refused(program);
    if (session === null && input !== undefined && input.length > LONG_INPUT) return this.#runLater(program, job, task);
    // Takes the turn in the session now, even while a parser is being loaded: later requests come after this one.
    if (session !== null || this.#limits.approve !== undefined) return this.#hold(program, job, task.signal);
    if (!(program instanceof Promise)) return this.#run(program, job, task);
    const { signal } = task;
    return program.then((read) => (read instanceof CodeRefusal ? refused(read) : this.#run(read, job, { signal })));
  }

  /** Lets other work run first: writing a text of 4 MB takes up to 10 ms, and sending it takes as long again. */
  async #runLater(reading: Reading, job: Job, { signal }: Pick<Task, "signal">): Promise<Outcome> {
    await new Promise<void>((resolve) => this.#clock.macrotask(resolve));
    if (this.#limits.approve !== undefined) return this.#hold(reading, job, signal);
    const program = await reading;
    return program instanceof CodeRefusal ? refused(program) : this.#run(program, job, { signal });
  }

  #read(code: string, { language, session }: Job): Reading {
    return session === null ? this.#sources.compile(code, language) : this.#sources.compile(code, language, IN_SESSION);
  }

  /** Runs code that first needs approval, or its turn in a session. */
  async #hold(reading: Reading, job: Job, signal: AbortSignal): Promise<Outcome> {
    const { concurrency, maxWaiting } = this.#limits;
    if (this.#held >= concurrency + maxWaiting) {
      return refused(new CodeRefusal("busy", `${this.#held} runs wait already; ask again later.`));
    }
    let isHeld = true;
    const letGo = (): void => {
      if (isHeld) this.#held--;
      isHeld = false;
    };
    const work = async (): Promise<Outcome> => {
      const program = await reading;
      const approved = program instanceof CodeRefusal ? program : await this.#approve(program, job, signal);
      letGo();
      return approved instanceof CodeRefusal ? refused(approved) : this.#run(approved, job, { signal });
    };
    this.#held++;
    try {
      const outcome = await (job.session === null ? work() : job.session.inOrder(signal, work));
      return outcome instanceof CodeRefusal ? refused(outcome) : outcome;
    } finally {
      letGo();
    }
  }

  /** Returns the program that may run: the original, or the one of the approver's code. */
  async #approve(program: Program, job: Job, asker: AbortSignal): Promise<Program | CodeRefusal> {
    const { approve } = this.#limits;
    if (approve === undefined) return program;
    const { code, language, isolation, session } = job;
    // Parsed from the text that will run: the asker may change its own object meanwhile.
    const input: unknown = job.input === undefined ? undefined : JSON.parse(job.input);
    const signal = session?.signalFor(asker) ?? asker;
    const approved = await approveRun(approve, { kind: "run", code, language, isolation, input, signal });
    if (approved === GONE) return session?.fate ?? GONE;
    if (approved === code) return program;
    return approved instanceof CodeRefusal ? approved : this.#read(approved, job);
  }

  /** Returns no promise if the run did not wait. The ask then needs no timer, which saves 0.5 µs. */
  #run(program: Program, job: Job, task: Task): Outcome | Promise<Outcome> {
    const { isolation, session } = job;
    const run = new Asked(program, job, session?.limits ?? this.#limits, task);
    const place = session ?? this.#tier(isolation);
    const { openCalls } = this.#limits;
    const ended =
      openCalls === undefined ? place.run(run) : withCalls(place, run, () => job.enter(openCalls, job.metadata));
    return ended instanceof Promise ? whenEnded(ended, program, isolation) : outcomeOf(ended, program, isolation);
  }

  #languageOf({ language }: Pick<CheckRequest, "language">): Language | CodeRefusal {
    const { languages } = this.#limits;
    const [first] = languages;
    if (language === undefined) return first;
    if (languages.includes(language)) return language;
    const message = `This actor runs code in "${first}", and not in "${language}"; write it in "${first}".`;
    return new CodeRefusal("unavailable", message);
  }

  #refuse(isolation: Isolation): CodeRefusal | null {
    const weakest = this.#limits.isolation;
    if (isolation === weakest || ISOLATIONS.indexOf(isolation) < ISOLATIONS.indexOf(weakest)) return null;
    const message = `This actor runs code as "${weakest}" or stronger, and "${isolation}" is weaker: leave isolation out, or spawn the actor with isolation: "${isolation}".`;
    return new CodeRefusal("unavailable", message);
  }

  #tier(isolation: Isolation): Tier {
    const known = this.#tiers.get(isolation);
    if (known !== undefined) return known;
    const { concurrency, maxWaiting } = this.#limits;
    const tier = this.#open(isolation, { size: concurrency, maxWaiting, clock: this.#clock });
    this.#tiers.set(isolation, tier);
    return tier;
  }
}

const whenEnded = (ended: Promise<Ended>, program: Program, isolation: Isolation): Promise<Outcome> =>
  ended.then((end) => outcomeOf(end, program, isolation));

/** A requested run, within the limits of the actor or the session. */
class Asked implements Run {
  readonly program: Program;
  readonly input: string | undefined;
  readonly timeout: number;
  readonly memory: number;
  readonly maxOutput: number;
  readonly seed?: number;
  readonly now?: number;
  readonly onLog?: (entry: LogEntry) => void;
  readonly onProgress?: (value: string) => void;
  readonly #task: Task;
  #asker: Asker | undefined;

  constructor(program: Program, { request, input, listeners }: Job, limits: Limits, task: Task) {
    const { timeout, memory, seed, now } = request;
    this.program = program;
    this.input = input;
    this.timeout = timeout === undefined ? limits.timeout : Math.min(timeout, limits.timeout);
    this.memory = memory === undefined ? limits.memory : Math.min(memory, limits.memory);
    this.maxOutput = limits.maxOutput;
    if (seed !== undefined) this.seed = seed;
    if (now !== undefined) this.now = now;
    if (listeners !== undefined) {
      this.onLog = listeners.onLog;
      this.onProgress = listeners.onProgress;
    }
    this.#task = task;
  }

  /** Made at the first read. A tier reads it before it first waits. */
  get signal(): Asker {
    this.#asker ??= askerOf(this.#task);
    return this.#asker;
  }
}

/** Runs code that has tools. Its calls are opened when they are first needed, and closed when the run has ended. */
function withCalls(place: Pick<Tier, "run">, run: Run, open: () => OpenCalls): Ended | Promise<Ended> {
  const { program, input, timeout, memory, maxOutput, seed, now, onLog, onProgress } = run;
  let opened: OpenCalls | undefined;
  const ended = place.run({
    program,
    input,
    timeout,
    memory,
    maxOutput,
    get signal() {
      return run.signal;
    },
    get calls() {
      opened ??= open();
      return opened;
    },
    ...(seed !== undefined && { seed }),
    ...(now !== undefined && { now }),
    ...(onLog && { onLog }),
    ...(onProgress && { onProgress }),
  });
  if (ended instanceof Promise) return ended.finally(() => opened?.close());
  opened?.close();
  return ended;
}
