import type { KV, KvWatchEntry } from "@nats-io/kv";
import { type Connection, LEADER_WITHIN } from "./connection";
import { isNoRoom } from "./durable/store";
import { tellStrange } from "./entries";
import { Following } from "./following";
import { ForeignNodes } from "./foreign";
import { isReadable, newIncarnation } from "./format";
import { type Member, readMember } from "./member";
import type { Nodes } from "./nodes";

/** Heartbeats in the time of a lease. */
const BEATS = 4;
/** A question to JetStream, in milliseconds: a heartbeat that takes longer is no use. */
const LEAST_WAIT = 1_000;
/** The time that the end marker of a lease is kept, in milliseconds. */
const MARKER = 60_000;

const bucketOf = (connection: Connection): Promise<KV> =>
  connection.bucket("connectCluster", "members", { ttl: connection.lease, markerTTL: MARKER });

/**
 * The nodes of the cluster: a key each in a bucket, which ends unless its node renews it within its lease. A node that could not renew
 * its own in time takes itself for gone before the others may (by its own clock), gives up all that it owns, and joins anew.
 */
export class Members {
  readonly #connection: Connection;
  readonly #nodes: Nodes;
  #bucket: KV;
  /** True where the servers have lost what nodes keep there, until this node has joined anew. */
  #hasLost = false;
  #following: Following | undefined;
  readonly #members = new Map<string, Member>();
  readonly #foreign: ForeignNodes;
  readonly #listeners = new Set<() => void>();
  readonly #goneListeners = new Set<(cause: Error) => unknown>();
  readonly #rejoinListeners = new Set<() => Promise<void>>();
  #serves: ReadonlyMap<string, string> = new Map();
  #revision = 0;
  /** When the lease ends, by the clock of this node: from before the last heartbeat that was taken. */
  #until = 0;
  #isClosed = false;
  #beating: Promise<void> | undefined;

  private constructor(connection: Connection, nodes: Nodes, bucket: KV) {
    this.#connection = connection;
    this.#nodes = nodes;
    this.#bucket = bucket;
    this.#foreign = new ForeignNodes(connection);
  }

