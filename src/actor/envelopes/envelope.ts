import { type Address, quote } from "../../message/address";
import {
  type DeliveryError,
  deliveryError,
  type MessageSource,
  type Pause,
  type Stage,
} from "../../message/delivery-error";
import type { Message } from "../../message/message";
import type { Operation } from "../../protocol/protocol";
import type { Enter } from "../../runtime/contexts";
import type { Envelope, Environment, Fan, Origin, Recipient, Recipients, Wait } from "../contract";
import type { DeadLetter } from "../events";
import { deadlineIn, leftUntil, messageIn } from "./origin";

/**
 * The constant answers of all tells. A separate class: JavaScriptCore reserves room in each object for its own class's
 * getters.
 */
class Unawaited {
  get pattern(): "tell" {
    return "tell";
  }
  get failure(): null {
    return null;
  }
  get isTold(): false {
    return false;
  }
  get canWait(): false {
    return false;
  }
  admitted(): void {}
  moveTo(): void {}
  complete(): boolean {
    return true;
  }
  fail(): void {}
}

/**
 * An envelope that nobody waits for. Four fields, because many may queue (48 bytes each; with getters of its own it was
 * 64).
 */
export class Tell implements Envelope {
  declare next: Envelope["next"];
  declare type: string;
  declare payload: unknown;
  declare origin: Origin;
  declare context?: Enter;
  declare readonly pattern: Unawaited["pattern"];
  declare readonly failure: Unawaited["failure"];
  declare readonly isTold: Unawaited["isTold"];
  declare readonly canWait: Unawaited["canWait"];
  declare readonly admitted: Unawaited["admitted"];
  declare readonly moveTo: Unawaited["moveTo"];
  declare readonly complete: Unawaited["complete"];
  declare readonly fail: Unawaited["fail"];

  constructor(type: string, payload: unknown, origin: Origin) {
    this.next = null;
    this.type = type;
    this.payload = payload;
    this.origin = origin;
  }
}
// No `extends` and no declared fields: each would be one more call, which took a quarter of a tell.
Object.setPrototypeOf(Tell.prototype, Unawaited.prototype);

export const tellOf = (type: string, payload: unknown): Tell => new Tell(type, payload, null);

/**
 * The envelope of a tell. One with a deadline is no `Tell`: a turn looks at its deadline, and at no other tell for one.
 */
export function tellFrom(type: string, payload: unknown, origin: Origin): Envelope {
  if (deadlineIn(origin) === null) return new Tell(type, payload, origin);
  return Object.assign(new Unawaited(), { next: null, type, payload, origin });
}

/** The error of an envelope whose deadline is over before it is handled; null when it may be handled. */
export function overdue(envelope: Envelope, cell: Recipient): DeliveryError | null {
  const deadline = deadlineIn(envelope.origin);
  if (deadline === null || leftUntil(deadline) > 0) return null;
  return deliveryError("timeout", new EnvelopeSource(envelope, cell, "queued"), deadline.given);
}

/**
 * Keeps the sender's context, if handlers run in it, and the time, if an observer wants to know it. A forwarded envelope already
 * has its context.
 */
export function markEntry(envelope: Envelope, { captureSender, observers, clock }: Environment): void {
  if (captureSender !== null) envelope.context ??= captureSender();
  if (observers.measuresQueueTime) envelope.sentAt = clock.monotonicTime();
}

/** The part of an envelope that an error keeps. */
export class EnvelopeSource implements MessageSource {
  readonly #envelope: Envelope;
  readonly #cell: Recipient;
  readonly stage?: Stage;
  readonly behind?: string;
  readonly pause?: Pause;

  constructor(envelope: Envelope, cell: Recipient, stage?: Stage, behind?: string, pause?: Pause) {
    this.#envelope = envelope;
    this.#cell = cell;
    if (stage !== undefined) this.stage = stage;
    if (behind !== undefined) this.behind = behind;
    if (pause !== undefined) this.pause = pause;
  }
  get to(): Address {
    return this.#cell.address;
  }
  get type(): string {
    return this.#envelope.type;
  }
  toMessage(): Message {
    return messageIn(this.#envelope, this.#cell);
  }
}

/** The dead letter of an error, with the sent message and the error's sentence. */
export const deadLetterOf = (error: DeliveryError, asked: boolean): DeadLetter => ({
  reason: error.kind,
  address: error.address,
  operation: error.operation,
  asked,
  get description() {
    return error.message;
  },
  get message() {
    return error.undelivered;
  },
});

/** The dead letter of a reply that came after its asker gave up; `how` ends its sentence. */
export const lateReplyLetter = (source: MessageSource, reply: unknown, how: string): DeadLetter => ({
  reason: "late-reply",
  address: source.to,
  operation: source.type,
  asked: false,
  reply,
  get description() {
    return `The reply to ${quote(source.type)} from ${source.to} ${how}`;
  },
  get message() {
    return source.toMessage();
  },
});

/** The record of a forwarded envelope. */
export interface Route {
  /** The actors that forwarded it, in order. */
  readonly hops: readonly Address[];
  /**
   * The operation whose schema its payload fits, if an actor that validates always forwarded it. For a message from
   * outside, the origin has it.
   */
  readonly fits: Operation | null;
  /** The pools whose workers forwarded it. */
  readonly pools: readonly Recipient[];
}

/** Kept by envelope: few are forwarded, and a field would cost every message eight bytes. */
export const routes = new WeakMap<Envelope, Route>();

/** The pools of a route, once an actor has forwarded it. */
export function poolsBehind(before: Route | undefined, { parent }: Recipient): readonly Recipient[] {
  const pools = before?.pools ?? [];
  const isWorker = parent !== null && parent.relay !== null;
  return isWorker && !pools.includes(parent) ? [...pools, parent] : pools;
}

/**
 * The messages that went to several actors. Kept by envelope, not by pool: a pool may stop or restart while other actors
 * have messages that its workers forwarded.
 */
export const fans = new WeakMap<Envelope | Wait, Fan>();

const NOBODY: Recipients = { parts: [], isOneEnough: true };

/**
 * The recipients of a message that an actor passes to others: those that have not answered it yet, or all if it is not
 * sent yet. Null when the actor itself handles it.
 */
export function recipientsOf(to: Recipient, wait: Wait | null): Recipients | null {
  const { relay } = to;
  if (wait === null) return relay === null ? null : relay.recipients();
  if (relay === null && to.isAlive) return null; // The common case.
  return fans.get(wait)?.recipients() ?? (relay === null ? null : NOBODY);
}
