import type { Result } from "neverthrow";
import type { AnyRef } from "../../message/address";
import type { DeliveryError } from "../../message/delivery-error";
import type { Message, Metadata } from "../../message/message";
import type { Protocol } from "../../protocol/protocol";
import type {
  AskArgs,
  Asked,
  Handlers,
  ItemOf,
  PassedOn,
  ReplyOf,
  StreamArgs,
  Streamed,
} from "../../protocol/signatures";
import type { Clock } from "../../runtime/clock";
import type { AskResult } from "../envelopes/ask";
import type { AskOptions, OfferOptions, StreamOptions, TellOptions } from "../envelopes/call-options";
import type { Timers } from "../life/timers";
import type { Terminated } from "../life/watch";
import type { ActorOptions } from "../options";
import type { AnySignatures, Forwardable, Forwarded, Ref } from "../refs/ref";
import type { ActorStream } from "../refs/stream-reader";

/**
 * The hooks of an actor's life, beside its handlers. They run in its turn, one at a time with its messages. A hook that
 * takes longer than the system's `hookTimeout` fails.
 */
export interface Hooks {
  /**
   * Runs before the first message, also after each restart. A throw is a failure: the supervisor decides, and `resume`
   * then stops the actor.
   */
  onStart?(): unknown;
  /** Runs after `onStart` when this instance replaces one that failed; gets the error that the failed one threw. */
  onRestart?(error: unknown): unknown;
  /**
   * Runs when this instance ends, by a stop or before a restart. Its last message and its children have ended by then.
   * Runs only if `onStart` succeeded. A throw is logged.
   */
  onStop?(): unknown;
}

/**
 * Makes an actor's handlers and hooks; the actor's state lives in the closure. A restart calls it again. A plain object
 * may hold data, but no other functions: a misspelt handler throws at spawn. An instance of a class may have other
 * methods, unless one is a letter off a missing name.
 */
export type Factory<Signatures> = (ctx: Context<Signatures>) => Handlers<Signatures> & Hooks;

