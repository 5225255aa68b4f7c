import type { Clock, Issue, Operation } from "../../../index";
import type { Approve } from "../approval";
import type { LogEntry } from "../code-error";
import { CodeRefusal } from "../code-refusal";
import { outcomeOf } from "../outcome";
import type { Program as Code, Ended, Isolation, Room, Run, Tier } from "../tier";
import { openTier } from "../tiers";
import { Broker } from "../tools/broker";
import { replyText, Unserializable } from "../tools/reply-text";
import type { ToolLimits } from "../tools/tool-limits";
import type { ToolSet } from "../tools/tool-set";
import { ProgramError } from "./program-error";
import { ASK, faultIn, startOf, TELL } from "./program-parts";

/** How a program runs, none of it left out. */
export interface ProgramSettings {
  readonly isolation: Isolation;
  readonly timeout: number;
  readonly memory: number;
  readonly maxInputBytes: number;
  readonly maxOutput: number;
  /** Null for none. */
  readonly tools: ToolSet | null;
  readonly toolLimits: Required<ToolLimits>;
  readonly approve: Approve | undefined;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** The names of what it can be asked for. */
  readonly operations: readonly string[];
}

/** The room's own sentence is for whoever opened a session. */
const LOST = "The process of the program has ended, and what the program kept is gone; a restart runs it anew.";

/** A program as it is compiled: what it is, or what is wrong with it. */
type Reading = Code | CodeRefusal | Promise<Code | CodeRefusal>;

/** One instance of a program actor: a room in which its source has run, and its messages do. */
export class ProgramInstance {
  readonly #settings: ProgramSettings;
  readonly #tier: Tier;
  readonly #room: Room;
  readonly #signal: AbortSignal;
  /** What the source is in the room, whose places are those of the caller's. */
  #code: Code | null = null;
  /** Why it did not start, or null; a promise until that is known. */
  #start: ProgramError | null | Promise<ProgramError | null>;

  /** @param signal aborts when the actor stops, or restarts. */
  constructor(settings: ProgramSettings, reading: Reading, clock: Clock, signal: AbortSignal) {
    this.#settings = settings;
    this.#signal = signal;
    // A room has a process of its own, so that none has to be kept ready beside it.
    this.#tier = openTier(settings.isolation, { size: 0, maxWaiting: 0, clock });
    this.#room = this.#tier.open(settings.memory);
    // An actor that is abandoned has no onStop. After the runs, which tell why they end.
    signal.addEventListener("abort", () => clock.microtask(() => void this.dispose()), { once: true });
    this.#start = this.#begin(reading).then((fault) => {
      this.#start = fault;
      return fault;
    });
  }

  /** Gives the reply to a message, which its program gave. */
  handle(operation: Operation, payload: unknown): unknown {
    if (this.#start instanceof Promise) return this.#start.then(() => this.handle(operation, payload));
    if (this.#start !== null) throw this.#start;
    const { maxInputBytes } = this.#settings;
    const text = replyText(payload, maxInputBytes);
    if (text instanceof Unserializable) {
      const limit = text.isTooLarge ? `, and ${maxInputBytes} bytes are the most` : "";
      const message = `The payload cannot come into the program: ${text.reason}${limit}.`;
      throw new ProgramError({ kind: text.isTooLarge ? "input-limit" : "unserializable-value", message, logs: [] });
    }
    const given = text === undefined ? "" : `,"payload":${text}`;
    const { hasReply, name } = operation;
    const value = this.#run(hasReply ? ASK : TELL, `{"operation":${JSON.stringify(name)}${given}}`);
    return value instanceof Promise ? value.then((found) => fitting(operation, found)) : fitting(operation, value);
  }

  /** Ends it, and what runs; no process of it is left when this resolves. */
  dispose(): Promise<void> {
    return this.#tier.dispose();
  }

  async #begin(reading: Reading): Promise<ProgramError | null> {
    try {
      const program = await reading;
      if (program instanceof CodeRefusal) return new ProgramError(program.error);
      const { operations } = this.#settings;
      this.#code = startOf(program, operations);
      const message = faultIn(await this.#run(this.#code, undefined), operations);
      return message === null
        ? null
        : new ProgramError({ kind: "runtime-error", name: "TypeError", message, logs: [] });
    } catch (thrown) {
      if (thrown instanceof ProgramError) return thrown;
      return new ProgramError({ kind: "crashed", message: `The program did not start: ${String(thrown)}`, logs: [] });
    }
  }

  /** No promise where it has ended without having waited. */
  #run(program: Code, input: string | undefined): unknown {
    const { isolation, timeout, memory, maxOutput, tools, toolLimits, approve, onLog } = this.#settings;
    const calls = tools === null ? undefined : new Broker(tools, { limits: toolLimits, approve });
    const run: Run = { program, input, timeout, memory, maxOutput, signal: this.#signal };
    const listening = onLog === undefined ? null : new Listening(onLog);
    const finish = (ended: Ended): unknown => {
      calls?.close();
      listening?.check();
      const outcome = outcomeOf(ended, this.#code ?? program, isolation);
      if (outcome.ok) return outcome.value.value;
      const { error } = outcome;
      throw new ProgramError(error.kind === "crashed" && this.#room.isLost ? { ...error, message: LOST } : error);
    };
    const ended = this.#room.run(
      calls === undefined && listening === null
        ? run
        : { ...run, ...(calls && { calls }), ...(listening && { onLog: listening.hear }) },
    );
    return ended instanceof Promise ? ended.then(finish) : finish(ended);
  }
}

/** Keeps what a listener throws from the tier that tells it, for whoever waits for the message. */
class Listening {
  #thrown: { readonly error: unknown } | undefined;

  constructor(private readonly onLog: (entry: LogEntry) => void) {}

  readonly hear = (entry: LogEntry): void => {
    try {
      this.onLog(entry);
    } catch (error) {
      this.#thrown ??= { error };
    }
  };

  check(): void {
    if (this.#thrown !== undefined) throw this.#thrown.error;
  }
}

/** A reply as its schema has it. */
function fitting({ name, reply }: Operation, value: unknown): unknown {
  const parsed = reply.parse(value);
  if (parsed.isOk()) return parsed.value;
  throw new TypeError(`The program's reply to "${name}" does not fit the schema: ${listed(parsed.error())}`);
}

const listed = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => `${path === "" ? "it" : path} ${message}`).join("; ");
