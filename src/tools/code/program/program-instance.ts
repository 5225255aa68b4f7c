import type { Clock, Issue, Metadata, Operation } from "../../../index";
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

/** The options of a program, with the defaults filled in. */
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
  /** The names of the protocol's operations. */
  readonly operations: readonly string[];
}

/** Replaces the room's own sentence, which is about sessions. */
const LOST = "The process of the program has ended, and what the program kept is gone; a restart runs it anew.";

/** A compiled program, or the error in its source; a promise while it is being compiled. */
type Reading = Code | CodeRefusal | Promise<Code | CodeRefusal>;

/** One instance of a program actor. The source runs in its room first, and then each message does. */
export class ProgramInstance {
  readonly #settings: ProgramSettings;
  readonly #tier: Tier;
  readonly #room: Room;
  readonly #signal: AbortSignal;
  /** The program that starts the behaviour. It maps places to the caller's source. */
  #code: Code | null = null;
  /** The reason why it did not start, or null; a promise until that is known. */
  #start: ProgramError | null | Promise<ProgramError | null>;

  /** @param signal aborts when the actor stops, or restarts. */
  constructor(settings: ProgramSettings, reading: Reading, clock: Clock, signal: AbortSignal) {
    this.#settings = settings;
    this.#signal = signal;
    // Size 0: a room has a process of its own, so none has to be kept ready beside it.
    this.#tier = openTier(settings.isolation, { size: 0, maxWaiting: 0, clock });
    this.#room = this.#tier.open(settings.memory);
    // An abandoned actor gets no onStop. In a microtask, so that runs report first why they ended.
    signal.addEventListener("abort", () => clock.microtask(() => void this.dispose()), { once: true });
    this.#start = this.#begin(reading).then((fault) => {
      this.#start = fault;
      return fault;
    });
  }

  /**
   * Handles a message, and returns the program's reply.
   *
   * @param metadata those of its calls of tools.
   */
  handle(operation: Operation, payload: unknown, metadata: Metadata | undefined): unknown {
    if (this.#start instanceof Promise) return this.#start.then(() => this.handle(operation, payload, metadata));
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
    const value = this.#run(hasReply ? ASK : TELL, `{"operation":${JSON.stringify(name)}${given}}`, metadata);
    return value instanceof Promise ? value.then((found) => fitting(operation, found)) : fitting(operation, value);
  }

  /** Ends the instance, and the code that runs there. Resolves when no process of it is left. */
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

  /** Returns no promise if the run ended without waiting. */
  #run(program: Code, input: string | undefined, metadata?: Metadata): unknown {
    const { isolation, timeout, memory, maxOutput, tools, toolLimits, approve, onLog } = this.#settings;
    const calls = tools === null ? undefined : new Broker(tools, { limits: toolLimits, approve, metadata });
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

/** Catches an error of the listener: the tier never sees it, and the message fails with it. */
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

/** Parses a reply by its schema. */
function fitting({ name, reply }: Operation, value: unknown): unknown {
  const parsed = reply.parse(value);
  if (parsed.isOk()) return parsed.value;
  throw new TypeError(`The program's reply to "${name}" does not fit the schema: ${listed(parsed.error())}`);
}

const listed = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => `${path === "" ? "it" : path} ${message}`).join("; ");
