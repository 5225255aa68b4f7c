import { type Address, type AnyRef, address, type Protocol, quote, type Ref } from "../index";
import type { Connection } from "./connection";
import { checkDurable, isDurable, openLanes } from "./durable/lanes";
import { checkId, checkName, checkServed, type Kind, keyOf, servedAs } from "./kinds";
import { type Create, checkSharded, type Lease, type ShardedOptions } from "./lease";
import { Loop } from "./loop";
import type { Members } from "./members";
import type { Nodes } from "./nodes";
import { NotMade, OwnActors } from "./own-actors";
import type { Owner } from "./owners";
import { Ownership } from "./ownership";
import { SHARDS, shardOf, winnerOf } from "./shards";

/** The names over the cluster: the actors of what this node owns, and the way to those of others. */
export class Names {
  readonly #connection: Connection;
  readonly #nodes: Nodes;
  readonly #members: Members;
  readonly #kinds = new Map<string, Kind>();
  readonly #actors: OwnActors;
  readonly #ownership: Ownership;
  /** True once the owners are known. */
  #isOpen = false;
  /** The way to the actors of this node: the same as to those of others, so that where an actor is changes nothing. */
  readonly #loop: Loop;
  /** What ends with the names, so that the system can join again. */
  readonly #ends: (() => void)[] = [];
  /** Those who wait for the owner of a shard. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isClosed = false;

  constructor(connection: Connection, nodes: Nodes, members: Members) {
    this.#connection = connection;
    this.#nodes = nodes;
    this.#members = members;
    this.#loop = new Loop(connection, (at) => this.#found(at));
    this.#actors = new OwnActors(connection.system, `@(${connection.cluster}/own/`);
    this.#ownership = new Ownership({
      connection,
      nodes,
      members,
      kinds: this.#kinds,
      actors: this.#actors,
      onChange: (key) => this.#wake(key),
    });
    members.onGone((cause) => {
      this.#loop.lose(cause);
      return connection.within(this.#actors.stopAll(), this.#drainTimeout);
    });
    nodes.addFinder((at) => this.#found(at));
  }

  // ——— Names

  async sharded(
    name: string,
    protocol: Protocol,
    create: Create<never> | undefined,
    options: ShardedOptions,
    shards = SHARDS,
  ): Promise<void> {
    checkName(name);
    checkSharded(options);
    checkDurable(options, this.#connection);
    if (this.#kinds.has(name))
      throw new Error(`The name ${quote(name)} is in use over the cluster on this node already.`);
    const { system, cluster } = this.#connection;
    const { idle, waiting = 1_000, drainTimeout = 30_000 } = options;
    const kind: Kind = { name, protocol, shards, create, isDurable: isDurable(options), drainTimeout };
    checkServed(kind, this.#connection, this.#members);
    this.#kinds.set(name, kind);
    try {
      await this.#open();
    } catch (thrown) {
      this.#kinds.delete(name);
      throw thrown;
    }
    const [to, own] = [`${cluster}/${name}/`, `${cluster}/own/${name}/`];
    const ends: (() => void)[] = [];
    const ready = Promise.withResolvers<void>();
    this.#ends.push(() => ends.forEach((end) => void end()));
    try {
      ends.push(system.resolve(to, (_, text) => this.#route(kind, text.slice(to.length)), { waiting }));
      if (create === undefined) return;
      const resolving = idle === undefined ? { waiting } : { waiting, idle };
      ends.push(system.resolve(own, (at, text) => this.#openOwn(kind, at, text, text.slice(own.length)), resolving));
      // Before the members hear of it: lanes that fail leave nothing behind.
      const refOf = (id: string) => this.ref(name, id, protocol);
      if (kind.isDurable) await openLanes(this.#connection, kind, refOf, options, ready.promise);
    } catch (thrown) {
      for (const end of ends.splice(0)) end();
      this.#kinds.delete(name);
      throw thrown;
    }
    await this.#members.serve(name, servedAs(protocol, shards));
    ready.resolve();
    this.#ownership.changed();
  }

  /** The name over the cluster and the id that an address is of; undefined for any other address. */
  at(to: Address): { readonly kind: Kind; readonly id: string } | undefined {
    const [, name = "", id = ""] = new RegExp(`^@\\(${this.#connection.cluster}/([\\w-]+)/(.+)\\)$`).exec(to) ?? [];
    const kind = this.#kinds.get(name);
    return kind === undefined ? undefined : { kind, id };
  }

  async #open(): Promise<void> {
    await this.#ownership.open();
    if (this.#isOpen) return;
    this.#isOpen = true;
    // The actors of a system that shuts down are handed over while they still run.
    this.#connection.onClose(this.#connection.system.beforeShutdown(() => this.#ownership.leave()));
    this.#connection.onClose(() => this.#close());
  }

