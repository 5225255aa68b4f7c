import { type Address, type AnyRef, address, type Protocol, quote, type Ref } from "../index";
import type { Connection } from "./connection";
import { checkDurable, isDurable, openLanes } from "./durable/lanes";
import { checkId, checkName, checkServed, type Kind, keyOf, servedAs } from "./kinds";
import { type Create, checkSharded, type Lease, type ShardedOptions } from "./lease";
import { Loop } from "./loop";
import type { Members } from "./members";
import type { Nodes } from "./nodes";
import { OwnActors } from "./own-actors";
import { type Owner, Owners } from "./owners";
import { SHARDS, shardOf, winnerOf } from "./shards";

/** The shards that a node hands over at a time, unless it closes. */
const STEP = 8;
/** Milliseconds between two looks whether a shard that comes to a node which closes is there, so that it can be handed on. */
const COMING_LOOK = 10;

/** The names over the cluster: who owns what, the actors of what this node owns, and the way to those of others. */
export class Names {
  readonly #connection: Connection;
  readonly #nodes: Nodes;
  readonly #members: Members;
  readonly #kinds = new Map<string, Kind>();
  #owners: Promise<Owners> | undefined;
  #table: Owners | undefined;
  readonly #actors: OwnActors;
  readonly #claiming = new Set<string>();
  readonly #moving = new Set<string>();
  /** Shards whose actors end: no new one begins. */
  readonly #draining = new Set<string>();
  /** The way to the actors of this node: the same as to those of others, so that where an actor is changes nothing. */
  readonly #loop: Loop;
  /** What ends with the names, so that the system can join again. */
  readonly #ends: (() => void)[] = [];
  /** Those who wait for the owner of a shard. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isSettling = false;
  /** Once it hands over all that it owns, it claims nothing. */
  #leaving: Promise<void> | undefined;
  #isClosed = false;

