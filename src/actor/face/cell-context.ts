import type { Result } from "neverthrow";
import type { AnyRef } from "../../message/address";
import type { DeliveryError } from "../../message/delivery-error";
import type { Message, Metadata } from "../../message/message";
import type { Protocol } from "../../protocol/protocol";
import type { PassedOn } from "../../protocol/signatures";
import type { Clock } from "../../runtime/clock";
import { type Cell, cellOf } from "../cell/cell";
import { endedSentence, stopReason } from "../cell/state";
import { behave } from "../cell/transitions";
import type { Origin } from "../contract";
import { whenAborted } from "../envelopes/abort";
import type { AskResult } from "../envelopes/ask";
import type { AskOptions, OfferOptions, StreamOptions, TellOptions } from "../envelopes/call-options";
import { tellFrom } from "../envelopes/envelope";
import { handedOn, originIn } from "../envelopes/handed-on";
import type { Handling } from "../envelopes/handling";
import { deadlineOf, messageIn, metadataOf, NO_METADATA, senderOf } from "../envelopes/origin";
import { checkProgress, tellProgress } from "../envelopes/progress";
import { Signal } from "../envelopes/signal";
import { checkHandlers, checkNoHooks, FROM_BECOME } from "../handlers";
import { onAbort, signalOf } from "../life/ending";
import { stop } from "../life/lifecycle";
import { type Timers, timersOf } from "../life/timers";
import { type Terminated, Watch } from "../life/watch";
import type { ActorOptions } from "../options";
import { type AnySignatures, type Ref, refTo } from "../refs/ref";
import { askFor, asWritten, offer, send, stream, tell } from "../refs/sending";
import type { ActorStream } from "../refs/stream-reader";
import { actorBehind } from "./by-address";
import type { Context, Factory } from "./context";
import { forward, stash, unstash } from "./forwarding";
import { spawnCell } from "./spawn";
import { isReplaced, stopping, waiterOf } from "./waits";

/** The one class behind every context; its face is Context, which knows the protocol. */
export class CellContext implements Context<AnySignatures> {
  readonly #cell: Cell;
  readonly #generation: number;

  constructor(cell: Cell) {
    this.#cell = cell;
    this.#generation = cell.generation;
  }

  /** The cell, for calls that change the actor. A replaced instance may not make them. */
  get #own(): Cell {
    if (!this.#isReplaced) return this.#cell;
    throw new Error(
      `This context of ${this.#cell.address} is that of an instance which a restart has replaced; ` +
        "await what a handler begins, so that nothing of it runs on.",
    );
  }

  get #isReplaced(): boolean {
    return isReplaced(this.#cell, this.#generation);
  }

  get #waiter(): Handling {
    return waiterOf(this.#cell, this.#generation);
  }

