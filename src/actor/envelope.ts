import type { Address } from "../message/address";
import type { DeliveryError, MessageSource } from "../message/delivery-error";
import { createMessage, type Message } from "../message/message";
import { inPattern } from "../message/wire";
import type { Mail } from "../runtime/mailbox";
import type { Cell } from "./cell";
import type { PendingAsk } from "./pending-ask";

/** A message on its way: what was said, and who waits for the answer. The message itself is made when it is read. */
export class Envelope implements Mail<Envelope> {
  next: Envelope | null = null;
  readonly type: string;
  payload: unknown;
  readonly sender: Cell | null;
  readonly ask: PendingAsk | null;
  message: Message | null;

  constructor(type: string, payload: unknown, sender: Cell | null, ask: PendingAsk | null, message: Message | null) {
    this.type = type;
    this.payload = payload;
    this.sender = sender;
    this.ask = ask;
    this.message = message;
  }
}

/** The message of an envelope to a cell, made at the first reading. */
export function messageIn(envelope: Envelope, to: Cell): Message {
  const pattern = envelope.ask === null ? "tell" : "ask";
  envelope.message =
    envelope.message === null
      ? createMessage(to.address, envelope.type, envelope.payload, {
          pattern,
          timestamp: to.environment.clock.wallTime(),
          ...(envelope.sender === null ? {} : { from: envelope.sender.address }),
        })
      : inPattern(envelope.message, pattern);
  return envelope.message;
}

/** What an error keeps of an envelope. */
export class EnvelopeSource implements MessageSource {
  readonly #envelope: Envelope;
  readonly #cell: Cell;

  constructor(envelope: Envelope, cell: Cell) {
    this.#envelope = envelope;
    this.#cell = cell;
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

/** The dead letter of an error: of the message that was sent, with the error's sentence. */
export const letterOf = (error: DeliveryError, asked: boolean) => ({
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
