import type { Result } from "neverthrow";
import type { AnyRef } from "../../message/address";
import type { DeliveryError } from "../../message/delivery-error";
import type { Message } from "../../message/message";
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
import type { AskOptions, AskResult } from "../envelopes/ask";
import type { OfferOptions } from "../envelopes/offer";
import type { StreamOptions } from "../envelopes/stream-options";
import type { Timers } from "../life/timers";
import type { Terminated } from "../life/watch";
import type { ActorOptions } from "../options";
import type { AnySignatures, Forwardable, Forwarded, Ref } from "../refs/ref";
import type { ActorStream } from "../refs/stream-reader";

/**
 * The hooks of an actor's life, beside its handlers. They run in its turn, one at a time with its
 * messages; one that has not ended after the system's `hookTimeout` has failed.
 */
export interface Hooks {
  /**
   * Runs before the first message, after each restart too. One that throws is a failure, which the supervisor decides;
   * to resume is then to stop.
   */
  onStart?(): unknown;
  /** Runs after `onStart` where this instance replaces one that failed; it gets what that threw. */
  onRestart?(error: unknown): unknown;
  /**
   * Runs when this instance ends, by a stop or before a restart: after its last message and after its children have
   * stopped, and only if its `onStart` had succeeded. One that throws is logged.
   */
  onStop?(): unknown;
}

/**
 * Makes an actor's handlers, and its hooks beside them; its state lives in the closure. A restart calls it again. A plain object
 * may have data beside them, and no other function: a misspelt one throws at spawn. An object of a class may have methods of its
 * own, unless one is a letter off a name that is missing.
 */
export type Factory<Signatures> = (ctx: Context<Signatures>) => Handlers<Signatures> & Hooks;

