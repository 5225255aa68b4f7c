import type { Message } from "../message/message";
import type { Protocol } from "../protocol/protocol";
import type { AskName, Handlers, ItemOf, PayloadArgs, ReplyOf, StreamName } from "../protocol/signatures";
import type { AskOptions, AskResult } from "./pending-ask";
import type { AnyRef, AnySignatures, Ref } from "./ref";
import type { ActorStream, StreamOptions } from "./stream";

/** Makes an actor's handlers; its state lives in the closure. */
export type Factory<Signatures> = (ctx: Context<Signatures>) => Handlers<Signatures>;

/** What an actor knows and can do while it runs. */
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
  /** Who sent the message, where that is an actor that said so: by `ctx.tell` or `ctx.ask`, or by `from`. */
  readonly sender: Ref<AnySignatures> | undefined;
  /**
   * Aborts when the sender of the current message gives up, or this actor is stopped (P7); read outside of handlers, as in
   * the factory, only when it is stopped. Made when first read. Its reason is the delivery error where the sender gave up, and an
   * AbortError where the actor is stopped. A listener that throws is an uncaught exception, as on any signal.
   */
  readonly signal: AbortSignal;
  /**
   * Spawns a child, which stops before this actor does. Its address is this one's, a slash and its name.
   *
   * @throws TypeError or Error as `system.spawn` does.
   */
  spawn<Child>(name: string, protocol: Protocol<string, Child>, factory: Factory<Child>): Ref<Child>;
  /**
   * Stops this actor after the running message, or one of its children. The messages that wait are dead-lettered.
   *
   * @throws TypeError when the reference is neither this actor's nor a child's.
   */
  stop(child?: AnyRef): void;
  /** Tells as `ref.tell` does, with this actor as the sender. */
  tell<S, Name extends AskName<S>>(ref: Ref<S>, operation: Name, ...payload: PayloadArgs<S, Name>): void;
  /**
   * Asks as `ref.ask` does, with this actor as the sender.
   *
   * @example
   * const total = await ctx.ask(counter, "total", { timeout: 500 });
   */
  ask<S, Name extends AskName<S>>(
    ref: Ref<S>,
    operation: Name,
    ...args: [...payload: PayloadArgs<S, Name>, options?: AskOptions]
  ): Promise<AskResult<ReplyOf<S, Name>>>;
  /** Streams as `ref.stream` does, with this actor as the sender. */
  stream<S, Name extends StreamName<S>>(
    ref: Ref<S>,
    operation: Name,
    ...args: [...payload: PayloadArgs<S, Name>, options?: StreamOptions]
  ): ActorStream<ItemOf<S, Name>>;
}
