import { type Address, quote } from "../../message/address";
import type { DeliveryError, MessageSource, Pause, Stage } from "../../message/delivery-error";
import { createMessage, inPattern, isReceived, type Message, markReceived } from "../../message/message";
import type { Operation } from "../../protocol/protocol";
import type { Enter } from "../../runtime/contexts";
import type { Envelope, Environment, FromDoor, Origin, Recipient } from "../contract";
import type { DeadLetter } from "../events";

/** The origin of an envelope that came through a door and has no message yet, or a checked payload. */
export class Outside implements FromDoor {
  readonly message: Message | null;
  readonly fits: Operation | null;

  constructor(message: Message | null, fits: Operation | null) {
    this.message = message;
    this.fits = fits;
  }
}

/** True when an origin is a door. */
export const isFromDoor = (origin: Origin): origin is FromDoor => origin instanceof Outside;

/**
 * The origin of all messages from `receive`: one is enough, because such a sender has neither an address nor a message.
 */
export const OUTSIDE = new Outside(null, null);

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
  declare next: Envelope | null;
  declare readonly type: string;
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

/** True when an origin is a message; a cell has no id. */
const isMessage = (origin: Message | Recipient): origin is Message => "id" in origin;

/** Keeps the sender's context, if handlers run in it. A forwarded envelope already has it. */
export function keepContext(envelope: Envelope, { captureSender }: Environment): void {
  if (captureSender !== null) envelope.context ??= captureSender();
}

/** The message of an envelope, if it was read or sent as one. */
export function knownMessage({ origin }: Envelope): Message | null {
  const known = isFromDoor(origin) ? origin.message : origin;
  return known !== null && isMessage(known) ? known : null;
}

/** True when an envelope came through a door (`parseMessage`, `receive`), even after its payload was checked. */
export function isFromOutside({ origin }: Envelope): boolean {
  if (origin === null) return false;
  try {
    return isFromDoor(origin) || (isMessage(origin) && isReceived(origin));
  } catch {
    return true; // A proxy that throws is not trusted.
  }
}

/** The actor that sent an envelope, where the system knows one. */
export function senderOf({ origin }: Envelope, { directory }: Environment): Recipient | undefined {
  const known = isFromDoor(origin) ? origin.message : origin;
  if (known === null || !isMessage(known)) return known ?? undefined;
  return known.from === undefined ? undefined : directory.get(known.from);
}

/** The message of an envelope to a cell, made at the first reading. */
export function messageIn(envelope: Envelope, to: Recipient): Message {
  const { origin, pattern } = envelope;
  if (isFromDoor(origin)) return messageFromOutside(envelope, origin, to);
  if (origin !== null && isMessage(origin)) {
    if (origin.pattern === pattern) return origin;
    const message = inPattern(origin, pattern);
    envelope.origin = message;
    return message;
  }
  const message = makeMessage(envelope, to, origin === null ? {} : { from: origin.address });
  envelope.origin = message;
  return message;
}

const makeMessage = (envelope: Envelope, to: Recipient, from: { readonly from?: Address }): Message =>
  createMessage(to.address, envelope.type, envelope.payload, {
    pattern: envelope.pattern,
    timestamp: to.environment.clock.wallTime(),
    ...from,
  });

/** Marked as received: it has the sent payload, so it is validated again if a handler sends it on by itself. */
function messageFromOutside(envelope: Envelope, { message, fits }: Outside, to: Recipient): Message {
  if (message?.pattern === envelope.pattern) return message;
  const made = message === null ? markReceived(makeMessage(envelope, to, {})) : inPattern(message, envelope.pattern);
  envelope.origin = new Outside(made, fits);
  return made;
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

/** The dead letter of a reply that came after its asker gave up. */
export const lateReplyLetter = (envelope: Envelope, cell: Recipient, reply: unknown): DeadLetter => ({
  reason: "late-reply",
  address: cell.address,
  operation: envelope.type,
  asked: false,
  reply,
  get description() {
    return (
      `The reply to ${quote(envelope.type)} from ${cell.address} came after its asker gave up; ` +
      "ask with a longer timeout, or end early by ctx.signal."
    );
  },
  get message() {
    return messageIn(envelope, cell);
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
const routes = new WeakMap<Envelope, Route>();

export const routeOf = (envelope: Envelope): Route | undefined => routes.get(envelope);

/** The pools of a route, once an actor has forwarded it. */
export function poolsBehind(before: Route | undefined, { parent }: Recipient): readonly Recipient[] {
  const pools = before?.pools ?? [];
  const isWorker = parent !== null && parent.relay !== null;
  return isWorker && !pools.includes(parent) ? [...pools, parent] : pools;
}

export function keepRoute(envelope: Envelope, route: Route): void {
  routes.set(envelope, route);
}

/** Gives the copy of an envelope for another recipient the same route. */
export function copyRoute(from: Envelope, to: Envelope): void {
  const route = routes.get(from);
  if (route !== undefined) routes.set(to, route);
}
