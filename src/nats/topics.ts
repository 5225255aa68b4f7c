import type { Subscription } from "@nats-io/transport-node";
import {
  type AnyRef,
  address,
  checkOptions,
  createDeliveryError,
  createMessage,
  type DeliveryError,
  type Expose,
  err,
  type Metadata,
  type OptionChecks,
  ok,
  operationsOf,
  option,
  quote,
  type Ref,
  type Result,
  receive,
  type TakerName,
  writeJson,
} from "../index";
import type { Connection } from "./connection";
import { tokenOf } from "./subjects";

/** The parts that travel beside an item. */
export interface PublishOptions {
  /** Data beside the item, which must be JSON: the handler's `ctx.metadata`. Default: none. */
  readonly metadata?: Metadata;
}

/** The options of a subscription. */
export interface SubscribeOptions {
  /** Says which addresses in an item become references, as for `receive`. Default: none. */
  readonly expose?: Expose;
}

/** Tells items to the subscribers on all nodes of a cluster, at most once: a node that is cut off misses what was published meanwhile. */
export interface ClusterTopic<in out Item> {
  readonly name: string;
  /** The number of subscriptions of this node. */
  readonly size: number;
  /**
   * Tells all subscribers on all nodes, those of this node included, in the order in which this node published. Items of one turn travel
   * together. Never waits, and never throws for an item. Ok says that the item has left this node's hands, and not that anybody got it.
   *
   * Errors: `invalid-payload` (JSON cannot carry it), `payload-too-large` (for the server), `unreachable` (the cluster is closed).
   *
   * @throws TypeError when an option is invalid.
   * @example
   * prices.publish({ symbol: "BUN", price: 7 });
   */
  publish(item: Item, options?: PublishOptions): Result<void, DeliveryError>;
  /**
   * Tells an actor of this system each item that arrives from now on, by one of its operations, whose schema checks the item: one that does not fit
   * becomes a dead letter. Its own mailbox and overflow decide how much waits. The handler's `ctx.metadata["envoi.node"]` is the node that
   * published. Items that got lost on the way, such as when the server cut this node off as a slow consumer, are told by the event
   * `nats:gap` with their number, once the next one of their node arrives. The subscription ends when the actor stops. Subscribing again by the same operation changes nothing.
   *
   * @returns a function that ends the subscription.
   * @throws TypeError when the actor has no such operation, or an option is invalid; Error when the cluster is closed.
   * @example
   * const unsubscribe = prices.subscribe(display, "show");
   */
  subscribe<Signatures>(
    ref: Ref<Signatures>,
    operation: TakerName<Signatures, Item> & string,
    options?: SubscribeOptions,
  ): () => void;
  /**
   * Resolves once the server knows this node's subscriptions, and has what this node has published so far.
   *
   * @throws Error (as a rejection) when the cluster is closed.
   */
  settled(): Promise<void>;
}

const PUBLISH: OptionChecks<PublishOptions> = {
  metadata: option.rule(
    "is a plain object",
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  ),
};
const SUBSCRIBE: OptionChecks<SubscribeOptions> = { expose: option.function() };

/** Items that left a node in one turn. */
interface Packet {
  readonly v: 1;
  /** The node, and its first incarnation: a node that was started anew counts from 0, and one that lost its lease goes on to count. */
  readonly n: string;
  readonly i: string;
  /** The number of the first item, from 0. */
  readonly f: number;
  /** Each with its metadata, where it has any. */
  readonly e: readonly (readonly [item: unknown, metadata?: Metadata])[];
}

/** The most bytes of a packet beside its items. */
const OVERHEAD = 256;
/** The most publishers whose next number is remembered, so that those that went are forgotten in time. */
const MOST_PUBLISHERS = 1_000;

interface Subscriber {
  readonly ref: AnyRef;
  readonly operation: string;
  /** True once its actor has stopped. */
  isStopped(): boolean;
  take(item: unknown, metadata: Metadata): void;
  end(): void;
}

/** @internal */
export class Topic {
  readonly name: string;
  readonly #connection: Connection;
  readonly #subject: string;
  /** The publisher, over all of its leases: otherwise nobody would hear of the items that were lost while it had none. */
  readonly #incarnation: string;
  #subscribers: readonly Subscriber[] = [];
  #subscription: Subscription | undefined;
  /** The items of this turn, as JSON. */
  #unsent: string[] = [];
  #unsentBytes = 0;
  #published = 0;
  /** The number of the next item of each publisher, by its incarnation. */
  readonly #expected = new Map<string, number>();

