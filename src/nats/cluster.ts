import { type AnyRef, type Factory, type Protocol, quote, type Ref, type System } from "../index";
import { openConnection } from "./connect";
import type { Connection } from "./connection";
import {
  type DeadLettersOptions,
  type DurableDeadLetter,
  deleteDeadLetter,
  readDeadLetters,
} from "./durable/dead-letters";
import type { DurableOptions, DurableReceiverOptions } from "./durable/options";
import { placeOfId, placeOfName } from "./durable/place";
import { type DurableReceiver, openReceiver } from "./durable/receiver";
import { type DurableRef, durableRef, durableRefTo } from "./durable/sender";
import type { Create, Lease, ShardedOptions } from "./lease";
import { Members } from "./members";
import { Names } from "./names";
import { Nodes } from "./nodes";
import type { ClusterOptions } from "./options";
import { type ClusterTopic, topicOf } from "./topics";

/** The actors for the ids of a name. */
export interface Sharded<Signatures> {
  /**
   * The reference to the actor for an id, on whichever node it is.
   *
   * @throws TypeError when the id cannot be in an address; RangeError when it is too long for the addresses of all nodes.
   */
  ref(id: string): Ref<Signatures>;
}

/** A node's membership of a cluster. */
export interface Cluster extends AsyncDisposable {
  /** The cluster's name. */
  readonly name: string;
  /** The name of this node. */
  readonly node: string;
  /**
   * Lets other nodes reach an actor of this one by a name. Nothing else of this node is reached, but for references that it sends. Its `ctx.metadata["envoi.node"]` is
   * the node that sent a message.
   *
   * @returns a function that ends it.
   * @throws TypeError when the name or the reference is none; Error when the name is in use, or the cluster is closed.
   * @example
   * cluster.expose("files", files);
   */
  expose(name: string, ref: AnyRef): () => void;
  /**
   * The reference to an actor that another node exposes, at the address `@(CLUSTER/node/NODE/NAME)`. A message is sent at most once (P17), in order, with all
   * that leaves in a turn. It fails as `unreachable` at once while nobody serves the node, as `timeout` where it is lost on the way or the node goes
   * (`nats:gap` is told), and as `payload-too-large` beyond what the server takes. It ends with its actor, and outlives the node: one that is started anew is reached again.
   * A watch is told `unreachable` when the node has left or its lease has ended; without JetStream, when a message finds nobody there.
   *
   * @throws TypeError when the node or the name is none; Error when the address is in use, or the cluster is closed.
   * @example
   * const files = cluster.remote("node-2", "files", Files);
   */
  remote<Signatures>(node: string, name: string, protocol: Protocol<string, Signatures>): Ref<Signatures>;
  /**
   * The names of the nodes that hold their lease, this one among them; empty without JetStream. A change is an event of the system: `nats:joined`, `nats:left`,
   * and `nats:gone` where this node itself could not renew its lease.
   */
  members(): readonly string[];
  /**
   * Makes a reference whose messages are stored by JetStream until an actor has handled them: they outlive sender, receiver and
   * connection. The receiver is a name, under which an actor on any node receives them (`receiveDurable`).
   *
   * @throws TypeError or RangeError when the name cannot be in an address, or an option is invalid.
   * @example
   * const orders = cluster.durable("orders", Orders, { level: "replicated" });
   * const stored = await orders.tell("place", { id: "o-1", total: 12 });
   */
  durable<Signatures>(
    receiver: string,
    protocol: Protocol<string, Signatures>,
    options?: DurableOptions,
  ): DurableRef<Signatures>;
  /**
   * Makes a reference for durable sends to the actor for an id, or to a singleton, whose name has the option `durable`. Its owner handles them, whichever node
   * that is: one that takes the id over handles what the last one had not, and is told that it may be a repeat (`deliveryOf`). The messages of many ids
   * share a lane and are handled one after another, so a message that is tried again holds those of some other ids back.
   *
   * @throws TypeError for any other reference; TypeError or RangeError when an option is invalid or the id is too long for NATS.
   * @example
   * const carts = await cluster.sharded("cart", Cart, (id) => () => createCart(id), { durable: true });
   * await cluster.durable(carts.ref("ada")).tell("add", "apple");
   */
  durable<Signatures>(ref: Ref<Signatures>, options?: DurableOptions): DurableRef<Signatures>;
  /**
   * Hands the durable messages to a name to an actor of this system, one at a time and in order for each sender. A message is
   * acknowledged once its handler has ended. A handler that fails is called again, after a backoff; after `attempts` calls the message
   * becomes a dead letter, and the next one is handled. A message that does not fit the actor's protocol becomes one at once. When several nodes receive for one
   * name, each message goes to one of them, and none overtakes.
   *
   * @throws TypeError or RangeError for a bad name or option, and Error where JetStream is off; all as rejections.
   * @example
   * await cluster.receiveDurable("orders", system.spawn("orders", Orders, () => ({ place: (order) => keep(order) })));
   */
  receiveDurable(receiver: string, ref: AnyRef, options?: DurableReceiverOptions): Promise<DurableReceiver>;
  /**
   * Reads the durable messages that were given up, the oldest first: those to a name, to all ids of a name over the cluster, or to the actor of a reference. They
   * are kept for 30 days.
   *
   * @throws TypeError (as a rejection) for a reference that `durable` refuses; Error (as a rejection) where JetStream is off or away.
   * @example
   * for (const letter of await cluster.deadLetters("orders")) console.log(letter.reason, letter.payload);
   */
  deadLetters(receiver: string | AnyRef, options?: DeadLettersOptions): Promise<readonly DurableDeadLetter[]>;
  /**
   * Deletes a dead letter, such as one that was sent again.
   *
   * @throws Error (as a rejection) when there is none, or JetStream is off or away.
   */
  deleteDeadLetter(letter: DurableDeadLetter): Promise<void>;
  /**
   * The topic of a name, typed by its items: publish and subscribe over all nodes of the cluster, at most once.
   *
   * @throws TypeError when the name is not a text, is empty, or has half of a surrogate pair; RangeError when it has more than 255 characters, of which each byte that is
   * no letter, no digit, no - and no _ counts as three.
   * @example
   * const prices = cluster.topic<{ symbol: string; price: number }>("prices");
   * prices.subscribe(display, "show");
   * prices.publish({ symbol: "BUN", price: 7 });
   */
  topic<Item>(name: string): ClusterTopic<Item>;
  /**
   * An actor for each id, on one node at a time. The first message to an id makes it, on the node that owns the id's shard. There are 64 shards, spread over the nodes that
   * serve the name. When a node joins or closes, few shards move: their actors handle what waits there, while later messages wait at the next owner. When a node dies,
   * its shards move once its lease has ended, in less than 3 s by default; what waited there fails as `timeout`. Nothing that a node says after its lease ended is taken
   * by the others (the fence); for stores beside the cluster, `lease.epoch` says who is the latest. A message waits while its shard moves, at most for the
   * `hookTimeout` of its system.
   *
   * @param create makes the actor's behaviour for an id. Without it, this node sends to the ids and owns none.
   * @throws TypeError when the name is none; Error when it is in use on this node, or JetStream is off; all as rejections.
   * @example
   * const carts = await cluster.sharded("cart", Cart, (id, lease) => () => createCart(id, lease.epoch), { idle: 60_000 });
   * await carts.ref("ada").ask("add", "apple");
   */
  sharded<Signatures>(
    name: string,
    protocol: Protocol<string, Signatures>,
    create?: (id: string, lease: Lease) => Factory<Signatures>,
    options?: ShardedOptions,
  ): Promise<Sharded<Signatures>>;
  /**
   * One actor of the whole cluster, on one of the nodes that serve it, as `sharded` has one for each id.
   *
   * @param create makes its behaviour. Without it, this node only sends to it.
   * @throws as `sharded` does.
   * @example
   * const clock = await cluster.singleton("clock", Clock, () => () => ({ now: () => Date.now() }));
   */
  singleton<Signatures>(
    name: string,
    protocol: Protocol<string, Signatures>,
    create?: (lease: Lease) => Factory<Signatures>,
    options?: ShardedOptions,
  ): Promise<Ref<Signatures>>;
  /**
   * The reference to the actor for an id, at the address `@(CLUSTER/NAME/ID)`. It outlives each actor and each owner.
   *
   * @throws Error when this node does not know the name; TypeError when the id cannot be in an address; RangeError when it is too long for the
   * addresses of all nodes.
   * @example
   * const cart = cluster.ref("cart", "ada", Cart);
   */
  ref<Signatures>(name: string, id: string, protocol: Protocol<string, Signatures>): Ref<Signatures>;
  /** The epoch at which this node owns an id, or a singleton (without an id); undefined where it does not. */
  epochOf(name: string, id?: string): number | undefined;
  /** Leaves the cluster: sends what is left, and ends the connection. Called by a shutdown of the system. */
  close(): Promise<void>;
}

