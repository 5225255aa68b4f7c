import { type Address, isAddress, quote } from "../../message/address";
import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Operations, Protocol } from "../../protocol/protocol";
import { type ActorEnvironment, Cell } from "../cell/cell";
import { guard } from "../cell/transitions";
import type { Envelope, Recipient, Recipients, Relay } from "../contract";
import { EnvelopeSource } from "../envelopes/envelope";
import { type Ref, refTo } from "../refs/ref";
import { handTo, operationFor, recipientAt } from "../refs/sending";

/** Hands each message to the actor that is at an address at that moment, which may have to be opened first. */
class ByAddress implements Relay {
  readonly #cell: Cell;
  /** The number of messages that it is handing on at this moment: several when a recipient hands a message on to it again. */
  #depth = 0;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  /** The actor that is there now. Opens nothing. */
  get actor(): Cell | undefined {
    return this.#cell.environment.directory.get(this.#cell.address);
  }

  /**
   * Picks the actor only if it has the operations of the reference, because the sender looks the operation up there. What stands
   * before other actors, such as a pool, is not picked: it may lead back here, and accept() counts that.
   */
  pick(): Recipient | null {
    const to = recipientAt(this.#cell.environment, this.#cell.address);
    return to !== undefined && to.relay === null && to.operations === this.#cell.operations ? to : null;
  }

  accept(envelope: Envelope): DeliveryError | null {
    const { environment, address } = this.#cell;
    const to = recipientAt(environment, address);
    if (to === undefined) return this.#refuse(envelope);
    // A pool may have this reference as a worker, and stand at the address: no handler is in between (P4).
    if (this.#depth === environment.maxHops) return this.#refuse(envelope, "circle");
    this.#depth++;
    try {
      return handTo(to, envelope, operationFor(to, envelope));
    } finally {
      this.#depth--;
    }
  }

  #refuse(envelope: Envelope, detail?: "circle"): DeliveryError {
    const { environment } = this.#cell;
    environment.counts.accepted++;
    const source = new EnvelopeSource(envelope, this.#cell);
    const isStopped = environment.isClosed && detail === undefined;
    const error = isStopped ? deliveryError("stopped", source) : deliveryError("no-recipient", source, detail);
    return this.#cell.refuse(envelope, error);
  }

  recipients(): Recipients {
    const { actor } = this;
    return { parts: actor === undefined ? [] : [{ cell: actor, wait: null }], isOneEnough: true };
  }
}

/** Makes a reference by address, of what the owner gave. */
export function refAt<Signatures>(
  environment: ActorEnvironment,
  at: Address,
  protocol: Protocol<string, Signatures>,
): Ref<Signatures> {
  if (!isAddress(at)) throw new TypeError(`${quote(at)} is not an address; make one with address("sessions/7").`);
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of ${at} is what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  return refByAddress(environment, at, protocol.operations);
}

/** Makes a reference that looks for its actor at each message. */
export function refByAddress<Signatures>(
  environment: ActorEnvironment,
  at: Address,
  operations: Operations,
): Ref<Signatures> {
  const cell = new Cell(environment, at, null, operations, null);
  cell.extra.relay = new ByAddress(cell);
  guard(cell);
  return refTo(cell);
}

export const goesByAddress = ({ relay }: Cell): boolean => relay instanceof ByAddress;

/** The actor behind a reference: for one that goes by address, the actor that is there now, if there is one. */
export const actorBehind = (cell: Cell): Cell | undefined =>
  cell.relay instanceof ByAddress ? cell.relay.actor : cell;