  /** @throws Error (as a rejection) when another node has the name, or there are nodes of another format. */
  static async join(connection: Connection, nodes: Nodes): Promise<Members> {
    const members = new Members(connection, nodes, await bucketOf(connection));
    await members.#enter();
    nodes.leases = members;
    await nodes.open(); // Not before: a node that is not one yet would refuse what is meant for the one that had its name.
    await members.#follow();
    connection.onClose(() => members.#following?.stop());
    members.#beatOn();
    connection.onClose(() => members.#leave());
    members.#foreign.refuse();
    return members;
  }

  /** True while no other node may take this one for gone. */
  get holdsLease(): boolean {
    return this.#connection.system.clock.monotonicTime() < this.#until;
  }

  /** All nodes, this one among them, by their names. */
  all(): readonly Member[] {
    return [...this.#members.values()].sort((a, b) => (a.node < b.node ? -1 : 1));
  }

  /** True for a node that has its lease. */
  has(node: string, incarnation: string): boolean {
    return this.#members.get(node)?.incarnation === incarnation;
  }

  /** True while a node of this name has its lease. */
  isHere(node: string): boolean {
    return this.#members.has(node);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Calls back when this node has lost its lease. It joins anew once the promises that are given have resolved. */
  onGone(listener: (cause: Error) => unknown): void {
    this.#goneListeners.add(listener);
  }

  /** Calls back before this node joins anew: what the servers keep may be lost. */
  onRejoin(listener: () => Promise<void>): void {
    this.#rejoinListeners.add(listener);
  }

  /** Tells the others at once that this node serves a name. Resolves once this node has read it back. */
  async serve(name: string, version: string): Promise<void> {
    this.#serves = new Map([...this.#serves, [name, version]]);
    await this.#beating;
    await this.#beat();
    const { node } = this.#connection;
    while (!this.#isClosed && this.#members.get(node)?.serves.has(name) !== true) {
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
  }

  /** Tells the others that this node serves nothing any more: what it hands over does not come back. */
  async retire(): Promise<void> {
    this.#serves = new Map();
    await this.#beating;
    await this.#beat();
  }

  /** The servers have lost what nodes keep there: this node gives up what it owns, and joins anew at its next heartbeat. */
  lose(): void {
    this.#hasLost = true;
  }

  // ——— The lease of this node

  #text(): string {
    const { incarnation } = this.#connection;
    return JSON.stringify({ incarnation, serves: Object.fromEntries(this.#serves) });
  }

  get #now(): number {
    return this.#connection.system.clock.monotonicTime();
  }

  async #enter(): Promise<void> {
    const { node, cluster, lease, system } = this.#connection;
    const late = this.#now + 2 * lease + LEAST_WAIT; // A former one of this name may have been killed just now.
    for (;;) {
      const begun = this.#now;
      try {
        this.#revision = await this.#bucket.create(node, this.#text());
        this.#hold(begun);
        return;
      } catch (cause) {
        if (this.#isClosed) return;
        // The bucket has perhaps no leader at this moment, although it was made or found just now.
        const isAnswered = cause instanceof this.#connection.sdk.jetstream.JetStreamApiError;
        if (this.#connection.isClosed) throw cause; // Such as by a shutdown while this node joins.
        if (begun > (isAnswered ? late : late + LEADER_WITHIN)) {
          const holder = await this.#bucket.get(node).catch(() => null);
          if (holder?.operation !== "PUT" || isNoRoom(cause)) throw cause;
          throw new Error(`Node "${node}" of cluster "${cluster}" runs already: give each node another name.`, {
            cause,
          });
        }
        await new Promise<void>((resolve) => system.clock.setTimer(resolve, lease / BEATS));
      }
    }
  }

  /** The lease is held from a moment on. The watch may have told of it before: then nobody looked again. */
  #hold(begun: number): void {
    const wasHeld = this.holdsLease;
    this.#until = begun + this.#connection.lease;
    if (!wasHeld) for (const listener of this.#listeners) listener();
  }

  #beatOn(): void {
    const { system, lease } = this.#connection;
    const timer = system.clock.setTimer(() => {
      if (this.#isClosed) return;
      this.#beating = this.#beat().finally(() => {
        this.#beating = undefined;
        this.#beatOn();
      });
    }, lease / BEATS);
    timer.unref();
  }

  async #beat(): Promise<void> {
    const { node, lease } = this.#connection;
    if (this.#isClosed) return;
    const begun = this.#now;
    if (this.#hasLost) {
      await this.#begin(new Error("the servers have lost what they stored"));
      return;
    }
    if (begun >= this.#until) {
      await this.#begin(new Error("its lease was not renewed in time"));
      return;
    }
    try {
      this.#revision = await this.#bucket.update(node, this.#text(), this.#revision, Math.max(lease / 2, LEAST_WAIT));
      this.#hold(begun);
    } catch (cause) {
      if (this.#isClosed) return;
      // It may have been taken all the same, where the answer was lost. While the connection is away, the question would wait for longer than the lease.
      const asked = this.#bucket.get(node).catch(() => undefined);
      const entry = await this.#connection.within(asked, Math.max(0, this.#until - this.#now));
      if (entry === undefined) return; // Nobody knows: the next one tries again, until the lease ends.
      if (entry?.operation === "PUT" && readMember(entry)?.incarnation === this.#connection.incarnation) {
        this.#revision = entry.revision;
        return;
      }
      await this.#begin(new Error("its lease has ended", { cause }));
    }
  }

  /** Gives up what this node was, and joins as another incarnation. */
  async #begin(cause: Error): Promise<void> {
    const { node, cluster, lease, system } = this.#connection;
    let hasLost = this.#hasLost;
    this.#hasLost = false;
    const { holdsLease } = this;
    this.#until = 0;
    system.log.warn(`Cluster "${cluster}": node "${node}" gives up all that it owns and joins anew: ${cause.message}.`);
    this.#connection.tell("gone", { node, reason: cause.message });
    // A handler that waits for an answer would keep this node from joining until its timeout: the others send none any more.
    this.#nodes.lostLease(cause);
    // A handler that still runs may send: under the incarnation whose lease has ended, nobody takes it.
    await Promise.all([...this.#goneListeners].map((listener) => listener(cause)));
    this.#nodes.lostLease(cause);
    if (holdsLease) await this.#release(); // Its name is free at once.
    this.#connection.incarnation = newIncarnation();
    // Another process may have its name by now: it tries for ever, since the application runs.
    while (!this.#isClosed) {
      try {
        const isAnew = await this.#reopen(hasLost);
        hasLost ||= isAnew;
        this.#foreign.refuse();
        for (const listener of this.#rejoinListeners) await listener();
        if (isAnew) this.#hasLost = false; // It was found meanwhile by who followed the old buckets.
        await this.#enter();
        if (isAnew) await this.#follow();
        return;
      } catch (thrown) {
        if (this.#isClosed) return;
        const sentence = `Cluster "${cluster}": node "${node}" has not joined anew yet, and tries it again: ${String(thrown)}`;
        system.log.error(sentence, { cause: thrown });
        await new Promise<void>((resolve) => system.clock.setTimer(resolve, lease));
      }
    }
  }

  /**
   * The servers may have lost the bucket with all leases, as without a disk, or the last of its entries. Then it is made anew where it is gone, and true.
   *
   * @param hasLost true where it is known that they have lost something: then this node may not have heard of ends, whose revisions were taken before.
   */
  async #reopen(hasLost: boolean): Promise<boolean> {
    const bucket = await bucketOf(this.#connection);
    if (!hasLost && (await this.#following?.isBehind(bucket)) === false) return false;
    this.#following?.stop();
    this.#foreign.clear();
    this.#bucket = bucket;
    for (const member of [...this.#members.values()])
      this.#forget(member, 0, "has lost its lease with the servers' store");
    this.#nodes.restart();
    for (const listener of this.#listeners) listener();
    return true;
  }

  async #leave(): Promise<void> {
    this.#isClosed = true;
    for (const listener of this.#listeners) listener();
    if (!this.holdsLease) return;
    this.#until = 0;
    await this.#release();
  }

  /** Without a server, nothing can be purged, and the lease ends by itself. */
  async #release(): Promise<void> {
    const purged = this.#bucket.purge(this.#connection.node, { previousSeq: this.#revision }).catch(() => undefined);
    await this.#connection.within(purged, LEAST_WAIT);
  }

  // ——— The others

  async #follow(): Promise<void> {
    this.#following = await Following.begin(this.#connection, this.#bucket, {
      hear: (entry) => {
        this.#hear(entry);
        this.#nodes.heard(entry.revision);
      },
      ended: (node, revision) => {
        this.#foreign.ended(node);
        this.#ended(node, revision);
      },
      lost: () => this.lose(),
    });
  }

  #hear(entry: KvWatchEntry): void {
    const { key: node, revision } = entry;
    const known = this.#members.get(node);
    if (entry.operation === "PUT") {
      const member = readMember(entry);
      if (member === undefined) {
        tellStrange(this.#connection, entry);
        return;
      }
      const { incarnation, serves } = member;
      if (!isReadable(incarnation)) {
        if (this.#foreign.hear(node, incarnation)) this.#ended(node, revision);
        return;
      }
      this.#foreign.ended(node);
      const isSame = known?.incarnation === incarnation;
      if (isSame && Bun.deepEquals(known?.serves, serves)) return;
      if (known !== undefined && !isSame) this.#forget(known, revision, "was started anew");
      this.#members.set(node, member);
      if (!isSame) {
        this.#nodes.joined(node, incarnation);
        this.#connection.tell("joined", { node });
      }
      for (const listener of this.#listeners) listener();
    } else {
      this.#foreign.ended(node);
      this.#ended(node, revision);
    }
  }

  #ended(node: string, revision: number): void {
    const known = this.#members.get(node);
    if (known === undefined) return;
    this.#forget(known, revision, "has left, or its lease has ended");
    for (const listener of this.#listeners) listener();
  }

  #forget({ node, incarnation }: Member, revision: number, why: string): void {
    this.#members.delete(node);
    this.#nodes.left(node, incarnation, revision, why);
    this.#connection.tell("left", { node });
  }
}