  ref<Signatures>(name: string, id: string, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    const { system, cluster } = this.#connection;
    if (!this.#kinds.has(name))
      throw new Error(
        `This node does not know the name ${quote(name)}: call cluster.sharded() or cluster.singleton() first.`,
      );
    checkId(name, id, this.#connection);
    return system.ref(address(`${cluster}/${name}/${id}`), protocol);
  }

  /** The epoch at which this node owns an id; undefined where it does not. */
  epochOf(name: string, id: string): number | undefined {
    const kind = this.#kinds.get(name);
    return kind === undefined ? undefined : this.#ownership.owned(keyOf(kind, id))?.epoch;
  }

  // ——— The way to an actor

  /** The reference to the actor for an id, wherever it is; a promise of it while nobody owns its shard. */
  #route(kind: Kind, id: string): AnyRef | Promise<AnyRef> {
    const found = this.#routed(kind, id);
    return found ?? this.#until(keyOf(kind, id), () => this.#routed(kind, id));
  }

  #routed(kind: Kind, id: string): AnyRef | undefined {
    const owner = this.#ownership.get(keyOf(kind, id));
    if (owner === undefined || !this.#ownership.isAlive(owner)) {
      if (this.#ownership.candidates(kind).length > 0) return undefined;
      throw new Error(`no node of cluster "${this.#connection.cluster}" serves "${kind.name}"`);
    }
    const { node, cluster } = this.#connection;
    const at = address(`${cluster}/own/${kind.name}/${id}`);
    const to = owner.to ?? owner.node;
    return to === node
      ? this.#loop.transient(at, kind.protocol)
      : this.#nodes.pair(to).link.transient(at, kind.protocol);
  }

  async #until<Found>(key: string, look: () => Found | undefined): Promise<Found> {
    for (;;) {
      const waiting = this.#waiting.get(key) ?? [];
      this.#waiting.set(key, waiting);
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (this.#isClosed) throw new Error(`cluster "${this.#connection.cluster}" is closed`);
      const found = look();
      if (found !== undefined) return found;
    }
  }

  /** The actors that other nodes may reach: those for the ids of names that this node serves. */
  #found(at: Address): AnyRef | undefined {
    const [, name] = new RegExp(`^@\\(${this.#connection.cluster}/own/([\\w-]+)/`).exec(at) ?? [];
    const kind = name === undefined ? undefined : this.#kinds.get(name);
    return kind?.create === undefined ? undefined : this.#connection.system.ref(at, kind.protocol);
  }

  // ——— The actors of this node

  #openOwn(kind: Kind, at: Address, text: string, id: string): AnyRef | Promise<AnyRef> {
    const key = keyOf(kind, id);
    const { node } = this.#connection;
    const look = (): AnyRef | undefined => {
      const owner = this.#ownership.owned(key);
      if (owner !== undefined && !this.#ownership.isDraining(key)) return this.#spawn(kind, key, at, text, id, owner);
      if (this.#isComing(kind, key, id)) return undefined;
      const next = this.#ownership.get(key);
      const to = next?.to ?? next?.node;
      if (next === undefined || to === undefined || to === node || !this.#ownership.isAlive(next)) {
        throw new Error(`node "${node}" does not own it any more`);
      }
      return this.#nodes.pair(to).link.transient(at, kind.protocol); // It left its sender before that knew of the move.
    };
    return look() ?? this.#until(key, look);
  }

  #spawn(kind: Kind, key: string, at: Address, text: string, id: string, { epoch }: Owner): AnyRef {
    const isHeld = (): boolean => this.#ownership.isHeld(key, epoch);
    const lease: Lease = {
      epoch,
      get isHeld() {
        return isHeld();
      },
    };
    // The factory is that of the kind's protocol: `sharded` has checked both together.
    // The two belong to one protocol, which only the caller of `sharded` knows.
    const create = kind.create as unknown as Create<never>; // Of the same protocol, as above.
    try {
      const ref = this.#connection.system.spawn(text, kind.protocol as Protocol<string, never>, create(id, lease));
      this.#actors.add(key, at, ref);
      return ref;
    } catch (thrown) {
      const who = kind.shards === 1 ? `of ${quote(kind.name)}` : `for the id ${quote(id)} of ${quote(kind.name)}`;
      throw new NotMade(
        thrown,
        `the actor ${who} could not be made on node "${this.#connection.node}", whose log says why`,
      );
    }
  }

  /** True for a shard that this node is about to own, or has back: the next owner left before it had it, and what was here still ends. */
  #isComing(kind: Kind, key: string, id: string): boolean {
    const { node } = this.#connection;
    const owner = this.#ownership.get(key);
    if (owner !== undefined && this.#ownership.isAlive(owner))
      return (owner.to ?? (this.#ownership.isDraining(key) && owner.node)) === node;
    return winnerOf(this.#ownership.candidates(kind), kind.name, shardOf(id, kind.shards)) === node;
  }

  /** Lets those look again who wait for the owner of a shard, or, without a key, of any. */
  #wake(key?: string): void {
    for (const each of key === undefined ? [...this.#waiting.keys()] : [key]) {
      const waiting = this.#waiting.get(each) ?? [];
      this.#waiting.delete(each);
      for (const resume of waiting) resume();
    }
  }

  /** The longest time that running handlers hold this node up. */
  get #drainTimeout(): number {
    return Math.max(0, ...[...this.#kinds.values()].map(({ drainTimeout }) => drainTimeout));
  }

  async #close(): Promise<void> {
    await this.#ownership.leave();
    this.#isClosed = true;
    await this.#connection.within(this.#actors.stopAll(), this.#connection.lease);
    this.#wake();
    this.#loop.end(new Error(`cluster "${this.#connection.cluster}" is closed`));
    for (const end of this.#ends) end();
    this.#actors.close();
  }
}