/** An actor's view of itself and its system while it runs. */
export interface Context<Signatures> {
  /** The reference to this actor. */
  readonly self: Ref<Signatures>;
  /**
   * The message that is being handled, made when first read: one sent through a reference gets its id and its
   * timestamp then. Its payload is what was sent, also where the handler gets what a schema made of it.
   *
   * @throws Error when no message is being handled.
   */
  readonly message: Message;
  /**
   * The sender of the message, where that is an actor that said so: by any of `ctx.tell`, `ctx.offer`, `ctx.ask` and
   * `ctx.stream`, or by `from`.
   */
  readonly sender: Ref<AnySignatures> | undefined;
  /**
   * Aborts when the sender of the current message gives up, or this actor is stopped or restarts (P7); read outside of
   * handlers, as in the factory, only for the latter. Made when first read. Its reason is the delivery error where the
   * sender gave up, and an AbortError otherwise. A listener that throws is an uncaught exception, as on any signal. A
   * handler that ends early throws the reason, an AbortError, or the error of what it waited for: anything else is logged.
   */
  readonly signal: AbortSignal;
  /**
   * Calls back once when `signal` would abort, at once where it would have already; what it returns ends that. For what is
   * begun often and seldom given up: it makes no AbortSignal, which costs 0.5 µs and more. A callback that throws is an
   * uncaught exception.
   *
   * @example
   * const forget = ctx.onAbort(() => job.cancel());
   * try { return await job.result; } finally { forget(); }
   */
  onAbort(callback: () => void): () => void;
  /** Timers that call back in this actor's turn, and end with a stop or a restart. */
  readonly timers: Timers;
  /**
   * The system's clock, for a handler that measures time, or that lets the event loop go on within long work:
   * `await new Promise<void>((go) => ctx.clock.macrotask(go))`. A timer that is set on it is not this actor's: it calls
   * back outside of its turns, and outlives it.
   */
  readonly clock: Clock;
  /**
   * Spawns a child, which stops before this actor does, and before it restarts. Its address is this one's, a slash and
   * its name.
   *
   * @throws TypeError or Error as `system.spawn` does.
   * @example
   * const worker = ctx.spawn("worker", Worker, createWorker, { capacity: 100 });
   */
  spawn<Child>(
    name: string,
    protocol: Protocol<string, Child>,
    factory: Factory<Child>,
    options?: ActorOptions,
  ): Ref<Child>;
  /**
   * Stops this actor after the running message, or one of its children. The messages that wait are dead-lettered.
   *
   * @throws TypeError when the reference is neither this actor's nor a child's.
   */
  stop(child?: AnyRef): void;
  /**
   * Calls back once when an actor has stopped, in this actor's turn and after all that it sent here before (P2); at
   * once where it is gone already. A restart is no stop. What is returned ends the watch; a restart of this actor ends
   * it too.
   *
   * @throws TypeError when the reference is none, or this actor's own; Error in `onStop` and later.
   * @example
   * ctx.watch(worker, ({ address, error }) => replace(address, error));
   */
  watch(ref: AnyRef, onTerminated: (terminated: Terminated) => unknown): () => void;
  /**
   * Keeps the message that is being handled for later: its sender goes on waiting, and what the handler returns is not
   * its reply. It leaves its place in a mailbox with a `capacity` to others. Default bound: 1,000 messages (`stashCapacity`);
   * what a restart finds stashed is put back, as by `unstash`.
   *
   * @throws Error when the stash is full, which fails the message unless it is caught; and outside of handlers.
   * @example
   * find(query) { if (!isReady) return ctx.stash(); … }
   */
  stash(): PassedOn;
  /**
   * Puts what was stashed before all that waits, in the order in which it came. It comes back also where the mailbox is full, which
   * then holds more than its `capacity`: senders are refused, or wait, until there is room again.
   */
  unstash(): void;
  /**
   * Handles what comes next by other handlers, until `unbecome()` or a restart. The hooks stay those of the factory. Each
   * call is kept for its `unbecome()`: one that goes round for ever should go back instead.
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
   * Hands the message that is being handled to another actor, as if it had been sent there: who asked gets that one's
   * reply, and what this handler returns is not looked at. A message that was forwarded more than the system's
   * `maxHops` times comes back as `no-recipient`. The compiler accepts an actor that takes the operation and replies as
   * this one does; for an operation without a reply, any actor that shares one of the operations. Where the reference may be one of
   * several, each of their actors must.
   *
   * The other actor's handler gets the payload as this one's got it. A payload from outside is validated once, by the first
   * schema that it meets; it counts as from within from then on, so another actor's schema looks at it only under
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
   * @throws TypeError when the reference is none.
   */
  tell<S, Name extends string>(ref: Ref<S>, operation: Asked<S, Name>, ...payload: AskArgs<S, NoInfer<Name>>): void;
  /**
   * Offers as `ref.offer` does, with this actor as the sender. It is no wait of the handler: it ends by its own
   * timeout, and a circle of offers is not seen.
   *
   * @throws TypeError when the reference is none; and what `ref.offer` throws.
   */
  offer<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: [...payload: AskArgs<S, NoInfer<Name>>, options?: OfferOptions]
  ): Promise<Result<void, DeliveryError>>;
  /**
   * Asks as `ref.ask` does, with this actor as the sender. Inside a handler it is bound to the message that is handled:
   * it never outlives the ask that it serves (its timeout is cut to what that has left, and it is given up together
   * with it), and one that would close a circle of actors that wait for each other comes back `ask-cycle` at once (P8).
   * An ask counts as a wait of its handler while it is pending, whether it is awaited or not. Several count as one: any of
   * them may be enough, as in `Promise.race`, so none is refused until all that are left wait for their own asker.
   *
   * It ends with its handler (P7). When the handler replies, fails, passes its message on or is abandoned, each of its asks
   * that has no reply yet comes back `cancelled`, and is never handled where it still waits in a mailbox. So await it, and ask
   * by `ref.ask` what is to outlive the handler. The same holds for the callback of a hook, a timer or a watch. An ask made
   * outside of all of them, as in the factory, ends when this instance stops or restarts. After that, each ask comes back
   * `cancelled` at once.
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
   * Streams as `ref.stream` does, with this actor as the sender; inside a handler it is bound as an ask is, and ends with the
   * handler: its producer is ended, and a read that waits rejects with a StreamError of the kind `cancelled`.
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