  constructor(connection: Connection, nodes: Nodes, members: Members) {
    this.#connection = connection;
    this.#nodes = nodes;
    this.#members = members;
    this.#loop = new Loop(connection, (at) => this.#found(at));
    this.#actors = new OwnActors(connection.system, `@(${connection.cluster}/own/`);
    members.onChange(() => this.#changed());
    members.onGone((cause) => {
      this.#loop.lose(cause);
      return connection.within(this.#actors.stopAll(), this.#drainTimeout);
    });
    members.onRejoin(async () => this.#table?.reopen());
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
      this.#owners ??= this.#open();
      this.#table = await this.#owners;
    } catch (thrown) {
      this.#kinds.delete(name);
      this.#owners = undefined; // The next call tries it again.
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
    this.#changed();
  }

  /** The name over the cluster and the id that an address is of; undefined for any other address. */
  at(to: Address): { readonly kind: Kind; readonly id: string } | undefined {
    const [, name = "", id = ""] = new RegExp(`^@\\(${this.#connection.cluster}/([\\w-]+)/(.+)\\)$`).exec(to) ?? [];
    const kind = this.#kinds.get(name);
    return kind === undefined ? undefined : { kind, id };
  }

  async #open(): Promise<Owners> {
    const owners = await Owners.open(this.#connection, this.#nodes, (key) => this.#changed(key));
    // The actors of a system that shuts down are handed over while they still run.
    this.#connection.onClose(this.#connection.system.beforeShutdown(() => this.#leave()));
    this.#connection.onClose(() => this.#close());
    return owners;
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
    return kind === undefined ? undefined : this.#owned(keyOf(kind, id))?.epoch;
  }

  // ——— The way to an actor

  /** The reference to the actor for an id, wherever it is; a promise of it while nobody owns its shard. */
  #route(kind: Kind, id: string): AnyRef | Promise<AnyRef> {
    const found = this.#routed(kind, id);
    return found ?? this.#until(keyOf(kind, id), () => this.#routed(kind, id));
  }

  #routed(kind: Kind, id: string): AnyRef | undefined {
    const owner = this.#table?.get(keyOf(kind, id));
    if (owner === undefined || !this.#isAlive(owner)) {
      if (this.#candidates(kind).length > 0) return undefined;
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
      const table = this.#table;
      const owner = this.#owned(key);
      if (owner !== undefined && !this.#draining.has(key)) return this.#spawn(kind, key, at, text, id, owner);
      if (this.#isComing(kind, key, id)) return undefined;
      const next = table?.get(key);
      const to = next?.to ?? next?.node;
      if (next === undefined || to === undefined || to === node || !this.#isAlive(next)) {
        throw new Error(`node "${node}" does not own it any more`);
      }
      return this.#nodes.pair(to).link.transient(at, kind.protocol); // It left its sender before that knew of the move.
    };
    return look() ?? this.#until(key, look);
  }

  #spawn(kind: Kind, key: string, at: Address, text: string, id: string, { epoch }: Owner): AnyRef {
    const isHeld = (): boolean => this.#owned(key)?.epoch === epoch;
    const lease: Lease = {
      epoch,
      get isHeld() {
        return isHeld();
      },
    };
    // The factory is that of the kind's protocol: `sharded` has checked both together.
    // The two belong to one protocol, which only the caller of `sharded` knows.
    const factory = (kind.create as unknown as Create<never>)(id, lease);
    const ref = this.#connection.system.spawn(text, kind.protocol as unknown as Protocol<string, never>, factory);
    this.#actors.add(key, at, ref);
    return ref;
  }

  /** The owner of a shard, if that is this node, and its lease holds. */
  #owned(key: string): Owner | undefined {
    const owner = this.#table?.get(key);
    return owner?.node === this.#connection.node && this.#isAlive(owner) ? owner : undefined;
  }

  /** True for a shard that this node is about to own, or has back: the next owner left before it had it, and what was here still ends. */
  #isComing(kind: Kind, key: string, id: string): boolean {
    const { node } = this.#connection;
    const owner = this.#table?.get(key);
    if (owner !== undefined && this.#isAlive(owner))
      return (owner.to ?? (this.#draining.has(key) && owner.node)) === node;
    return winnerOf(this.#candidates(kind), kind.name, shardOf(id, kind.shards)) === node;
  }

  /** True while an owner has its lease; this node knows of its own best. */
  #isAlive({ node, incarnation }: Owner): boolean {
    const own = this.#connection;
    if (node === own.node) return incarnation === own.incarnation && this.#members.holdsLease;
    return this.#members.has(node, incarnation);
  }

  #candidates({ name }: Kind): readonly string[] {
    return this.#members
      .all()
      .filter(
        ({ node, serves }) => serves.has(name) && !(this.#leaving !== undefined && node === this.#connection.node),
      )
      .map(({ node }) => node);
  }

  // ——— Who owns what

  /** The owner of a shard has changed, or, without a key, the members have: then each shard may fall to another node. */
  #changed(key?: string): void {
    for (const each of key === undefined ? [...this.#waiting.keys()] : [key]) {
      const waiting = this.#waiting.get(each) ?? [];
      this.#waiting.delete(each);
      for (const resume of waiting) resume();
    }
    if (this.#isSettling || this.#leaving !== undefined) return;
    this.#isSettling = true;
    this.#connection.system.clock.microtask(() => {
      this.#isSettling = false;
      this.#settle();
    });
  }

  /** Claims what is free and falls to this node, and hands over what falls to another one. */
  #settle(): void {
    const table = this.#table;
    if (table === undefined || !this.#members.holdsLease) return;
    const { node } = this.#connection;
    for (const kind of this.#kinds.values()) {
      if (kind.create === undefined) continue;
      const candidates = this.#candidates(kind);
      for (let shard = 0; shard < kind.shards; shard++) {
        const key = `${kind.name}.${shard}`;
        const best = winnerOf(candidates, kind.name, shard);
        const owner = table.get(key);
        if (owner === undefined || !this.#isAlive(owner)) {
          if (best === node) void this.#claim(key, owner);
        } else if (this.#owned(key) !== undefined && best !== undefined && best !== node && this.#moving.size < STEP) {
          void this.#move(kind, shard, key, best);
        }
      }
    }
  }

  async #claim(key: string, last: Owner | undefined): Promise<void> {
    if (this.#claiming.has(key)) return;
    this.#claiming.add(key);
    const { node, incarnation } = this.#connection;
    try {
      await this.#table?.write(key, { node, incarnation }, last?.revision);
    } finally {
      this.#claiming.delete(key);
      // This node has joined anew meanwhile: what fell to it then waited for this claim.
      if (incarnation !== this.#connection.incarnation) this.#changed(key);
    }
  }

  /** Hands a shard over: senders turn to the next owner, where messages wait; what is here is drained; then the next one owns it. */
  async #move(kind: Kind, shard: number, key: string, to: string): Promise<void> {
    const owner = this.#owned(key);
    if (owner === undefined || this.#table === undefined || this.#moving.has(key)) return;
    this.#moving.add(key);
    try {
      const { node, incarnation, epoch } = owner;
      const told = await this.#table.write(key, { node, incarnation, to, epoch }, owner.revision);
      if (told === undefined) return;
      const barriers = [...this.#nodes.met()].map((pair) => pair.barrier(told));
      await this.#connection.within(Promise.all(barriers), this.#connection.lease);
      this.#draining.add(key);
      const isDrained = this.#actors.stop(key, true).then(() => true);
      if ((await this.#connection.within(isDrained, kind.drainTimeout)) === undefined) this.#abandon(kind, key);
      const next = this.#members.all().find((member) => member.node === to);
      const best =
        next ??
        this.#members.all().find((member) => member.node === winnerOf(this.#candidates(kind), kind.name, shard));
      if (best !== undefined) await this.#table.write(key, { node: best.node, incarnation: best.incarnation }, told);
    } finally {
      this.#draining.delete(key);
      this.#moving.delete(key);
      this.#changed(key);
    }
  }

  /** A handler has not ended in time. It hears of that, and goes on beside the next actor for its id. */
  #abandon(kind: Kind, key: string): void {
    void this.#actors.stop(key, false);
    const { system, cluster } = this.#connection;
    system.log.warn(
      `Cluster "${cluster}": a handler of "${kind.name}" has not ended ${kind.drainTimeout} ms after its shard ${key} was to move (drainTimeout): it is aborted, and the shard moves.`,
    );
  }

  /** The longest time that running handlers hold this node up. */
  get #drainTimeout(): number {
    return Math.max(0, ...[...this.#kinds.values()].map(({ drainTimeout }) => drainTimeout));
  }

  /** Hands over to the others all that this node owns, at once, since it has no more time than a lease for it. */
  #leave(): Promise<void> {
    this.#leaving ??= this.#handOver();
    return this.#leaving;
  }

  async #handOver(): Promise<void> {
    const { lease } = this.#connection;
    await this.#connection.within(this.#members.retire(), lease);
    let isOver = false;
    await this.#connection.within(
      this.#moveAll(() => isOver),
      lease,
    );
    isOver = true;
    // What came late was passed on, and its answers come back this way.
    await this.#connection.within(this.#nodes.answered(), lease);
  }

  /** Hands over what this node owns, and what is on its way to it: messages wait here for that already. */
  async #moveAll(isOver: () => boolean): Promise<void> {
    const { node, system } = this.#connection;
    for (;;) {
      const moves: Promise<void>[] = [];
      let isComing = false;
      for (const kind of this.#kinds.values()) {
        for (let shard = 0; shard < kind.shards; shard++) {
          const key = `${kind.name}.${shard}`;
          const best = winnerOf(this.#candidates(kind), kind.name, shard);
          if (best === undefined) continue;
          const owner = this.#table?.get(key);
          if (this.#owned(key) !== undefined) moves.push(this.#move(kind, shard, key, best));
          else isComing ||= owner?.to === node && this.#isAlive(owner);
        }
      }
      await Promise.all(moves);
      if (!isComing || isOver()) return;
      await new Promise<void>((resolve) => system.clock.setTimer(resolve, COMING_LOOK));
    }
  }

  async #close(): Promise<void> {
    await this.#leave();
    this.#isClosed = true;
    await this.#connection.within(this.#actors.stopAll(), this.#connection.lease);
    this.#changed();
    this.#loop.end(new Error(`cluster "${this.#connection.cluster}" is closed`));
    for (const end of this.#ends) end();
    this.#actors.close();
  }
}