  constructor(connection: Connection, name: string) {
    this.name = name;
    this.#connection = connection;
    this.#subject = connection.subject("topic", tokenOf(name));
    this.#incarnation = connection.incarnation;
    connection.onClose(() => this.#send());
  }

  get size(): number {
    this.#forgetStopped();
    return this.#subscribers.length;
  }

  publish(item: unknown, options: PublishOptions = {}): Result<void, DeliveryError> {
    checkOptions(options, PUBLISH, "a published item", "{ metadata: { user } }");
    const { metadata } = options;
    const message = () => createMessage(address("topic"), this.name, item);
    if (this.#connection.isClosed) {
      return err(createDeliveryError("unreachable", message(), new Error("the cluster is closed")));
    }
    const written = writeJson(metadata === undefined ? [item] : [item, metadata]);
    if (written.isErr()) {
      const path = written.error.path.replace(/^\/0(?=\/|$)/, "");
      return err(createDeliveryError("invalid-payload", message(), [{ path, message: written.error.message }]));
    }
    const most = (this.#connection.nc.info?.max_payload ?? 1_048_576) - OVERHEAD;
    const bytes = Buffer.byteLength(written.value) + 1;
    if (bytes > most) return err(createDeliveryError("payload-too-large", message(), most));
    if (this.#unsentBytes + bytes > most) this.#send();
    if (this.#unsent.length === 0) this.#connection.system.clock.macrotask(() => this.#send());
    this.#unsent.push(written.value);
    this.#unsentBytes += bytes;
    return ok(undefined);
  }

  #send(): void {
    const { nc, node } = this.#connection;
    if (this.#unsent.length === 0 || nc.isClosed()) return;
    const head = `{"v":1,"n":${JSON.stringify(node)},"i":"${this.#incarnation}","f":${this.#published},"e":[`;
    nc.publish(this.#subject, `${head}${this.#unsent.join(",")}]}`);
    this.#published += this.#unsent.length;
    this.#unsent = [];
    this.#unsentBytes = 0;
  }

  subscribe(ref: AnyRef, operation: string, options: SubscribeOptions = {}): () => void {
    checkOptions(options, SUBSCRIBE, "a subscription", "{ expose: (at) => known.get(at) }");
    this.#connection.checkOpen("topic.subscribe");
    const known = operationsOf(ref)?.[operation];
    if (known === undefined || known.isStream || !known.hasPayload) {
      throw new TypeError(
        `${ref.address} cannot be told an item by ${quote(operation)}, so it cannot subscribe to "${this.name}" by that; name an operation of its protocol.`,
      );
    }
    this.#forgetStopped();
    const before = this.#subscribers.find((each) => each.ref === ref && each.operation === operation);
    if (before !== undefined) return before.end;
    const door = receive(ref, options);
    const subscriber: Subscriber = {
      ref,
      operation,
      isStopped: () => door.isStopped,
      take: (item, metadata) => door.tell(operation, item, { metadata }),
      end: () => this.#remove((each) => each === subscriber),
    };
    this.#subscribers = [...this.#subscribers, subscriber];
    this.#subscription ??= this.#connection.nc.subscribe(this.#subject, {
      callback: (error, { data }) => {
        if (error === null) this.#take(data);
      },
    });
    return subscriber.end;
  }

  async settled(): Promise<void> {
    this.#send();
    await this.#connection.nc.flush();
  }

  #take(data: Uint8Array): void {
    const packet = this.#read(data);
    if (packet === undefined) return;
    const { n: node, i: incarnation, f: first, e: entries } = packet;
    const expected = this.#expected.get(incarnation);
    if (expected !== undefined && first > expected) {
      this.#connection.tell("gap", { node, topic: this.name, missed: first - expected });
    }
    this.#expected.delete(incarnation); // The last one that came is the last one to be forgotten.
    this.#expected.set(incarnation, first + entries.length);
    const [oldest] = this.#expected.keys();
    if (this.#expected.size > MOST_PUBLISHERS && oldest !== undefined) this.#expected.delete(oldest);
    this.#forgetStopped();
    const subscribers = this.#subscribers;
    for (const [item, metadata] of entries) {
      for (const subscriber of subscribers) subscriber.take(item, { ...metadata, "envoi.node": node });
    }
  }

  /** Undefined for what no node of this version published, which is told. */
  #read(data: Uint8Array): Packet | undefined {
    try {
      const packet = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data)) as Partial<Packet> | null;
      if (packet?.v === 1 && typeof packet.n === "string" && typeof packet.i === "string") {
        if (Number.isSafeInteger(packet.f) && Array.isArray(packet.e) && packet.e.every(Array.isArray)) {
          return packet as Packet; // Each field was looked at.
        }
      }
    } catch {
      // It is told below.
    }
    const text = `something that is no item of this version came to the topic "${this.name}"`;
    this.#connection.system.log.warn(text);
    this.#connection.tell("error", { text });
    return undefined;
  }

  #forgetStopped(): void {
    if (this.#subscribers.some((each) => each.isStopped())) this.#remove((each) => each.isStopped());
  }

  #remove(isGone: (subscriber: Subscriber) => boolean): void {
    this.#subscribers = this.#subscribers.filter((each) => !isGone(each));
    if (this.#subscribers.length > 0) return;
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    this.#expected.clear(); // What comes while nobody listens is no gap.
  }
}

const topics = new WeakMap<Connection, Map<string, Topic>>();

/** @internal The topic of a name: one for each connection, so that its items are counted once. */
export function topicOf<Item>(connection: Connection, name: string): ClusterTopic<Item> {
  if (typeof name !== "string" || name === "" || !name.isWellFormed())
    throw new TypeError(`The name of a topic is a text without half of a surrogate pair; got ${quote(name)}.`);
  const own = topics.get(connection) ?? new Map<string, Topic>();
  topics.set(connection, own);
  const topic = own.get(name) ?? new Topic(connection, name);
  own.set(name, topic);
  return topic as ClusterTopic<Item>; // It knows items as JSON alone.
}
