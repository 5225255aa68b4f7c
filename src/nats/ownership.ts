import type { Connection } from "./connection";
import type { Kind } from "./kinds";
import type { Members } from "./members";
import type { Nodes } from "./nodes";
import type { OwnActors } from "./own-actors";
import { type Owner, Owners } from "./owners";
import { winnerOf } from "./shards";

/** The shards that a node hands over at a time, unless it closes. */
const STEP = 8;
/** Milliseconds between two looks whether a shard that comes to a node which closes is there, so that it can be handed on. */
const COMING_LOOK = 10;

/** The leases in which all nodes have found that the servers lost who owns what. */
const GIVEN_UP_WITHIN = 2;

/** The parts of a node that its ownership needs. */
interface OwnershipParts {
  readonly connection: Connection;
  readonly nodes: Nodes;
  readonly members: Members;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly actors: OwnActors;
  /** Called when the owner of a shard has changed; without a key, where each may have. */
  readonly onChange: (key?: string) => void;
}

/** Claims the shards that fall to this node, hands over those that fall to others, and knows who owns what. */
export class Ownership {
  readonly #connection: Connection;
  readonly #nodes: Nodes;
  readonly #members: Members;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #actors: OwnActors;
  readonly #onChange: (key?: string) => void;
  #owners: Promise<Owners> | undefined;
  #table: Owners | undefined;
  readonly #claiming = new Set<string>();
  /** Shards that were free once more while they were claimed. */
  readonly #claimLater = new Set<string>();
  readonly #moving = new Set<string>();
  /** Shards whose actors end: no new one begins. */
  readonly #draining = new Set<string>();
  /** Shards that the next owner may have by now, though this node has not read that. */
  readonly #given = new Set<string>();
  #isSettling = false;
  /** By the monotonic clock. */
  #claimsFrom = 0;
  /** Once it hands over all that it owns, it claims nothing. */
  #leaving: Promise<void> | undefined;

  constructor({ connection, nodes, members, kinds, actors, onChange }: OwnershipParts) {
    this.#connection = connection;
    this.#nodes = nodes;
    this.#members = members;
    this.#kinds = kinds;
    this.#actors = actors;
    this.#onChange = onChange;
    members.onChange(() => this.changed());
    members.onRejoin(async () => {
      if ((await this.#table?.reopen()) === true) this.#waitForOthers();
    });
  }

  /** Reads who owns what, once. The next call tries it again where that failed. */
  async open(): Promise<void> {
    this.#owners ??= Owners.open(this.#connection, this.#nodes, {
      changed: (key) => this.changed(key),
      lost: () => this.#members.lose(),
    });
    if (this.#table !== undefined) return;
    try {
      this.#table = await this.#owners;
    } catch (thrown) {
      this.#owners = undefined;
      throw thrown;
    }
    // A node that serves a name claims its shards at once. Where nobody has any, the servers may have lost that while this node joined.
    const { node } = this.#connection;
    const areOthers = this.#members.all().some((member) => member.node !== node && member.serves.size > 0);
    if (this.#table.isEmpty && areOthers) this.#waitForOthers();
  }

  get(key: string): Owner | undefined {
    return this.#table?.get(key);
  }

  /** The owner of a shard, if that is this node, and its lease holds. */
  owned(key: string): Owner | undefined {
    const owner = this.#table?.get(key);
    const { node, incarnation } = this.#connection;
    const isOwn = owner?.node === node && owner.incarnation === incarnation;
    return isOwn && this.#members.holdsLease ? owner : undefined;
  }

  /** True while an owner has its lease, as far as this node has heard. That of its own has an end before others hear of that. */
  isAlive({ node, incarnation }: Owner): boolean {
    return this.#members.has(node, incarnation) && (node !== this.#connection.node || this.#members.holdsLease);
  }

  /** True while no other node may own a shard that this one got at an epoch. */
  isHeld(key: string, epoch: number): boolean {
    return this.owned(key)?.epoch === epoch && !this.#given.has(key);
  }

  isDraining(key: string): boolean {
    return this.#draining.has(key);
  }

  /** The nodes that may own shards of a name. */
  candidates({ name }: Kind): readonly string[] {
    return this.#members
      .all()
      .filter(
        ({ node, serves }) => serves.has(name) && !(this.#leaving !== undefined && node === this.#connection.node),
      )
      .map(({ node }) => node);
  }

  /** The owner of a shard has changed, or, without a key, the members have: then each shard may fall to another node. */
  changed(key?: string): void {
    this.#onChange(key);
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
    const { node, system } = this.#connection;
    if (table === undefined || !this.#members.holdsLease || system.clock.monotonicTime() < this.#claimsFrom) return;
    for (const kind of this.#kinds.values()) {
      if (kind.create === undefined) continue;
      const candidates = this.candidates(kind);
      for (let shard = 0; shard < kind.shards; shard++) {
        const key = `${kind.name}.${shard}`;
        const best = winnerOf(candidates, kind.name, shard);
        const owner = table.get(key);
        if (owner === undefined || !this.isAlive(owner)) {
          if (best === node && this.owned(key) === undefined) void this.#claim(key, owner);
        } else if (this.owned(key) !== undefined && best !== undefined && best !== node && this.#moving.size < STEP) {
          void this.#move(kind, shard, key, best);
        }
      }
    }
  }

  /** Where the servers lost who owns what, others may not have found that yet. They look for it twice in a lease, and give up what they own within two. */
  #waitForOthers(): void {
    const { system, lease } = this.#connection;
    const time = GIVEN_UP_WITHIN * lease;
    this.#claimsFrom = system.clock.monotonicTime() + time;
    system.clock.setTimer(() => this.changed(), time).unref();
  }

  async #claim(key: string, last: Owner | undefined): Promise<void> {
    if (this.#claiming.has(key)) {
      this.#claimLater.add(key);
      return;
    }
    this.#claiming.add(key);
    const { node, incarnation } = this.#connection;
    try {
      await this.#table?.write(key, { node, incarnation }, last?.revision);
    } finally {
      this.#claiming.delete(key);
      if (this.#claimLater.delete(key)) this.changed(key);
    }
  }

  /** Hands a shard over: senders turn to the next owner, where messages wait; what is here is drained; then the next one owns it. */
  async #move(kind: Kind, shard: number, key: string, to: string): Promise<void> {
    const owner = this.owned(key);
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
      this.#given.add(key);
      const next = this.#members.all().find((member) => member.node === to);
      const best =
        next ?? this.#members.all().find((member) => member.node === winnerOf(this.candidates(kind), kind.name, shard));
      if (best !== undefined) await this.#table.write(key, { node: best.node, incarnation: best.incarnation }, told);
    } finally {
      this.#draining.delete(key);
      this.#given.delete(key);
      this.#moving.delete(key);
      this.changed(key);
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

  /** Hands over to the others all that this node owns, at once, since it has no more time than a lease for it. */
  leave(): Promise<void> {
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
          const best = winnerOf(this.candidates(kind), kind.name, shard);
          if (best === undefined) continue;
          const owner = this.#table?.get(key);
          if (this.owned(key) !== undefined) moves.push(this.#move(kind, shard, key, best));
          else isComing ||= owner?.to === node && this.isAlive(owner);
        }
      }
      await Promise.all(moves);
      if (!isComing || isOver()) return;
      await new Promise<void>((resolve) => system.clock.setTimer(resolve, COMING_LOOK));
    }
  }
}
