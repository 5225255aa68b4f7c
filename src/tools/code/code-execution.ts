import type { Clock, Context, Factory, SignaturesOf, Spawner } from "../../index";
import { type CodeError, CodeRefusal } from "./code-error";
import { type CodeExecutionOptions, type CodeLimits, limitsOf } from "./options";
import {
  type CheckRequest,
  CodeExecution,
  type CodeExecutionRef,
  type ExecuteReply,
  type ExecuteRequest,
} from "./protocol";
import { Sources } from "./source/sources";
import { type Ended, ISOLATIONS, type Isolation, type Program, type Run, type Tier } from "./tier";
import { openTier } from "./tiers";

type Signatures = SignaturesOf<typeof CodeExecution>;
type Told<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: CodeError };
/** The request that is worked on: it ends when the asker gives up. */
type Task = Pick<Context<never>, "signal">;

const LONGEST_MESSAGE = 4_000;
/** Strongest first. */
const STRENGTH = ISOLATIONS;

/**
 * Spawns an actor that runs JavaScript and TypeScript: in a sandbox, unless it is told to trust what it runs.
 *
 * @param spawner a system, or the context of the actor that is to be its parent.
 * @throws TypeError or RangeError for an option that cannot be one; Error where the name is in use.
 * @example
 * const code = spawnCodeExecution(system);
 * const ran = await code.ask("execute", { code: "input.reduce((a, b) => a + b)", input: [1, 2, 3] });
 * if (ran.isOk() && ran.value.ok) console.log(ran.value.value.value); // 6
 */
export function spawnCodeExecution(spawner: Spawner, options: CodeExecutionOptions = {}): CodeExecutionRef {
  const limits = limitsOf(options);
  const { name = "code", supervision, phase, capacity, overflow } = options;
  return spawner.spawn(name, CodeExecution, factoryOf(limits), {
    // All that may run or wait, and a few beside them that are told `busy`.
    concurrency: limits.concurrency + limits.maxWaiting + 64,
    validate: "always", // Whoever asks: what an agent makes up comes from within, too.
    ...(supervision && { supervision }),
    ...(phase !== undefined && { phase }),
    ...(capacity !== undefined && { capacity }),
    ...(overflow !== undefined && { overflow }),
  });
}

function factoryOf(limits: CodeLimits): Factory<Signatures> {
  return (ctx) => {
    const executor = new Executor(limits, ctx.clock);
    return {
      onStart: () => executor.warmUp(),
      execute: (request) => executor.execute(request, ctx),
      check: (request) => executor.check(request),
      inspect: () => ({ ok: true, value: executor.inspect() }),
      onStop: () => executor.dispose(),
    };
  };
}

/** Runs code in the tiers, which it opens when they are needed first. */
class Executor {
  readonly #sources = new Sources();
  readonly #tiers = new Map<Isolation, Tier>();

  constructor(
    private readonly limits: CodeLimits,
    private readonly clock: Clock,
  ) {}

  warmUp(): void {
    this.#tier(this.limits.isolation);
  }

  execute(request: ExecuteRequest, task: Task): Told<ExecuteReply> | Promise<Told<ExecuteReply>> {
    const { isolation = this.limits.isolation } = request;
    if (STRENGTH.indexOf(isolation) > STRENGTH.indexOf(this.limits.isolation)) {
      const message = `This actor runs code as "${this.limits.isolation}" or stronger, and not as "${isolation}".`;
      return { ok: false, error: { kind: "unavailable", message, logs: [] } };
    }
    let input: string | undefined;
    if (request.input !== undefined) {
      const text = textOf(request.input);
      if (typeof text !== "string") return text;
      input = text;
    }
    const program = this.#sources.compile(request.code, request.language ?? "javascript");
    if (program instanceof CodeRefusal) return { ok: false, error: program.error };
    if (program instanceof Promise) {
      const { signal } = task;
      return program.then((compiled) =>
        compiled instanceof CodeRefusal
          ? { ok: false, error: compiled.error }
          : this.#run(compiled, request, input, isolation, { signal }),
      );
    }
    return this.#run(program, request, input, isolation, task);
  }

  check({ code, language = "javascript" }: CheckRequest): Told<object> | Promise<Told<object>> {
    const program = this.#sources.compile(code, language);
    return program instanceof Promise ? program.then(checked) : checked(program);
  }

  inspect() {
    const { isolation, timeout, memory, maxOutput } = this.limits;
    const tiers = Array.from(this.#tiers.values(), (tier) => ({ isolation: tier.isolation, ...tier.inspect() }));
    return { isolation, limits: { timeout, memory, maxOutput }, tiers };
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#sources.dispose(), ...Array.from(this.#tiers.values(), (tier) => tier.dispose())]);
  }

  #run(
    program: Program,
    { timeout = Number.POSITIVE_INFINITY, memory = Number.POSITIVE_INFINITY }: ExecuteRequest,
    input: string | undefined,
    isolation: Isolation,
    task: Task,
  ): Promise<Told<ExecuteReply>> {
    const { limits } = this;
    const run: Run = {
      program,
      input,
      timeout: Math.min(timeout, limits.timeout),
      memory: Math.min(memory, limits.memory),
      maxOutput: limits.maxOutput,
      // Made when it is read (0.5 µs), as a tier does before it first waits.
      get signal() {
        return task.signal;
      },
    };
    return this.#tier(isolation)
      .run(run)
      .then((ended) => outcomeOf(ended, isolation));
  }

  #tier(isolation: Isolation): Tier {
    const known = this.#tiers.get(isolation);
    if (known !== undefined) return known;
    const { concurrency, maxWaiting } = this.limits;
    const tier = openTier(isolation, { size: concurrency, maxWaiting, clock: this.clock });
    this.#tiers.set(isolation, tier);
    return tier;
  }
}

const checked = (program: Program | CodeRefusal): Told<object> =>
  program instanceof CodeRefusal ? { ok: false, error: program.error } : { ok: true, value: {} };

/** The input as JSON. */
function textOf(input: unknown): string | Told<never> {
  let fault = `a ${typeof input}`;
  try {
    const text: string | undefined = JSON.stringify(input);
    if (text !== undefined) return text;
  } catch (thrown) {
    fault = thrown instanceof Error ? thrown.message : "its toJSON threw";
  }
  const message = `The input is nothing that JSON can hold: ${fault}`;
  return { ok: false, error: { kind: "unserializable-value", message, logs: [] } };
}

function outcomeOf(ended: Ended, isolation: Isolation): Told<ExecuteReply> {
  const logs = ended.logs as ExecuteReply["logs"]; // Nobody writes to it any more.
  if (ended.kind === "value") {
    try {
      const value: unknown = ended.value === undefined ? undefined : JSON.parse(ended.value);
      return { ok: true, value: { value, logs, durationMs: ended.durationMs, isolation } };
    } catch {
      const message = "The value is nested too deeply; return a flatter one.";
      return { ok: false, error: { kind: "unserializable-value", message, logs } };
    }
  }
  const { kind, message, name, stack } = ended;
  const places = stack?.map(({ line, column }) => ({ line, column }));
  const [place] = places ?? [];
  return {
    ok: false,
    error: {
      kind,
      // The code may have made them up, of any length.
      message: shorten(message),
      ...place,
      ...(name !== undefined && { name: shorten(name) }),
      ...(places !== undefined && { stack: places }),
      logs,
    },
  };
}

const shorten = (text: string): string => (text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text);
