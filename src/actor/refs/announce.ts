import type { Address, AnyRef } from "../../message/address";
import type { Metadata, Pattern } from "../../message/message";
import { sentenceOf } from "../../message/sentence-of";
import { hearRejection } from "../../runtime/thenable";
import type { Envelope, Environment, Recipient } from "../contract";
import { observedIn } from "../envelopes/handed-on";
import {
  addMark,
  deadlineOf,
  isFromOutside,
  metadataOf,
  NO_METADATA,
  replaceMetadata,
  senderOf,
} from "../envelopes/origin";
import type { ObservedHandling, ObservedSending, OnSend } from "../observers";

/** A message that is about to be sent. */
class Sending implements ObservedSending {
  readonly isForwarded: boolean;
  readonly #to: Recipient;
  readonly #envelope: Envelope;
  readonly #handling: ObservedHandling | undefined;

  constructor(to: Recipient, envelope: Envelope, handling: ObservedHandling | undefined, isForwarded: boolean) {
    this.#to = to;
    this.#envelope = envelope;
    this.#handling = handling;
    this.isForwarded = isForwarded;
  }

  get ref(): AnyRef {
    return this.#to.ref;
  }
  get address(): Address {
    return this.#to.address;
  }
  get operation(): string {
    return this.#envelope.type;
  }
  get pattern(): Pattern {
    return this.#envelope.pattern;
  }
  get payload(): unknown {
    return this.#envelope.payload;
  }
  get metadata(): Metadata {
    return metadataOf(this.#envelope) ?? NO_METADATA;
  }
  set metadata(metadata: Metadata) {
    replaceMetadata(this.#envelope, metadata);
  }
  get handling(): ObservedHandling | undefined {
    return this.#handling;
  }
  mark(key: symbol, value: unknown): void {
    addMark(this.#envelope, key, value);
  }
  get sender(): AnyRef | undefined {
    return senderOf(this.#envelope, this.#to.environment)?.ref;
  }
  get timeLeft(): number {
    return deadlineOf(this.#envelope);
  }
  get isFromOutside(): boolean {
    return isFromOutside(this.#envelope);
  }
}

/**
 * Shows a message to those who observe what is sent, before it is sent: those of its sender's system, or of its recipient's where it
 * is sent outside of actors.
 *
 * @param by the actor whose handler sends it; null outside of actors.
 */
export function announce(to: Recipient, envelope: Envelope, by: Recipient | null, isForwarded: boolean): void {
  const { environment } = by ?? to;
  const { onSend } = environment.observers;
  if (onSend === null) return;
  const present = by?.present ?? null;
  const handling = by === null || present === null ? undefined : (observedIn(by, present) ?? undefined);
  const sending = new Sending(to, envelope, handling, isForwarded);
  for (const observer of onSend) call(observer, sending, environment);
}

function call(observer: OnSend, sending: Sending, environment: Environment): void {
  try {
    const returned: unknown = observer(sending);
    if (returned !== undefined) hearRejection(returned, (thrown) => log(thrown, sending, environment));
  } catch (thrown) {
    log(thrown, sending, environment); // A tell must not throw (P4).
  }
}

function log(thrown: unknown, { address }: Sending, { logger, logLimit }: Environment): void {
  if (!logLimit.admit()) return;
  logger.error(`An observer of what is sent to ${address} threw: ${sentenceOf(thrown)}`, { address, cause: thrown });
}
