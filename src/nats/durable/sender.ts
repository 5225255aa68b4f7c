import {
  type Address,
  type AskArgs,
  type Asked,
  address,
  checkOptions,
  createDeliveryError,
  createMessage,
  type DeliveryError,
  err,
  type Message,
  type Protocol,
  type Result,
  readJson,
  writeJson,
} from "../../index";
import type { Connection } from "../connection";
import { versionOf } from "../versions";
import { batchOverhead, DEEPEST } from "./batch";
import { DURABLE, DURABLE_TELL, type DurableLevel, type DurableOptions, type DurableTellOptions } from "./options";
import { nameOfId, Outbox, type Stored } from "./outbox";
import { type DurableKind, keyOfPlace, laneOf, type Place, placeOfId, placeOfName } from "./place";

/** Sends messages that outlive the sender, the receiver and the connection. */
export interface DurableRef<out Signatures> {
  /** The name under which an actor receives them (`cluster.receiveDurable`), or the address of the actor for an id. */
  readonly receiver: string;
  /**
   * Stores a message for the receiver, and says when JetStream has it. It is stored once, handled at least once, and in order for each
   * sender and receiver; a handler that is called a second time is told so (`deliveryOf`). What leaves in one turn is stored as one.
   * Nothing waits for the handler: the receiver need not run.
   *
   * Never rejects. Errors: `timeout` (nobody knows whether it was stored), `unreachable` (it was not: JetStream is away or off, full, out of
   * disk, or lacks the level; `cause` says which), `mailbox-full` (too many wait here), `payload-too-large`, `invalid-payload` (JSON cannot
   * carry it), `unknown-operation`.
   *
   * @throws TypeError or RangeError at once when an option is invalid.
   * @example
   * const stored = await orders.tell("place", { id: "o-1", total: 12 });
   * if (stored.isErr()) return refuse(stored.error); // Ok: { level: "replicated", sequence: 17, isDuplicate: false }
   */
  tell<Name extends string>(
    operation: Asked<Signatures, Name>,
    ...args: [...payload: AskArgs<Signatures, NoInfer<Name>>, options?: DurableTellOptions]
  ): Promise<Result<Stored, DeliveryError>>;
}

const EXAMPLE = '{ level: "replicated" }';
const DEFAULT_CAPACITY = 10_000;

/** The outboxes of each node, by place: all senders of a node share one, so that their order holds. */
const outboxes = new WeakMap<Connection, Map<string, Outbox>>();

function outboxOf(connection: Connection, place: Place): Outbox {
  let own = outboxes.get(connection);
  if (own === undefined) {
    const made = new Map<string, Outbox>();
    outboxes.set(connection, made);
    connection.onClose(() => {
      for (const outbox of made.values()) outbox.close();
    });
    own = made;
  }
  const key = keyOfPlace(place);
  const known = own.get(key);
  if (known !== undefined) return known;
  const outbox = new Outbox(connection, place);
  own.set(key, outbox);
  return outbox;
}

/**
 * @internal Makes a reference for durable sends.
 *
 * @throws TypeError or RangeError when the name cannot be in an address or is too long for NATS, or an option is invalid.
 */
