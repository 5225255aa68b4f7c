import {
  type AnyRef,
  type AnySignatures,
  address,
  type CallArgs,
  checkBehaviour,
  createMessage,
  type Factory,
  type Hooks,
  type ItemOf,
  type Metadata,
  type Protocol,
  type Ref,
  type ReplyOf,
  type StreamName,
} from "../index";
import type { Effect } from "./effect";
import type { Refusal } from "./kit-answers";
import { KitContext } from "./kit-context";
import { show } from "./show";
import type { Answering, Named } from "./signatures";

/** The result of one run of a handler. */
export interface Run<Reply> {
  /**
   * The reply itself if the handler is synchronous, otherwise a promise of it: `await` fits both. `undefined` if the message
   * was stashed or forwarded.
   */
  readonly reply: Reply | Promise<Reply>;
  /** The actor's effects, in order; while a promise is pending, those so far. */
  readonly effects: readonly Effect[];
}

/** The options of a run. */
export interface RunOptions {
  /** `ctx.sender`. Default: none. */
  readonly sender?: AnyRef;
  /** `ctx.metadata`. Default: none. */
  readonly metadata?: Metadata;
  /** `ctx.deadline`, in milliseconds; it stands still, as the kit's time does. Default: `Infinity`. */
  readonly deadline?: number;
  /** Most items that are read of a stream. Default: all; the stream must end then. */
  readonly take?: number;
}

/** The reply of a run: that of the operation, or the items of its stream. */
export type RunReply<S, Name extends keyof S> = Name extends StreamName<S> ? ItemOf<S, Name>[] : ReplyOf<S, Name>;

/**
 * One actor without a system: each call runs one handler to its end, at once if it is synchronous.
 *
 * A kit shows what one message does to one actor: there is no mailbox, no supervisor, no validation and no time. Tells are
 * only recorded (to `ctx.self` too). A child is recorded and not run. Unstashed messages are recorded (run them again by
 * hand). A timer fires when the test says so, and an error of a handler is thrown in the test. For anything more, use
 * `createTestSystem`.
 */
export interface BehaviourKit<Signatures> {
  readonly self: Ref<Signatures>;
  /** All effects so far, those of the factory first. */
  readonly effects: readonly Effect[];
  /** True once the actor has stopped itself. */
  readonly isStopped: boolean;
  /**
   * Runs a message through its handler.
   *
   * @throws the handler's error, if it is synchronous (the kit's `effects` has what it did before); Error while another message
   * is being handled (P3), and when the actor has stopped itself.
   * @example
   * const { reply, effects } = kit.run("add", 2);
   */
  run<Name extends string>(
    operation: Named<Signatures, Name>,
    ...args: [...payload: CallArgs<Signatures, NoInfer<Name>>, options?: RunOptions]
  ): Run<RunReply<Signatures, Name & keyof Signatures>>;
  /** Runs a hook of the factory, if there is one. The kit never runs hooks by itself. */
  runHook(hook: keyof Hooks, error?: unknown): Run<undefined>;
  /**
   * Calls back a timer as if it were due. `ticks` is passed to the callback of a fixed rate. Default: 1.
   *
   * @throws Error when there is no such timer.
   */
  fireTimer(key: string, ticks?: number): Run<undefined>;
  /** Calls back the receive timeout. Throws an Error when none is set. */
  fireReceiveTimeout(): Run<undefined>;
  /**
   * Tells the actor that a watched actor has ended.
   *
   * @throws Error when the actor does not watch it.
   */
  terminated(ref: AnyRef, error?: unknown): Run<undefined>;
  /** Aborts the signal of the message that is being handled, as when its sender gives up. */
  abort(reason?: unknown): void;
  /** Makes a reference to hand to the actor. Messages sent to it are recorded. */
  ref<S>(protocol: Protocol<string, S>, name: string): Ref<S>;
  ref(name: string): Ref<AnySignatures>;
  /**
   * Prepares the answer of another actor's operation from now on: a reply, or an iterable for a stream. An ask without a prepared
   * answer throws.
   *
   * @example
   * kit.answer(prices, "price", (item) => (item === "tea" ? 4 : 0));
   */
  answer<S, Name extends keyof S & string>(to: Ref<S>, operation: Name, answer: Answering<S, Name>): void;
  /** Prepares the refusal of another actor's operation from now on, also for offers. */
  refuse<S>(to: Ref<S>, operation: keyof S & string, kind: Refusal): void;
}