/** An actor's view of itself and its system while it runs. */
export interface Context<Signatures> {
  /** The reference to this actor. */
  readonly self: Ref<Signatures>;
  /**
   * The message that is being handled, made when first read. A message sent through a reference gets its id and its
   * timestamp then. The payload is the one that was sent, even if a schema changed it for the handler.
   *
   * @throws Error when no message is being handled.
   */
  readonly message: Message;
  /**
   * The sender of the message, if that is an actor that named itself: by `ctx.tell`, `ctx.offer`, `ctx.ask` or
   * `ctx.stream`, or by `from`.
   */
  readonly sender: Ref<AnySignatures> | undefined;
  /**
   * The data that came beside the payload of the message that is being handled: `metadata` of whoever sent it. Frozen; the
   * values in it are as they were sent. Empty when there is none, and outside of handlers. What the system's
   * `inheritedMetadata` names is handed on by `ctx.tell`, `ctx.ask`, `ctx.offer` and `ctx.stream`; `ctx.forward` hands on all.
   * The callbacks of `ctx.timers.once` and `ctx.watch` have that part, too, and so have the hooks of a restart from the message
   * that failed.
   */
  readonly metadata: Metadata;
  /**
   * The metadata that `ctx.tell`, `ctx.ask`, `ctx.offer` and `ctx.stream` send with a message now: what the system's `inheritedMetadata`
   * names of `metadata`, or what an observer gave in its place, such as the span that `trace` of `envoi/telemetry` made for this handler. For
   * a handler that sends by another way than its `ctx`: a reference, `fetch`, a library. Frozen; made when first read. Empty when there
   * is none, and outside of handlers. An observer may keep a value of its own under a symbol in it: `traceOf(ctx.handsOn)` has the trace
   * alone.
   *
   * @throws Error in an instance that a restart has replaced.
   * @example
   * await fetch(url, { headers: { ...traceOf(ctx.handsOn) } });
   * ref.tell("note", "later", { metadata: ctx.handsOn });
   */
  readonly handsOn: Metadata;
  /**
   * The milliseconds that are left to the message that is being handled, at least 0: what is left of the timeout of an ask,
   * or of the `deadline` of a tell, an offer or a stream. Read anew each time; 0 once the sender has given up. `Infinity`
   * when it has none, and outside of handlers. Nothing that is sent through `ctx` outlives a `deadline`, and no ask or stream outlives the ask that it serves.
   *
   * @example
   * const rows = await query(sql, { timeout: ctx.deadline });
   */
  readonly deadline: number;
  /**
   * Tells the asker how far this message has come, if it listens (`onProgress`); does nothing otherwise. The asker hears of it
   * once in a turn of the event loop at most: what was said last, and nothing after the reply. An ask that was forwarded,
   * or handed to the worker of a pool, tells the one who asked first. Outside of messages it does nothing.
   *
   * @throws TypeError when a number is not finite, or the note is no text.
   * @example
   * for (const [index, page] of pages.entries()) {
   *   await read(page);
   *   ctx.progress(index + 1, pages.length, page.title);
   * }
   */
  progress(done: number, total?: number, note?: string): void;
  /**
   * Aborts when the sender of the current message gives up, or when this actor is stopped or restarts (P7). Read
   * outside of handlers, as in the factory, it aborts for the actor alone. Made when first read. The reason is the
   * delivery error if the sender gave up, and otherwise an AbortError. A listener that throws is an uncaught exception,
   * as on any signal. A handler that ends early should throw the reason, an AbortError, or the error of its own wait:
   * any other error is logged.
   */
  readonly signal: AbortSignal;
  /**
   * Calls back once when `signal` would abort, or at once if it already has. The returned function ends that. Meant for
   * work that begins often and is seldom given up: it makes no AbortSignal, which costs 0.5 µs and more. A callback
   * that throws is an uncaught exception.
   *
   * `ctx.signal.reason` says why, in the callback too.
   *
   * @example
   * const forget = ctx.onAbort(() => job.cancel());
   * try { return await job.result; } finally { forget(); }
   */
  onAbort(callback: () => void): () => void;
  /** Timers that call back in this actor's turn, and end with a stop or a restart. */
  readonly timers: Timers;
  /**
   * The system's clock. A handler can measure time with it, or let the event loop go on within long work:
   * `await new Promise<void>((go) => ctx.clock.macrotask(go))`. A timer set on it does not belong to this actor: it
   * calls back outside of the actor's turns, and outlives the actor.
   */
  readonly clock: Clock;
  /**
   * Spawns a child. The child stops before this actor stops or restarts. Its address is this actor's, a slash and its
   * name.
   *
   * @throws TypeError or Error as `system.spawn` does.
   * @example
   * const worker = ctx.spawn("worker", Worker, createWorker, { capacity: 100 });
   */
  spawn<Child>(
    name: string,
    protocol: Protocol<string, Child>,
    factory: NoInfer<Factory<Child>>,
    options?: ActorOptions,
  ): Ref<Child>;
  /**
   * Stops this actor, or one of its children, after the running message. The messages that wait are dead-lettered. A reference
   * by address (`system.ref`) stops the child that is there now.
   *
   * The stop of a child can be awaited: `await ctx.stop(child)` goes on once the child and all below it have stopped
   * (P13); so does a handler that returns it. It never rejects, and goes on waiting when the handler's sender gives up. While it is awaited, it is a wait
   * of the handler: an ask of the child, or of an actor below it, that would wait for this handler comes back
   * `ask-cycle` (P8). A stop that is not awaited is no wait, and costs no promise. The stop of this actor itself returns
   * undefined: an actor that awaited its own stop would wait for ever.
   *
   * @throws TypeError when the reference is neither this actor's nor a child's.
   * @example
   * await Promise.all(ctx.children.map((child) => ctx.stop(child)));
   */
  stop(child?: AnyRef): PromiseLike<void> | undefined;
  /**
   * The references to this actor's children, in the order in which they were spawned: those that have not stopped at
   * this moment. Each reading makes another array.
   */
  readonly children: readonly Ref<AnySignatures>[];
  /**
   * Calls back once when an actor has stopped, in this actor's turn and after all messages that it sent here before
   * (P2); at once if it is already gone. A restart is no stop. The returned function ends the watch; a restart of this
   * actor ends it too.
   *
   * @throws TypeError when the reference is none, or this actor's own; Error in `onStop` and later.
   * @example
   * ctx.watch(worker, ({ address, error }) => replace(address, error));
   */
  watch(ref: AnyRef, onTerminated: (terminated: Terminated) => unknown): () => void;
  /**
   * Keeps the message that is being handled for later. Its sender goes on waiting, and the handler's result is not its
   * reply. Its place in a mailbox with a `capacity` becomes free. Default bound: 1,000 messages (`stashCapacity`). A
   * restart puts stashed messages back, as `unstash` does.
   *
   * @throws Error when the stash is full, which fails the message unless it is caught; and outside of handlers.
   * @example
   * find(query) { if (!isReady) return ctx.stash(); … }
   */
  stash(): PassedOn;
  /**
   * Puts the stashed messages before all that wait, in the order in which they came. They come back even if the mailbox
   * is full. It then holds more than its `capacity`: senders are refused, or wait, until there is room again.
   */
  unstash(): void;
  /**
   * Handles the next messages with other handlers, until `unbecome()` or a restart. The hooks stay those of the
   * factory. Each call is kept for its `unbecome()`: an actor that changes back and forth for ever should use
   * `unbecome()`.
   *
   * @throws TypeError when there is no handler for each operation, when there is a hook, or the actor is registered with a
   * router; Error in the factory, and when the actor has stopped.
   * @example
   * close() { ctx.become({ close() {}, open: () => ctx.unbecome() }); }
   */
  become(handlers: Handlers<Signatures>): void;
  /**
   * Goes back to the handlers before the last `become()`.
   *
   * @throws Error when there was none.
   */
  unbecome(): void;
  /**
   * Hands the message that is being handled to another actor, as if it had been sent there. The asker gets that actor's
   * reply; this handler's result is ignored. A message that was forwarded more than the system's `maxHops` times comes
   * back as `no-recipient`. The compiler accepts an actor that takes the operation and replies as this one does; for an
   * operation without a reply, any actor that shares one of the operations. If the reference is one of several, each of
   * their actors must fit.
   *
   * The other actor's handler gets the payload as this one got it. A payload from outside is validated once, by the
   * first schema that it meets. From then on it counts as from within: another actor's schema checks it only under
   * `validate: "always"`. `ctx.message` and the `undelivered` of an error stay the message that was sent.
   *
   * @throws TypeError when the reference is none; Error outside of handlers, and when the message was stashed or
   * forwarded already.
   * @example
   * find(query) { return ctx.forward(shardOf(query)); }
   */
  forward<To extends AnyRef>(to: Forwardable<Signatures, To>): PassedOn<Forwarded<Signatures, To>>;
  /**
   * Tells as `ref.tell` does, with this actor as the sender.
   *
   * @throws TypeError when the reference is none; and what `ref.tell` throws.
   */
  tell<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: [...payload: AskArgs<S, NoInfer<Name>>, options?: TellOptions]
  ): void;
  /**
   * Offers as `ref.offer` does, with this actor as the sender. An offer is no wait of the handler: it ends by its own
   * timeout, and a circle of offers is not detected.
   *
   * @throws TypeError when the reference is none; and what `ref.offer` throws.
   */
  offer<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: [...payload: AskArgs<S, NoInfer<Name>>, options?: OfferOptions]
  ): Promise<Result<void, DeliveryError>>;
  /**
   * Asks as `ref.ask` does, with this actor as the sender. Inside a handler, the ask is bound to the message that is
   * handled. It never outlives the message that it serves: its timeout is cut to `ctx.deadline`, and both are given up
   * together. An ask that would close a circle of waiting actors comes back `ask-cycle` at once (P8). An ask counts as
   * a wait of its handler while it is pending, whether it is awaited or not. Several count as one: any of them may be
   * enough, as in `Promise.race`. So none is refused until all that are left wait for their own asker.
   *
   * The ask ends with its handler (P7). When the handler replies, fails, passes its message on or is abandoned, each of
   * its pending asks comes back `cancelled`, and is never handled if it still waits in a mailbox. So await it, and use
   * `ref.ask` for an ask that should outlive the handler. The same holds for the callback of a hook, a timer or a
   * watch. An ask made outside of all of them, as in the factory, ends when this instance stops or restarts. After
   * that, each ask comes back `cancelled` at once.
   *
   * @throws TypeError when the reference is none; and what `ref.ask` throws.
   * @example
   * const total = await ctx.ask(counter, "total", { timeout: 500 });
   */
  ask<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: [...payload: AskArgs<S, NoInfer<Name>>, options?: AskOptions]
  ): Promise<AskResult<ReplyOf<S, Name & keyof S>>>;
  /**
   * Streams as `ref.stream` does, with this actor as the sender. Inside a handler the stream is bound as an ask is, and
   * ends with the handler: its producer is ended, and a pending read rejects with a StreamError of the kind
   * `cancelled`.
   *
   * @throws TypeError when the reference is none; and what `ref.stream` throws.
   * @example
   * for await (const line of ctx.stream(log, "lines", 10)) print(line);
   */
  stream<S, Name extends string>(
    ref: Ref<S>,
    operation: Streamed<S, Name>,
    ...args: [...payload: StreamArgs<S, NoInfer<Name>>, options?: StreamOptions]
  ): ActorStream<ItemOf<S, Name & keyof S>>;
}
