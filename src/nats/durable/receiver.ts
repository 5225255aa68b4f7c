import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { type AnyRef, checkOptions, operationsOf, receive } from "../../index";
import type { Connection } from "../connection";
import { versionOf } from "../versions";
import { type Batch, readBatch } from "./batch";
import { BatchLease } from "./batch-lease";
import { PlaceConsumer } from "./consumer";
import { firstOf, keepDeadLetter } from "./dead-letters";
import { Handling, type HandlingOptions, type TargetOf } from "./handling";
import { type Keeper, openKeeper } from "./kept";
import { DURABLE_RECEIVER, type DurableReceiverOptions } from "./options";
import { keyOfPlace, laterOf, type Place, placeOfName, subjectOf } from "./place";
import { Positions } from "./position";
import { forget, NoSchedules, openStore, type Store } from "./store";

/** An actor that takes durable messages. */
export interface DurableReceiver extends AsyncDisposable {
  readonly receiver: string;
  /**
   * Takes no more: the running message is finished, and those behind it stay stored. Called when the cluster closes. The receiver ends so by
   * itself when its actor has stopped.
   */
  close(): Promise<void>;
}

/** The wait before a consumer is opened anew, in milliseconds. */
const REOPEN_AFTER = 200;
/** The time that one pull waits at the server, and the time between two signs of the server, in milliseconds. */
const [PULL_FOR, HEARTBEAT] = [30_000, 1_000];
/** One batch is handled and one pull waits behind it. */
const PULLED = 2;
/** The longest time until what is on its way to a receiver that closes has arrived, in milliseconds. */
const DRAINED_WITHIN = 2_000;
const NANOSECONDS = 1e6;

/** The time at which its server stored a message, in microseconds. */
const storedAtOf = ({ timestampNanos }: JsMsg): number => Number(timestampNanos / 1_000n);

/**
 * @internal Begins to hand durable messages to an actor.
 *
 * @throws Error (as a rejection) where JetStream is off; TypeError or RangeError for an invalid option.
 */
export async function openReceiver(
  connection: Connection,
  receiver: string,
  ref: AnyRef,
  options: DurableReceiverOptions = {},
): Promise<DurableReceiver> {
  checkOptions(options, DURABLE_RECEIVER, "a durable receiver", "{ attempts: 3 }");
  const place = placeOfName(receiver);
  const { expose, ...given } = options;
  const door = receive(ref, expose === undefined ? {} : { expose });
  const operations = operationsOf(ref);
  const target = { place, door, version: operations === null ? undefined : versionOf({ operations }) };
  return await openAt(connection, place, () => target, given);
}

/** @internal Begins to hand the durable messages of a place to their targets, once these are ready. */
export async function openAt(
  connection: Connection,
  place: Place,
  targetOf: TargetOf,
  options: Partial<HandlingOptions>,
  ready: Promise<void> = Promise.resolve(),
): Promise<DurableReceiver> {
  const settings = { attempts: 5, backoff: 100, handlerTimeout: 60_000, ackWait: 5_000, ...options };
  const made = new Receiver(connection, place, targetOf, settings, ready);
  await made.open();
  const later = new Receiver(connection, laterOf(place), targetOf, settings, ready);
  try {
    await later.open();
  } catch (thrown) {
    if (thrown instanceof NoSchedules) return made; // Then nobody can send delayed messages.
    await made.close();
    throw thrown;
  }
  const close = async (): Promise<void> => void (await Promise.all([made.close(), later.close()]));
  return { receiver: place.receiver, close, [Symbol.asyncDispose]: close };
}

class Receiver implements DurableReceiver {
  readonly receiver: string;
  readonly #connection: Connection;
  readonly #place: Place;
  readonly #targetOf: TargetOf;
  readonly #options: HandlingOptions;
  readonly #forgetClose: () => void;
  #store: Store | undefined;
  #keeper: Keeper | undefined;
  #positions: Positions | undefined;
  #messages: ConsumerMessages | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosing = false;
  /** Resolved once the targets are ready, or this receiver closes. */
  readonly #begun = Promise.withResolvers<void>();
  /**
   * The last batch that was handled here, in the stream of that time. A server that was killed may deliver it again. One that has lost its last messages, or all of them,
   * gives their numbers to others, which were stored later (`storedAt`).
   */
  #handled = { stream: "", sequence: 0, storedAt: 0 };
  /** By the monotonic clock: what comes was delivered later. */
  #deliveredSince = 0;
  /** True until a batch has come: the servers may have lost the count of its deliveries when they went with a node. */
  #isFirst = false;
  /**
   * Batches up to this one may have been handled: a server that was killed forgets its last acknowledgements and counts of deliveries, and this node cannot tell that
   * from a connection that was cut.
   */
  #doubtfulTo = 0;

