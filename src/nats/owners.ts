import type { KV, KvEntry, KvWatchEntry } from "@nats-io/kv";
import type { Connection } from "./connection";
import { readObject, tellStrange } from "./entries";
import { Following } from "./following";
import type { Nodes } from "./nodes";
import { isToken } from "./subjects";

/** The owner of a shard, as all nodes know it. */
export interface Owner {
  readonly node: string;
  readonly incarnation: string;
  /** The node that gets the shard next: messages go there already, and wait. */
  readonly to?: string;
  /** Grows with each owner of a shard, also where the servers lost who owned it: at least the time at which it got the shard, in milliseconds. */
  readonly epoch: number;
  readonly revision: number;
}

/** An owner as it is written. */
type Written = Omit<Owner, "revision">;
/** An owner to write. One without an epoch is another one, and gets the next epoch. */
export type Claim = Omit<Written, "epoch"> & { readonly epoch?: number };

/** The wait before a write is tried again, in milliseconds. */
const TRY_AGAIN_AFTER = 100;

const bucketOf = (connection: Connection): Promise<KV> => connection.bucket("cluster.sharded", "owners", {});

/** The owner of a shard whose entry was deleted, or is none: it has no lease, so that the next one claims the shard. */
const NOBODY: Written = { node: "", incarnation: "", epoch: 0 };
/** The largest epoch that is read: the last time that there is. One that a stranger wrote must leave room for later ones. */
const MOST_EPOCH = 8.64e15;
const isEpoch = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Math.abs(value as number) <= MOST_EPOCH; // It is a number.

/** Reads the entry of an owner; undefined for one that no node wrote. */
function readOwner(entry: KvEntry): Written | undefined {
  const { node, incarnation, to, epoch } = readObject(entry) ?? {};
  if (!isToken(node) || typeof incarnation !== "string") return undefined;
  if ((to !== undefined && !isToken(to)) || !isEpoch(epoch)) return undefined;
  return { node, incarnation, epoch, ...(to === undefined ? {} : { to }) };
}

/** The listener to the owners. */
interface OwnersListener {
  changed(key: string): void;
  /** Called when the servers have lost who owns what: `reopen` reads what is left, once this node has given up what it owned. */
  lost(): void;
}

/** The owners of all shards: a key each in a bucket, written only by who knows the last revision, so that one of two writers loses. */
export class Owners {
  readonly #connection: Connection;
  readonly #nodes: Nodes;
  #bucket: KV;
  /** The highest epoch of any shard that this node has known, in this bucket or in one that the servers lost. */
  #highest = 0;
  #following: Following | undefined;
  readonly #owners = new Map<string, Owner>();
  readonly #listener: OwnersListener;

  private constructor(connection: Connection, nodes: Nodes, bucket: KV, listener: OwnersListener) {
    this.#connection = connection;
    this.#nodes = nodes;
    this.#bucket = bucket;
    this.#listener = listener;
  }

  static async open(connection: Connection, nodes: Nodes, listener: OwnersListener): Promise<Owners> {
    const owners = new Owners(connection, nodes, await bucketOf(connection), listener);
    await owners.#follow();
    connection.onClose(() => owners.#following?.stop());
    return owners;
  }

  /**
   * Follows the bucket anew: what this node knew may hold no more. Servers that have lost its last entries may have given their revisions to others since, of which nothing was heard
   * here. True if they have lost it, or the last of its entries, as far as can be seen.
   */
  async reopen(): Promise<boolean> {
    const bucket = await bucketOf(this.#connection);
    const hasLost = (await this.#following?.isBehind(bucket)) !== false;
    this.#following?.stop();
    this.#bucket = bucket;
    this.#owners.clear();
    if (hasLost) this.#nodes.forgetOwners();
    await this.#follow();
    return hasLost;
  }

  /** True where no shard has had an owner, or the servers have lost all of them. */
  get isEmpty(): boolean {
    return this.#owners.size === 0;
  }

  get(key: string): Owner | undefined {
    return this.#owners.get(key);
  }

  /**
   * Writes an owner. It is tried again while JetStream has no leader, for as long as this node is the same: nothing else would try, since no node changes then.
   * Returns the revision, or undefined when another write was quicker, which may be an earlier try of this one: the watch tells what holds.
   */
  async write(key: string, claim: Claim, last = 0): Promise<number | undefined> {
    const connection = this.#connection;
    const { incarnation } = connection;
    const owner: Written = { ...claim, epoch: claim.epoch ?? this.#nextEpoch() };
    const text = JSON.stringify(owner);
    while (!connection.nc.isClosed() && connection.incarnation === incarnation && this.#revisionOf(key) <= last) {
      try {
        const revision = await this.#bucket.put(key, text, { previousSeq: last });
        this.#put(key, owner, revision);
        return revision;
      } catch (thrown) {
        if (this.#isLate(thrown)) return undefined;
        await new Promise<void>((resolve) => connection.system.clock.setTimer(resolve, TRY_AGAIN_AFTER));
      }
    }
    return undefined;
  }

  /** True where the shard has another revision than its writer knows. */
  #isLate(thrown: unknown): boolean {
    const { JetStreamApiCodes, JetStreamApiError } = this.#connection.sdk.jetstream;
    if (!(thrown instanceof JetStreamApiError)) return false;
    const { StreamWrongLastSequence, StreamWrongLastSequenceUnknown } = JetStreamApiCodes;
    return thrown.code === StreamWrongLastSequence || thrown.code === StreamWrongLastSequenceUnknown;
  }

  #revisionOf(key: string): number {
    return this.#owners.get(key)?.revision ?? 0;
  }

  /** The time is greater than each epoch of a bucket that nobody remembers, unless shards moved more than a thousand times in a second. */
  #nextEpoch(): number {
    return Math.max(this.#highest + 1, Math.floor(this.#connection.system.clock.wallTime()));
  }

  async #follow(): Promise<void> {
    this.#following = await Following.begin(this.#connection, this.#bucket, {
      hear: (entry) => this.#hear(entry),
      ended: () => undefined, // No key ends.
      lost: () => this.#listener.lost(),
    });
  }

  #hear(entry: KvWatchEntry): void {
    const owner = entry.operation === "PUT" ? readOwner(entry) : NOBODY;
    if (owner === undefined) tellStrange(this.#connection, entry);
    this.#put(entry.key, owner ?? NOBODY, entry.revision);
    this.#nodes.know(entry.revision);
  }

  #put(key: string, written: Written, revision: number): void {
    if (this.#revisionOf(key) >= revision) return;
    this.#highest = Math.max(this.#highest, written.epoch);
    this.#owners.set(key, { ...written, revision });
    this.#listener.changed(key);
  }
}