/** The id of the actor of a singleton. */
const ONE = "one";

/**
 * Joins a cluster of nodes that reach each other by servers of NATS, 2.11 or later. It reconnects for ever, with backoff, and says by events of the system
 * what happens: `nats:disconnected`, `nats:reconnected`, `nats:leaving`, `nats:error` and `nats:stale`. A server cuts off a node that takes messages slower than they come, and
 * gives it no reason: `nats:disconnected` tells it, and `nats:gap` what was lost.
 *
 * Nodes may have different versions of a protocol, as in a rolling upgrade: what fits both works. An operation that the other node does not have is `unknown-operation`, a payload that
 * its schema refuses is `invalid-payload`, and both errors name both versions (`versionOf`). Each difference is told once on both nodes by the event `nats:versions`. The
 * `ctx.metadata["envoi.versions"]` of a message that another version sent names both, in dead letters too.
 *
 * @throws TypeError or RangeError when an option is invalid, and Error when no server answers, when it is older, when there are fewer servers than
 * `replicas`, or when a package of NATS is not installed; all as rejections.
 * @example
 * const cluster = await connectCluster(system, { servers: "nats://127.0.0.1:4222", name: "shop", node: "node-1" });
 */
export async function connectCluster(system: System, options: ClusterOptions): Promise<Cluster> {
  const connection = await openConnection(system, options);
  const nodes = new Nodes(connection);
  const members = connection.nc.info?.jetstream === true ? await joined(connection, nodes) : undefined;
  if (members === undefined) await nodes.open();
  const names = members === undefined ? undefined : new Names(connection, nodes, members);
  const namesFor = async (who: string): Promise<Names> => {
    connection.checkOpen(who);
    if (names !== undefined) return names;
    await connection.jetstream(who); // Says what is missing.
    throw new Error(`${who} needs JetStream, which was off when this node joined: connect again.`);
  };
  return {
    name: connection.cluster,
    node: connection.node,
    expose: (name, ref) => nodes.expose(name, ref),
    remote: (node, name, protocol) => nodes.remote(node, name, protocol),
    members: () => (connection.isClosed ? [] : (members?.all().map(({ node }) => node) ?? [])),
    durable<Signatures>(
      to: string | Ref<Signatures>,
      ...args:
        | [protocol: Protocol<string, Signatures>, options?: DurableOptions | undefined]
        | [options?: DurableOptions | undefined]
    ) {
      if (typeof to === "string") {
        const [protocol, durableOptions] = args as [Protocol<string, Signatures>, DurableOptions?]; // As the first overload says.
        return durableRef(connection, to, protocol, durableOptions);
      }
      const { kind, id } = durableAt(names, to);
      const [durableOptions] = args as [DurableOptions?]; // As the second overload says.
      return durableRefTo(connection, kind, id, durableOptions) as DurableRef<Signatures>; // The reference is of the kind's protocol.
    },
    async receiveDurable(receiver, ref, receiverOptions) {
      connection.checkOpen("cluster.receiveDurable");
      return await openReceiver(connection, receiver, ref, receiverOptions);
    },
    async deadLetters(receiver, lettersOptions) {
      connection.checkOpen("cluster.deadLetters");
      if (typeof receiver === "string") return await readDeadLetters(connection, placeOfName(receiver), lettersOptions);
      const { kind, id } = durableAt(names, receiver);
      return await readDeadLetters(connection, placeOfId(connection, kind, id), lettersOptions);
    },
    async deleteDeadLetter({ sequence }) {
      connection.checkOpen("cluster.deleteDeadLetter");
      await deleteDeadLetter(connection, sequence);
    },
    topic: (topicName) => topicOf(connection, topicName),
    async sharded<Signatures>(
      name: string,
      protocol: Protocol<string, Signatures>,
      create?: Create<Signatures>,
      options: ShardedOptions = {},
    ) {
      const found = await namesFor("cluster.sharded");
      await found.sharded(name, protocol as Protocol, create as Create<never> | undefined, options); // Both are of one protocol.
      return { ref: (id: string) => found.ref(name, id, protocol) };
    },
    async singleton<Signatures>(
      name: string,
      protocol: Protocol<string, Signatures>,
      create?: (lease: Lease) => Factory<Signatures>,
      options: ShardedOptions = {},
    ) {
      const found = await namesFor("cluster.singleton");
      const one = create && ((_: string, lease: Lease) => create(lease));
      await found.sharded(name, protocol as Protocol, one as Create<never> | undefined, options, 1); // Both are of one protocol.
      return found.ref(name, ONE, protocol);
    },
    ref(name, id, protocol) {
      if (names === undefined) throw new Error("cluster.ref needs JetStream, which was off when this node joined.");
      return names.ref(name, id, protocol);
    },
    epochOf: (name, id = ONE) => names?.epochOf(name, id),
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

async function joined(connection: Connection, nodes: Nodes): Promise<Members> {
  try {
    return await connection.opening(Members.join(connection, nodes));
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

/** @throws TypeError when the reference is to no actor that takes durable messages. */
function durableAt(names: Names | undefined, ref: AnyRef): ReturnType<Names["at"]> & object {
  if (typeof ref?.address !== "string") {
    throw new TypeError(`cluster.durable takes a name and its protocol, or a reference to an id; got ${quote(ref)}.`);
  }
  const found = names?.at(ref.address);
  if (found === undefined) {
    throw new TypeError(
      `${ref.address} is no id of a name over the cluster, so nobody would take over its durable messages: use cluster.sharded() or cluster.singleton(), or send to a name that an actor receives by cluster.receiveDurable().`,
    );
  }
  if (found.kind.isDurable) return found;
  throw new TypeError(
    `The name ${quote(found.kind.name)} takes no durable messages: give cluster.sharded() or cluster.singleton() the option { durable: true }, on this node and on those that serve it.`,
  );
}