  constructor(
    connection: Connection,
    place: Place,
    targetOf: TargetOf,
    options: HandlingOptions,
    ready: Promise<void>,
  ) {
    void ready.then(this.#begun.resolve);
    this.receiver = place.receiver;
    this.#place = place;
    this.#connection = connection;
    this.#targetOf = targetOf;
    this.#options = options;
    const forgetClose = connection.onClose(() => this.close());
    const forgetReconnected = connection.system.events.subscribe(({ kind }) => {
      if (kind === "nats:reconnected") this.#pullNoMore(); // Then `#run` pulls anew.
    });
    this.#forgetClose = () => {
      forgetClose();
      forgetReconnected();
    };
  }

  /** Opens the consumer, and begins to pull. */
  async open(): Promise<void> {
    try {
      await this.#openConsumer();
    } catch (thrown) {
      this.#forgetClose();
      throw thrown;
    }
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#begun.resolve();
      this.#forgetClose();
      this.#pullNoMore();
    }
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * One batch is under way for all nodes together (`max_ack_pending`). Otherwise a later batch could overtake one that a dead node held.
   */
  async #openConsumer(): Promise<void> {
    const connection = this.#connection;
    const store = await connection.asked(() => openStore(connection, this.#place.isLater));
    const { AckPolicy } = connection.sdk.jetstream;
    const config = {
      durable_name: keyOfPlace(this.#place),
      filter_subject: subjectOf(connection, this.#place),
      ack_policy: AckPolicy.Explicit,
      ack_wait: this.#options.ackWait * NANOSECONDS,
      max_ack_pending: 1,
    };
    this.#keeper ??= await openKeeper(connection);
    this.#positions ??= new Positions(this.#keeper, this.#place);
    const shared = new PlaceConsumer(store, config, this.#keeper);
    const info = await connection.asked(() => shared.ensure());
    this.#isFirst = info.delivered.consumer_seq > 0 && this.#handled.stream !== store.created;
    if (this.#store !== undefined && info.delivered.consumer_seq > 0) {
      const { state } = await connection.asked(() => store.jsm.streams.info(store.name));
      this.#doubtfulTo = state.last_seq;
    }
    this.#store = store;
    const consumer = store.js.consumers.getConsumerFromInfo(info);
    this.#deliveredSince = connection.system.clock.monotonicTime();
    this.#messages = await consumer.consume({
      max_messages: PULLED,
      expires: PULL_FOR,
      idle_heartbeat: HEARTBEAT,
      abort_on_missing_resource: true,
    });
    void this.#pullAnewWhenDeaf(this.#messages);
    try {
      await connection.asked(() => shared.confirm());
    } catch (thrown) {
      this.#pullNoMore();
      throw thrown;
    }
    if (this.#isClosing) this.#pullNoMore();
  }

  /** The library (`@nats-io/jetstream` 3) asks once whether a silent consumer is there. Where that has no leader just then, it is deaf for 30 s or more. */
  async #pullAnewWhenDeaf(messages: ConsumerMessages): Promise<void> {
    for await (const { type } of messages.status()) {
      if (type === "heartbeats_missed" && messages === this.#messages) this.#pullNoMore(); // Then `#run` pulls anew.
    }
  }

  /** Messages that are on their way arrive before the end of the pull. `stop` would drop them, so that nobody had them until their `ackWait` is over. */
  #pullNoMore(): void {
    const messages = this.#messages;
    if (messages === undefined) return;
    const subscription: unknown = Reflect.get(messages, "sub"); // As of @nats-io/jetstream 3, which offers no drain of its own.
    if (subscription instanceof Object && "drain" in subscription && typeof subscription.drain === "function") {
      const drained: Promise<unknown> = Promise.resolve(subscription.drain());
      // Without a server, nothing more arrives.
      void this.#connection.within(drained, DRAINED_WITHIN).then(
        () => messages.stop(),
        () => messages.stop(),
      );
    } else messages.stop();
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      try {
        if (this.#messages === undefined) await this.#openConsumer();
        for await (const message of this.#messages ?? []) {
          await this.#begun.promise;
          if (this.#isClosing) await this.#handBack(message);
          else await this.#take(message);
        }
      } catch (thrown) {
        if (this.#isClosing || this.#connection.nc.isClosed()) return;
        this.#connection.system.log.warn(`the durable messages to ${this.receiver} are pulled anew: ${String(thrown)}`);
      }
      this.#messages = undefined;
      if (this.#isClosing) return;
      forget(this.#connection);
      await new Promise<void>((resolve) => this.#connection.system.clock.setTimer(resolve, REOPEN_AFTER));
    }
  }

  async #take(message: JsMsg): Promise<void> {
    const [store, positions] = [this.#store, this.#positions];
    if (store === undefined || positions === undefined) return; // Never: a message came by them.
    const { created: stream } = store;
    const { seq: sequence } = message;
    const storedAt = storedAtOf(message);
    const wasReached = this.#handled.stream === stream && sequence <= this.#handled.sequence;
    if (wasReached && storedAt <= this.#handled.storedAt) {
      await this.#acknowledge(message); // It was handled, and its acknowledgement was lost.
      return;
    }
    const since = await this.#heldSince(store, message);
    if (since === undefined) return;
    let batch: Batch;
    try {
      batch = readBatch(message.data);
    } catch (thrown) {
      await this.#refuse(store, message, thrown);
      return;
    }
    const lease = new BatchLease(this.#connection, message, this.#options.ackWait, since);
    try {
      const handling = new Handling(
        {
          connection: this.#connection,
          place: this.#place,
          targetOf: this.#targetOf,
          store,
          positions,
          options: this.#options,
        },
        {
          batch,
          sequence,
          storedAt,
          isKnown: message.info.deliveryCount > 1 || this.#isFirst,
          isDoubtful: wasReached || sequence <= this.#doubtfulTo,
        },
        { isLost: () => lease.isLost, isClosing: () => this.#isClosing, lost: lease.lost },
      );
      const end = await handling.run();
      if (end === "lost") return; // Another node has it by now.
      if (end === "stopped" && !this.#isClosing) this.#endWithActor();
      if (end === "done") {
        this.#isFirst = false;
        this.#handled = { stream, sequence, storedAt };
        await this.#acknowledge(message);
      } else message.nak();
    } finally {
      lease.end();
    }
  }

  /** Gives up a batch of which nothing was handed in here, and notes so where it was never delivered before. */
  async #handBack(message: JsMsg): Promise<void> {
    const { seq: sequence, info } = message;
    const storedAt = storedAtOf(message);
    const stream = this.#store?.created;
    if (info.deliveryCount === 1 && !this.#isFirst && stream !== undefined) {
      try {
        await this.#positions?.of(stream, sequence, storedAt);
        await this.#positions?.put({ stream, sequence, storedAt, done: 0, attempts: 0, reach: 0 });
      } catch {
        // Without it, the batch is delivered as what may be handled.
      }
    }
    message.nak();
  }

  /** A batch whose acknowledgement is lost comes again, and is known then. The next one is delivered behind it. */
  async #acknowledge(message: JsMsg): Promise<void> {
    this.#deliveredSince = this.#connection.system.clock.monotonicTime();
    await message.ackAck().catch(() => false);
  }

  /**
   * The time since which a batch is held here, by the monotonic clock; undefined where another node has it by now. It may have waited in a socket while
   * this process or the network stood still. One that follows an acknowledgement of a moment ago cannot have: the server is asked for any other.
   */
  async #heldSince(store: Store, message: JsMsg): Promise<number | undefined> {
    const now = this.#connection.system.clock.monotonicTime();
    if (message.info.deliveryCount === 1 && now - this.#deliveredSince < this.#options.ackWait / 2) {
      return this.#deliveredSince;
    }
    message.working();
    const { delivered } = await store.jsm.consumers.info(store.name, keyOfPlace(this.#place));
    return delivered.consumer_seq > message.info.deliverySequence ? undefined : now;
  }

  /** Gives up something that cannot be read, such as a message of a later version. */
  async #refuse(store: Store, message: JsMsg, thrown: unknown): Promise<void> {
    const letter = {
      id: `${this.#place.isLater ? "later-" : ""}${message.seq}`,
      from: "",
      reason: "unreadable",
      message: String(thrown),
      attempts: 0,
    };
    const entry = { o: "", p: firstOf(this.#connection, message.data) };
    await keepDeadLetter(this.#connection, store, this.#place, letter, entry);
    await this.#acknowledge(message);
  }

  #endWithActor(): void {
    this.#connection.system.log.warn(
      `the actor that receives the durable messages to ${this.receiver} has stopped: they stay stored until another one receives them.`,
    );
    this.#isClosing = true;
    this.#forgetClose();
    this.#pullNoMore();
  }
}
