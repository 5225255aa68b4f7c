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
  /** Grows with each owner: the time at which the bucket was made, in milliseconds, and the revision at which this one got the shard. */
  readonly epoch: number;
  readonly revision: number;
}

/** An owner as it is written. Without an epoch, it is that of the write. */
export type Written = Omit<Owner, "epoch" | "revision"> & { readonly epoch?: number };

/** The wait before a write is tried again, in milliseconds. */
const TRY_AGAIN_AFTER = 100;

const bucketOf = (connection: Connection): Promise<KV> => connection.bucket("cluster.sharded", "owners", {});

/** The owner of a shard whose entry was deleted, or is none: it has no lease, so that the next one claims the shard. */
const NOBODY: Written = { node: "", incarnation: "" };

/** Reads the entry of an owner; undefined for one that no node wrote. */
function readOwner(entry: KvEntry): Written | undefined {
  const { node, incarnation, to, epoch } = readObject(entry) ?? {};
  if (!isToken(node) || typeof incarnation !== "string") return undefined;
  if ((to !== undefined && !isToken(to)) || (epoch !== undefined && !Number.isSafeInteger(epoch))) return undefined;
  const own = { node, incarnation, ...(to === undefined ? {} : { to }) };
  return epoch === undefined ? own : { ...own, epoch: epoch as number }; // It is an integer.
}

/** The owners of all shards: a key each in a bucket, written only by who knows the last revision, so that one of two writers loses. */
export class Owners {
  readonly #connection: Connection;
  readonly #nodes: Nodes;
  #bucket: KV;
  /** When the bucket that is followed was made. Epochs count from there, so that they grow also where the servers lost the last bucket. */
  #madeAt = "";
  #firstEpoch = 0;
  #following: Following | undefined;
  readonly #owners = new Map<string, Owner>();
  readonly #onChange: (key: string) => void;

  private constructor(connection: Connection, nodes: Nodes, bucket: KV, onChange: (key: string) => void) {
    this.#connection = connection;
    this.#nodes = nodes;
    this.#bucket = bucket;
    this.#onChange = onChange;
  }

  static async open(connection: Connection, nodes: Nodes, onChange: (key: string) => void): Promise<Owners> {
    const owners = new Owners(connection, nodes, await bucketOf(connection), onChange);
    await owners.#follow();
    connection.onClose(() => owners.#following?.stop());
    return owners;
  }

  /** Follows the bucket anew where the servers have lost it: then nobody owns anything. */
  async reopen(): Promise<void> {
    const bucket = await bucketOf(this.#connection);
    if ((await this.#connection.madeAt(bucket)) === this.#madeAt) return;
    this.#following?.stop();
    this.#bucket = bucket;
    this.#owners.clear();
    this.#nodes.forgetOwners();
    await this.#follow();
  }

  get(key: string): Owner | undefined {
    return this.#owners.get(key);
  }

  /**
   * Writes an owner. It is tried again while JetStream has no leader, for as long as this node is the same: nothing else would try, since no node changes then.
   * Returns the revision, or undefined when another write was quicker, which may be an earlier try of this one: the watch tells what holds.
   */
  async write(key: string, owner: Written, last = 0): Promise<number | undefined> {
    const connection = this.#connection;
    const { incarnation } = connection;
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

  async #follow(): Promise<void> {
    const created = await this.#connection.madeAt(this.#bucket);
    this.#firstEpoch = Date.parse(created);
    this.#following = await Following.begin(this.#connection, this.#bucket, {
      hear: (entry) => this.#hear(entry),
      ended: () => undefined, // No key ends.
    });
    this.#madeAt = created;
  }

  #hear(entry: KvWatchEntry): void {
    const owner = entry.operation === "PUT" ? readOwner(entry) : NOBODY;
    if (owner === undefined) tellStrange(this.#connection, entry);
    this.#put(entry.key, owner ?? NOBODY, entry.revision);
    this.#nodes.know(entry.revision);
  }

  #put(key: string, written: Written, revision: number): void {
    if (this.#revisionOf(key) >= revision) return;
    this.#owners.set(key, { ...written, epoch: written.epoch ?? this.#firstEpoch + revision, revision });
    this.#onChange(key);
  }
}
