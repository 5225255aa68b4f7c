import { type Address, isAddress, quote } from "../../message/address";
import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import { sentenceOf } from "../../message/sentence-of";
import type { Operation, Protocol } from "../../protocol/protocol";
import { hearRejection } from "../../runtime/thenable";
import { objectionTo } from "../cell/admission";
import { type ActorEnvironment, Cell } from "../cell/cell";
import { guard } from "../cell/transitions";
import type { Envelope, Exposure, Recipients, Relay } from "../contract";
import { EnvelopeSource, overdue } from "../envelopes/envelope";
import { type Carrier, type End, endError, keepEnd, OutgoingMessage } from "../envelopes/outgoing";
import { stop } from "../life/lifecycle";
import { deadLetterLateReply } from "../life/outcome";
import { type Expose, Exposed } from "../refs/exposure";
import { type Ref, refTo } from "../refs/ref";
import type { Outgoing, Transport } from "../transport";
import { begin, claim } from "./spawn";

/** A reference whose actor is elsewhere, and the end of it. */
export interface Attachment<Signatures> {
  /** A reference like any other. */
  readonly ref: Ref<Signatures>;
  /**
   * Ends the attachment: its address is free, `close()` is called, and watchers are told the reason. Messages that still wait come
   * back with that error, and so do all later ones. A second call does nothing. `unreachable` states that a message was not handled
   * there (P17): before it ends so, a transport fails those as `timeout` that may have been.
   *
   * @param detail why it is unreachable: the `cause` of the errors, and the `error` that watchers get.
   * @throws TypeError when the reason is another one.
   */
  end(reason: "stopped" | "unreachable", detail?: unknown): void;
}

/** The options of an attached reference: what it lets in. */
export interface AttachOptions {
  /**
   * Says which addresses in replies and in items of streams become references, where their schema has `refSchema`: a
   * reference, or `true` for the actor at that address in this system. Anything else fails the reply. Default: none.
   */
  readonly expose?: Expose;
}

const METHODS = ["send", "cancel", "credit", "close"] as const satisfies (keyof Transport)[];
/** Its end where nobody says otherwise. */
const STOPPED: End = { reason: "stopped", error: undefined };
const NOBODY: Recipients = { parts: [], isOneEnough: true };

/** Stands before the cell of an attached reference, and hands each message to its transport. */
class Link implements Relay, Carrier {
  readonly cell: Cell;
  readonly exposure: Exposure | null;
  readonly #transport: Transport;
  /** The messages whose senders wait. */
  readonly #pending = new Map<Envelope, OutgoingMessage>();

  constructor(cell: Cell, transport: Transport, { expose }: AttachOptions) {
    this.cell = cell;
    this.exposure = expose === undefined ? null : new Exposed(cell.environment, expose);
    this.#transport = transport;
  }

  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const { cell } = this;
    const { counts, enter } = cell.environment;
    counts.accepted++;
    // It may have waited at an actor that forwarded it.
    const error = envelope.failure ?? overdue(envelope, cell) ?? objectionTo(cell, envelope, operation);
    if (error !== null) return cell.refuse(envelope, error);
    counts.sent++;
    const out = new OutgoingMessage(this, envelope);
    if (envelope.isTold) this.#pending.set(envelope, out);
    try {
      const returned: unknown = enter(sendBy, this.#transport, out);
      if (returned !== undefined) hearRejection(returned, (cause) => this.#failSending(out, cause));
    } catch (thrown) {
      this.#failSending(out, thrown);
    }
    return out.refusal;
  }

  #failSending(out: OutgoingMessage, thrown: unknown): void {
    this.#log("send", thrown);
    out.fail("unreachable", thrown);
  }

  get load(): number {
    return this.#pending.size;
  }

  /** The actor is elsewhere: it is handed the message itself. */
  pick(): null {
    return null;
  }