export function durableRef<Signatures>(
  connection: Connection,
  receiver: string,
  protocol: Protocol<string, Signatures>,
  options: DurableOptions = {},
): DurableRef<Signatures> {
  checkOptions(options, DURABLE, "durable sends", EXAMPLE);
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of durable sends to ${address(receiver)} is what defineProtocol() returned.`);
  }
  const way = { place: placeOfName(receiver), receiver, to: address(receiver), id: undefined };
  return new Sender(connection, way, protocol, options) as DurableRef<Signatures>; // Its tell knows no signatures.
}

/**
 * @internal Makes a reference for durable sends to the actor for an id.
 *
 * @throws TypeError or RangeError when the id is too long for NATS, or an option is invalid.
 */
export function durableRefTo(
  connection: Connection,
  kind: DurableKind & { readonly protocol: Protocol },
  id: string,
  options: DurableOptions = {},
): DurableRef<unknown> {
  checkOptions(options, DURABLE, "durable sends", EXAMPLE);
  const { receiver } = placeOfId(connection, kind, id);
  return new Sender(connection, { place: laneOf(kind, id), receiver, to: receiver, id }, kind.protocol, options);
}

/** The way of messages to their receiver. */
interface Way {
  readonly place: Place;
  readonly receiver: string;
  /** The address of the receiver, for errors. */
  readonly to: Address;
  /** The id in a place that ids share. */
  readonly id: string | undefined;
}

class Sender {
  readonly receiver: string;
  readonly #to: Address;
  readonly #id: string | undefined;
  readonly #connection: Connection;
  readonly #operations: Protocol["operations"];
  readonly #version: string;
  readonly #beside: number;
  readonly #level: DurableLevel;
  readonly #serversSync: boolean;
  readonly #capacity: number;
  readonly #outbox: Outbox;

  constructor(
    connection: Connection,
    { place, receiver, to, id }: Way,
    { operations }: Protocol,
    { level = "stored", serversSync = false, capacity = DEFAULT_CAPACITY }: DurableOptions,
  ) {
    this.receiver = receiver;
    this.#to = to;
    this.#id = id;
    this.#connection = connection;
    this.#operations = operations;
    this.#version = versionOf({ operations });
    this.#beside = batchOverhead(connection.node, this.#version);
    this.#level = level;
    this.#serversSync = serversSync;
    this.#capacity = capacity;
    this.#outbox = outboxOf(connection, place);
  }

  tell(name: string, ...args: unknown[]): Promise<Result<Stored, DeliveryError>> {
    const operation = this.#operations[name];
    const [payload, options = {}] = operation?.hasPayload === false ? [undefined, args[0]] : [args[0], args[1]];
    checkOptions<DurableTellOptions>(options, DURABLE_TELL, "a durable send", "{ timeout: 1_000 }");
    const refused = (error: DeliveryError) => Promise.resolve(err<Stored, DeliveryError>(error));
    const message = (): Message => createMessage(this.#to, String(name), payload);
    if (operation === undefined || operation.isStream)
      return refused(createDeliveryError("unknown-operation", message()));
    if (this.#connection.isClosed) {
      return refused(createDeliveryError("unreachable", message(), new Error("the cluster is closed")));
    }
    if (this.#outbox.size >= this.#capacity) {
      return refused(createDeliveryError("mailbox-full", message(), this.#capacity));
    }
    const { timeout = 5_000, id, delay, metadata } = options;
    const written = writeJson({ o: name, i: this.#id, p: payload, m: metadata });
    if (written.isErr()) {
      const path = written.error.path.replace(/^\/p(?=\/|$)/, "");
      const issue = { path, message: written.error.message };
      return refused(createDeliveryError("invalid-payload", message(), [issue]));
    }
    const text = written.value;
    // The receiver would refuse the whole batch. The word may stand in a text, where it does no harm.
    if (text.includes("__proto__") && readJson(text, { depth: DEEPEST }).isErr()) {
      const issue = { path: "", message: "It has a key __proto__, which the receiver refuses; leave it out." };
      return refused(createDeliveryError("invalid-payload", message(), [issue]));
    }
    const bytes = Buffer.byteLength(text);
    const header = id === undefined ? undefined : nameOfId(this.receiver, id);
    const limit = this.#outbox.largest(this.#beside, header, delay !== undefined);
    if (bytes > limit) return refused(createDeliveryError("payload-too-large", message(), limit));
    return this.#outbox.add({
      receiver: this.receiver,
      to: this.#to,
      version: this.#version,
      text,
      bytes,
      id,
      at: delay === undefined ? undefined : this.#connection.system.clock.wallTime() + delay,
      timeout,
      level: this.#level,
      serversSync: this.#serversSync,
      operation: name,
      payload,
    });
  }
}