  /** The origin of what it sends now: this actor, with what the message that it handles hands on. */
  get #origin(): Origin {
    const cell = this.#cell;
    const { present } = cell;
    if (present === null || (present.origin === null && cell.environment.observers.chain === null)) return cell;
    return this.#isReplaced ? cell : originIn(present, cell);
  }

  get self(): Ref<AnySignatures> {
    return refTo(this.#cell);
  }

  get message(): Message {
    const { present } = this.#own;
    if (present === null || present instanceof Signal) {
      throw new Error(`${this.#cell.address} handles no message now; read ctx.message inside a handler.`);
    }
    return messageIn(present, this.#cell);
  }

  get sender(): Ref<AnySignatures> | undefined {
    const { present, environment } = this.#own;
    const cell = present === null ? undefined : senderOf(present, environment);
    return cell === undefined ? undefined : refTo(cell);
  }

  get metadata(): Metadata {
    const { present } = this.#own;
    return (present === null ? null : metadataOf(present)) ?? NO_METADATA;
  }

  get handsOn(): Metadata {
    const cell = this.#own;
    const { present } = cell;
    return (present === null ? null : handedOn(present, cell)) ?? NO_METADATA;
  }

  get deadline(): number {
    const { present } = this.#own;
    if (present === null) return Number.POSITIVE_INFINITY;
    return present.failure === null ? deadlineOf(present) : 0; // Its sender has given up: nothing is left.
  }

  progress(done: number, total?: number, note?: string): void {
    checkProgress(done, total, note);
    const { present } = this.#cell;
    if (present !== null && !this.#isReplaced) tellProgress(present, done, total, note);
  }

  get signal(): AbortSignal {
    return this.#isReplaced ? AbortSignal.abort(stopReason(this.#cell.address)) : signalOf(this.#cell);
  }

  onAbort(callback: () => void): () => void {
    const cell = this.#cell;
    return this.#isReplaced ? whenAborted(this.signal, callback, cell.environment.enter) : onAbort(cell, callback);
  }

  get timers(): Timers {
    const cell = this.#own;
    return timersOf(cell);
  }

  get clock(): Clock {
    return this.#cell.environment.clock;
  }

  spawn<Child>(
    name: string,
    protocol: Protocol<string, Child>,
    factory: NoInfer<Factory<Child>>,
    options?: ActorOptions,
  ): Ref<Child> {
    const cell = this.#own;
    return spawnCell(cell.environment, cell, name, protocol, factory, options);
  }

  stop(child?: AnyRef): PromiseLike<void> | undefined {
    const own = this.#own;
    const cell = child === undefined ? own : actorBehind(cellOf(child));
    if (cell === undefined) return own.environment.settling.over; // By address, and nobody is there.
    if (cell !== own && cell.parent !== own) {
      throw new TypeError(`${own.address} can stop itself and its children, and ${cell.address} is neither.`);
    }
    stop(cell, false);
    if (cell === own) return undefined;
    return cell.isStopped ? own.environment.settling.over : stopping(cell, own, this.#generation);
  }

  get children(): readonly Ref<AnySignatures>[] {
    return (this.#own.extras?.children?.all() ?? []).map((child) => refTo(child));
  }

  watch(ref: AnyRef, onTerminated: (terminated: Terminated) => unknown): () => void {
    const own = this.#own;
    if (typeof onTerminated !== "function") {
      throw new TypeError(`${own.address} watches with a function to call: ctx.watch(ref, () => { … }).`);
    }
    const watched = cellOf(ref);
    if (watched === own) throw new TypeError(`${own.address} cannot watch itself; use the hook onStop.`);
    if (own.instance.hasEnded) throw new Error(endedSentence(own.address, "what watches"));
    const watch = new Watch(own, watched, onTerminated);
    return () => watch.end();
  }

  stash(): PassedOn {
    return stash(this.#own);
  }

  unstash(): void {
    unstash(this.#own);
  }

  become(handlers: object): void {
    const cell = this.#own;
    if (cell.operations === null) {
      throw new TypeError(`${cell.address} is registered with a router and has one handler: it cannot become another.`);
    }
    const next = checkHandlers(handlers, cell.operations, cell, FROM_BECOME);
    checkNoHooks(next, cell.address);
    if (cell.behaviour === null) {
      throw new Error(
        `${cell.address} has no handlers that it could change now: return them from the factory, and become in a handler.`,
      );
    }
    cell.instance.behaviours.push(cell.behaviour);
    behave(cell, next);
  }

  unbecome(): void {
    const cell = this.#own;
    const before = cell.instance.behaviours.pop();
    if (before === undefined) {
      throw new Error(`${cell.address} is what it was made as: it has become nothing that ctx.unbecome() could end.`);
    }
    behave(cell, before);
  }

  forward(to: unknown): PassedOn {
    return forward(this.#own, cellOf(to as AnyRef)); // Typed by Context.forward, and looked at.
  }

  // Typed by Context, as those of ActorRef are by Ref: an argument is the payload or the options.

  tell(ref: AnyRef, operation: string, ...args: readonly unknown[]): void {
    const cell = cellOf(ref);
    const known = cell.operation(operation);
    const first = args[0];
    const second = args[1];
    if (second === undefined && (first === undefined || known?.hasPayload !== false)) {
      send(cell, tellFrom(operation, first, this.#origin), known, this.#cell);
      return;
    }
    const { payload, options } = asWritten<TellOptions>(known, first, second);
    tell(cell, this.#origin, operation, payload, options);
  }

  offer(ref: AnyRef, operation: string, ...args: readonly unknown[]): Promise<Result<void, DeliveryError>> {
    const cell = cellOf(ref);
    const { payload, options } = asWritten<OfferOptions>(cell.operation(operation), args[0], args[1]);
    return offer(cell, this.#origin, operation, payload, options ?? {});
  }

  ask(ref: AnyRef, operation: string, ...args: readonly unknown[]): Promise<AskResult<never>> {
    const cell = cellOf(ref);
    const known = cell.operation(operation);
    const { payload, options } = asWritten<AskOptions>(known, args[0], args[1]);
    const asked = askFor(this.#cell, this.#waiter, cell, operation, known, payload, options);
    return asked as Promise<AskResult<never>>; // The protocol of the ref gives the type of the reply.
  }

  stream(ref: AnyRef, operation: string, ...args: readonly unknown[]): ActorStream<never> {
    const cell = cellOf(ref);
    const { payload, options } = asWritten<StreamOptions>(cell.operation(operation), args[0], args[1]);
    const items = stream(cell, this.#origin, operation, payload, options ?? {}, this.#waiter);
    return items as ActorStream<never>; // The protocol of the ref gives the type of the items.
  }
}
