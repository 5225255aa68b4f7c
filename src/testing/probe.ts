import {
  type AnyRef,
  type AnySignatures,
  type AskArgs,
  type Asked,
  address,
  type Context,
  type Factory,
  type Pattern,
  type Protocol,
  type Ref,
  type System,
  type TellOptions,
  type Terminated,
} from "../index";
import { doingOf, reportsOf } from "./findings";
import type { LogEntry } from "./log";
import type { ManualClock } from "./manual-clock";
import { isSame, listed, show } from "./show";
import type { AnswerArgs, Answering, PayloadOf } from "./signatures";

interface ReceivedOf<Operation extends string, Payload> {
  readonly operation: Operation;
  readonly payload: Payload;
  readonly pattern: Pattern;
  /** The sender, if it is an actor that named itself. */
  readonly sender: Ref<AnySignatures> | undefined;
}

/** A message that a probe has received. */
export type Received<Signatures> = {
  [Name in keyof Signatures & string]: ReceivedOf<Name, PayloadOf<Signatures, Name>>;
}[keyof Signatures & string];

/**
 * An actor that records its messages and never replies by itself. A tell is over at once. An ask waits for `reply()` (even if
 * the reply is nothing), unless `answer()` was called for its operation. (With `validate: "always"` the system checks replies to
 * tells too: if a told operation has a reply, it needs an `answer()`.)
 */
export interface Probe<Signatures> {
  /** The reference to hand to the code under test. */
  readonly ref: Ref<Signatures>;
  /** All messages so far, in order, expected or not. */
  readonly received: readonly Received<Signatures>[];
  /**
   * Settles the system and takes the next message. It must have the operation, and deeply equal the payload if one is given.
   *
   * @returns its payload.
   * @throws Error when another message, or none, is next. The error lists all messages.
   * @example
   * const order = await probe.expectMessage("buy");
   */
  expectMessage<Name extends keyof Signatures & string>(
    operation: Name,
    ...payload: [payload?: PayloadOf<Signatures, Name>]
  ): Promise<PayloadOf<Signatures, Name>>;
  /**
   * Settles the system, and checks that no message is next. Time does not pass: call `advance()` first to wait for a while.
   *
   * @throws Error when a message is next. The error lists all messages.
   */
  expectNoMessage(): Promise<void>;
  /**
   * Settles the system, and checks that the actor has stopped. A restart is no stop.
   *
   * @returns the value that `ctx.watch` gives. Its error is known only if the actor was watched before (`watch()`).
   * @throws Error when the actor has not stopped. The error tells what it does.
   */
  expectTerminated(ref: AnyRef): Promise<Terminated>;
  /** Watches an actor from now on, for `expectTerminated`. */
  watch(ref: AnyRef): void;
  /**
   * Answers the ask or stream of that operation that has waited longest.
   *
   * @throws Error when none waits. The error lists all messages.
   * @example
   * await probe.expectMessage("price", "tea");
   * probe.reply("price", 4);
   */
  reply<Name extends keyof Signatures & string>(operation: Name, ...answer: AnswerArgs<Signatures, Name>): void;
  /** Fails an ask instead of answering it: the asker gets `handler-failed`. The probe goes on. */
  fail(operation: keyof Signatures & string, error: unknown): void;
  /**
   * Answers each ask or stream of an operation from now on.
   *
   * @example
   * probe.answer("price", (item) => prices[item]);
   */
  answer<Name extends keyof Signatures & string>(operation: Name, answer: Answering<Signatures, Name>): void;
  /** Tells like `ctx.tell`, with the probe as the sender. */
  tell<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: [...payload: AskArgs<S, NoInfer<Name>>, options?: TellOptions]
  ): void;
}

/** The parts of a test that a probe needs. */
export interface ProbeSurroundings {
  readonly system: System;
  readonly clock: ManualClock;
  readonly entries: readonly LogEntry[];
}

interface Waiting {
  readonly operation: string;
  settle(answer: unknown): void;
  fail(error: unknown): void;
}

/** A message to an actor of a router, so that the probe gets its context. */
const BEGIN = "envoi/testing: begin";
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;

/** The class of every probe. Its public type is Probe, which knows the protocol. */
class ProbeActor {
  readonly ref: AnyRef;
  readonly received: ReceivedOf<string, unknown>[] = [];
  readonly #surroundings: ProbeSurroundings;
  readonly #answers = new Map<string, (payload: unknown) => unknown>();
  readonly #terminated = new Map<string, Terminated | null>();
  #waiting: Waiting[] = [];
  #taken = 0;
  #ctx: Context<AnySignatures> | null = null;
  #onContext: ((ctx: Context<AnySignatures>) => void)[] = [];

  constructor(surroundings: ProbeSurroundings, protocol: Protocol | undefined, name: string) {
    this.#surroundings = surroundings;
    const { system } = surroundings;
    if (protocol === undefined) {
      this.ref = system.router.register(
        address(name),
        (message, ctx) => {
          this.#setContext(ctx);
          return message.type === BEGIN ? undefined : this.#receive(ctx, message.type, message.payload, true);
        },
        { concurrency: ANY_NUMBER },
      );
      return;
    }
    // The object has a handler for each operation of the protocol.
    const factory = ((ctx: Context<AnySignatures>) => {
      this.#setContext(ctx);
      return Object.fromEntries(
        Object.entries(protocol.operations).map(([operation, { isStream }]) => [
          operation,
          (payload: unknown) => this.#receive(ctx, operation, payload, isStream),
        ]),
      );
    }) as unknown as Factory<unknown>;
    this.ref = system.spawn(name, protocol, factory, { concurrency: ANY_NUMBER });
  }