/**
 * Makes a kit from an actor's protocol and factory. Runs the factory, but no hooks (see `runHook`).
 *
 * @param name the actor's name. Default: the protocol's.
 * @throws TypeError, as `spawn` does, when the factory lacks a handler or has one that names neither an operation nor a hook; also
 * any error that the factory throws.
 * @example
 * const kit = createBehaviourKit(Counter, createCounter);
 * const { effects } = kit.run("add", 2);
 */
export function createBehaviourKit<Signatures>(
  protocol: Protocol<string, Signatures>,
  factory: NoInfer<Factory<Signatures>>,
  name: string = protocol.name,
): BehaviourKit<Signatures> {
  return new Kit(protocol, factory, name);
}

class Kit<Signatures> implements BehaviourKit<Signatures> {
  readonly #ctx: KitContext<Signatures>;
  readonly #protocol: Protocol<string, Signatures>;
  /** The operation, hook or timer that is being handled while a promise is pending. */
  #pending: string | null = null;

  constructor(protocol: Protocol<string, Signatures>, factory: NoInfer<Factory<Signatures>>, name: string) {
    this.#protocol = protocol;
    this.#ctx = new KitContext(protocol, address(name));
    const handlers = factory(this.#ctx);
    checkBehaviour(handlers, protocol, this.self);
    this.#ctx.handlers = handlers;
  }

  get self(): Ref<Signatures> {
    return this.#ctx.self;
  }
  get effects(): readonly Effect[] {
    return this.#ctx.effects;
  }
  get isStopped(): boolean {
    return this.#ctx.isStopped;
  }

  run<Name extends string>(
    name: Named<Signatures, Name>,
    ...args: [...payload: CallArgs<Signatures, NoInfer<Name>>, options?: RunOptions]
  ): Run<RunReply<Signatures, Name & keyof Signatures>> {
    const operation = this.#protocol.operations[name];
    if (operation === undefined) throw new TypeError(`${this.self.address} has no operation ${show(name)}.`);
    // Typed by run(): the argument that is not the payload is the options.
    const [payload, options] = (operation.hasPayload ? args : [undefined, ...args]) as unknown as [
      unknown,
      RunOptions?,
    ];
    const { sender, metadata, deadline = Number.POSITIVE_INFINITY, take = Number.POSITIVE_INFINITY } = options ?? {};
    const present = {
      message: createMessage(this.self.address, name, payload, {
        pattern: operation.isStream ? "stream" : operation.hasReply ? "ask" : "tell",
        timestamp: 0,
        ...(sender === undefined ? {} : { from: sender.address }),
        ...(metadata === undefined ? {} : { metadata }),
      }),
      metadata: Object.freeze({ ...metadata }),
      deadline,
      sender,
      controller: new AbortController(),
      isPassedOn: false,
    };
    const handlers = this.#ctx.handlers;
    const handle = (): unknown => {
      this.#ctx.present = present;
      // checkBehaviour has checked that it exists.
      const result: unknown = Reflect.apply(Reflect.get(handlers ?? {}, name), handlers, [payload]);
      return operation.isStream && !present.isPassedOn ? read(result, take) : result;
    };
    const replyOf = (result: unknown): unknown =>
      present.isPassedOn || !(operation.hasReply || operation.isStream) ? undefined : result;
    // Typed by the protocol, as the handler is.
    return this.#handle(show(name), handle, replyOf) as Run<RunReply<Signatures, Name & keyof Signatures>>;
  }

  runHook(hook: keyof Hooks, error?: unknown): Run<undefined> {
    const { handlers } = this.#ctx;
    return this.#call(hook, () => (hook === "onRestart" ? handlers?.onRestart?.(error) : handlers?.[hook]?.()));
  }

  fireTimer(key: string, ticks = 1): Run<undefined> {
    return this.#call(`timer ${key}`, this.#ctx.timers.due(key, ticks));
  }

  fireReceiveTimeout(): Run<undefined> {
    return this.#call("receive timeout", this.#ctx.timers.dueIdle());
  }

  terminated({ address: of }: AnyRef, error?: unknown): Run<undefined> {
    const callbacks = this.#ctx.watchersOf(of);
    return this.#call("terminated", () => {
      const results = callbacks.map((callback) => callback({ address: of, error }));
      return results.some(isThenable) ? Promise.all(results) : undefined;
    });
  }

  abort(reason: unknown = new DOMException("The sender gave up.", "AbortError")): void {
    if (this.#ctx.present === null) throw new Error(`${this.self.address} handles no message that could be given up.`);
    this.#ctx.present.controller.abort(reason);
  }

  ref(first: Protocol | string, second?: string): Ref<never> {
    const name = typeof first === "string" ? first : (second ?? first.name);
    // By the overloads of the interface, a reference with a protocol has its signatures, and one without takes anything.
    return this.#ctx.refTo(address(name), typeof first === "string" ? undefined : first) as Ref<never>;
  }

  answer<S, Name extends keyof S & string>(to: Ref<S>, operation: Name, answer: Answering<S, Name>): void {
    this.#ctx.answers.set(to.address, operation, { make: answer as (payload: unknown) => unknown }); // Typed by `to`.
  }

  refuse<S>(to: Ref<S>, operation: keyof S & string, kind: Refusal): void {
    this.#ctx.answers.set(to.address, operation, { refusal: kind });
  }

  #call(what: string, callback: () => unknown): Run<undefined> {
    return this.#handle(what, callback, () => undefined) as Run<undefined>; // The last argument gives undefined.
  }

  #handle(what: string, handle: () => unknown, replyOf: (result: unknown) => unknown): Run<unknown> {
    const ctx = this.#ctx;
    if (this.#pending !== null) {
      throw new Error(`${this.self.address} still handles ${this.#pending}; await its reply before ${what} (P3).`);
    }
    if (ctx.isStopped) throw new Error(`${this.self.address} has stopped itself, and handles no ${what}.`);
    const effects: Effect[] = [];
    ctx.ofRun = effects;
    this.#pending = what;
    const end = (): void => {
      this.#pending = null;
      ctx.present = null;
      ctx.ofRun = [];
    };
    let result: unknown;
    try {
      result = handle();
    } catch (thrown) {
      end();
      throw thrown;
    }
    if (isThenable(result)) return { reply: Promise.resolve(result).finally(end).then(replyOf), effects };
    end();
    return { reply: replyOf(result), effects };
  }
}

/** The items of a stream; a promise of them if it is asynchronous. */
function read(result: unknown, take: number): unknown {
  if (typeof result === "object" && result !== null && Symbol.iterator in result) {
    return [...Iterator.from(result as Iterable<unknown>).take(take)];
  }
  return readAsync(result as AsyncIterable<unknown>, take); // Typed by Handlers: it is an iterable of either kind.
}

async function readAsync(items: AsyncIterable<unknown>, take: number): Promise<unknown[]> {
  const read: unknown[] = [];
  if (take < 1) return read;
  for await (const item of items) {
    read.push(item);
    if (read.length >= take) break;
  }
  return read;
}

/** The same test as in the core: functions with a `then` count too. */
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  ((typeof value === "object" && value !== null) || typeof value === "function") &&
  "then" in value &&
  typeof value.then === "function";