  /** The waits of that actor cannot be seen from here: no circle is found (P8), and the timeout ends the ask. */
  recipients(): Recipients {
    return NOBODY;
  }

  abandon(envelope: Envelope): void {
    this.#pending.get(envelope)?.abandon();
  }

  // ——— For its messages

  cancel(out: Outgoing): void {
    this.#call("cancel", () => this.#transport.cancel(out));
  }

  credit(out: Outgoing, count: number): void {
    this.#call("credit", () => this.#transport.credit(out, count));
  }

  forget(envelope: Envelope): void {
    this.#pending.delete(envelope);
  }

  refuse(envelope: Envelope, error: DeliveryError): void {
    this.cell.environment.counts.sent--;
    this.cell.refuse(envelope, error);
  }

  late(envelope: Envelope, reply: unknown): void {
    deadLetterLateReply(this.cell, envelope, reply);
  }

  // ——— Its end

  /** Its cell has stopped: those who wait are told, and then the transport. */
  end(): void {
    for (const [envelope, out] of this.#pending) out.endWith(this.#pendingError(envelope));
    this.#call("close", () => this.#transport.close());
  }

  #pendingError(envelope: Envelope): DeliveryError {
    const error = endError(envelope, this.cell);
    if (error.kind === "unreachable") return error;
    return deliveryError("stopped", new EnvelopeSource(envelope, this.cell), "abandoned"); // It may have been handled.
  }

  #call(method: keyof Transport, callback: () => unknown): void {
    try {
      hearRejection(this.cell.environment.enter(callback), (cause) => this.#log(method, cause));
    } catch (thrown) {
      this.#log(method, thrown);
    }
  }

  #log(method: keyof Transport, cause: unknown): void {
    const { environment, address } = this.cell;
    if (!environment.logLimit.admit()) return;
    environment.logger.error(`The transport of ${address} threw in ${method}(), which must not: ${sentenceOf(cause)}`, {
      address,
      cause,
    });
  }
}

/** Not a closure, which would be one for each message. */
const sendBy = (transport: Transport, out: Outgoing): unknown => transport.send(out);

/** Makes a reference whose actor is elsewhere. */
export function attach<Signatures>(
  environment: ActorEnvironment,
  at: Address,
  protocol: Protocol<string, Signatures>,
  transport: Transport,
  options: AttachOptions = {},
): Attachment<Signatures> {
  if (!isAddress(at)) throw new TypeError(`${quote(at)} is not an address; make one with address("node-7/files").`);
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of ${at} is what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  for (const method of METHODS) {
    if (typeof transport?.[method] === "function") continue;
    throw new TypeError(`The transport of ${at} has the methods ${METHODS.join(", ")}; this one has no ${method}().`);
  }
  if (options.expose !== undefined && typeof options.expose !== "function") {
    throw new TypeError(
      `The expose of ${at} is a function: (at) => at.startsWith("@(node-7/"); got ${quote(options.expose)}.`,
    );
  }
  claim(environment, null, at, false);
  const cell = new Cell(environment, at, null, protocol.operations, null);
  const link = new Link(cell, transport, options);
  const { extra } = cell;
  extra.relay = link;
  extra.phase = Number.POSITIVE_INFINITY; // Actors that stop may still wait for it.
  extra.whenStopped = new Set([() => link.end()]);
  keepEnd(cell, STOPPED);
  guard(cell);
  environment.directory.add(cell, false);
  begin(cell, {});
  return {
    ref: refTo<Signatures>(cell),
    end(reason, detail) {
      if (reason !== "stopped" && reason !== "unreachable") {
        throw new TypeError(`The attachment of ${at} ends as "stopped" or "unreachable"; got ${quote(reason)}.`);
      }
      if (cell.isEnding) return;
      keepEnd(cell, { reason, error: detail });
      if (detail !== undefined) extra.stopError = { error: detail };
      stop(cell, false);
    },
  };
}