  #setContext(ctx: Context<AnySignatures>): void {
    this.#ctx = ctx;
    for (const callback of this.#onContext.splice(0)) callback(ctx);
  }

  #withContext(callback: (ctx: Context<AnySignatures>) => void): void {
    if (this.#ctx !== null) {
      callback(this.#ctx);
      return;
    }
    this.#onContext.push(callback);
    // Only a probe without a protocol gets here. It takes any message, and gets its context with the first one.
    if (this.#onContext.length === 1) (this.ref as Ref<AnySignatures>).tell(BEGIN);
  }

  #receive(ctx: Context<AnySignatures>, operation: string, payload: unknown, mayStream: boolean): unknown {
    const { pattern } = ctx.message;
    this.received.push({ operation, payload, pattern, sender: ctx.sender });
    const answer = this.#answers.get(operation);
    if (answer !== undefined) return answer(payload);
    if (pattern === "tell") return undefined;
    const answered = this.#wait(ctx.signal, operation);
    return mayStream && pattern === "stream" ? itemsOf(answered) : answered;
  }

  #wait(signal: AbortSignal, operation: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { operation, settle: resolve, fail: reject };
      this.#waiting.push(waiting);
      signal.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        resolve(undefined); // The asker has given up: `undefined` gives no late reply.
      });
    });
  }

  async expectMessage(operation: string, ...expected: [payload?: unknown]): Promise<unknown> {
    await this.#surroundings.clock.settle();
    const next = this.received[this.#taken];
    const wanted = `${this.ref.address} expected ${show(operation)}${expected.length > 0 ? ` with ${show(expected[0])}` : ""}`;
    if (next === undefined) throw this.#error(`${wanted}, and nothing came.`, true);
    const isWanted = next.operation === operation && (expected.length === 0 || isSame(next.payload, expected[0]));
    if (!isWanted) throw this.#error(`${wanted}, and got ${lineOf(next)}.`);
    this.#taken++;
    return next.payload;
  }

  async expectNoMessage(): Promise<void> {
    await this.#surroundings.clock.settle();
    const next = this.received[this.#taken];
    if (next !== undefined) throw this.#error(`${this.ref.address} expected no message, and got ${lineOf(next)}.`);
  }

  watch(ref: AnyRef): void {
    if (this.#terminated.has(ref.address)) return;
    this.#terminated.set(ref.address, null);
    this.#withContext((ctx) => {
      ctx.watch(ref, (terminated) => this.#terminated.set(ref.address, terminated));
    });
  }

  async expectTerminated(ref: AnyRef): Promise<Terminated> {
    const { system, clock } = this.#surroundings;
    this.watch(ref);
    await clock.settle();
    const terminated = this.#terminated.get(ref.address) ?? null;
    if (terminated === null) {
      const report = [...reportsOf(system.inspect())].find((it) => it.address === ref.address);
      const doing = report === undefined ? "is not in this system" : doingOf(report);
      throw this.#error(`${this.ref.address} expected ${ref.address} to have stopped, and it ${doing}.`, true);
    }
    this.#terminated.delete(ref.address); // The name may be used again.
    return terminated;
  }

  reply(operation: string, answer?: unknown): void {
    this.#next(operation, "reply to").settle(answer);
  }

  fail(operation: string, error: unknown): void {
    this.#next(operation, "fail").fail(error);
  }

  #next(operation: string, verb: string): Waiting {
    const index = this.#waiting.findIndex((waiting) => waiting.operation === operation);
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (waiting !== undefined) return waiting;
    throw this.#error(`${this.ref.address} has no ask of ${show(operation)} to ${verb}: none waits (settle() first?).`);
  }

  answer(operation: string, answer: (payload: unknown) => unknown): void {
    this.#answers.set(operation, answer);
  }

  tell(ref: Ref<AnySignatures>, operation: string, ...args: [payload?: unknown, options?: TellOptions]): void {
    this.#withContext((ctx) => ctx.tell(ref, operation, ...args));
  }

  /** An error with all that came, and hints at the cause. */
  #error(sentence: string, mayComeLater = false): Error {
    const { clock, entries } = this.#surroundings;
    const lines = this.received.map(
      (message, index) => `${lineOf(message)}${index < this.#taken ? " — expected before" : ""}`,
    );
    const logged = entries.map(({ message }) => message);
    const meanwhile = logged.length === 0 ? "" : `\nLogged meanwhile:${listed(logged, "")}`;
    const isDue = mayComeLater && clock.heldTimers > 0;
    const later = isDue ? "\nA timer is set on the clock: it fires once advance() lets enough time pass." : "";
    return new Error(`${sentence}\nAll that came:${listed(lines, "nothing")}${meanwhile}${later}`);
  }
}

const lineOf = ({ operation, payload, pattern, sender }: ReceivedOf<string, unknown>): string => {
  const what = payload === undefined ? show(operation) : `${show(operation)} with ${show(payload)}`;
  const how = pattern === "tell" ? "told" : pattern === "ask" ? "asked" : "streamed";
  return `${what} (${how}${sender === undefined ? "" : ` by ${sender.address}`})`;
};

/** The items of a stream, once it is answered. */
async function* itemsOf(answered: Promise<unknown>): AsyncIterable<unknown> {
  // Typed by Probe.reply: the answer of a stream is an iterable. A stream that was given up has none.
  yield* ((await answered) ?? []) as Iterable<unknown> | AsyncIterable<unknown>;
}

/** Makes a probe of a protocol, or of any message. */
export const createProbe = (
  surroundings: ProbeSurroundings,
  protocol: Protocol | undefined,
  name: string,
): Probe<AnySignatures> =>
  // The class does for any protocol what Probe declares for one.
  new ProbeActor(surroundings, protocol, name) as unknown as Probe<AnySignatures>;
