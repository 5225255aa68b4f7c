import type { KV } from "@nats-io/kv";
import type { Connection, JetStream } from "../connection";
import { codeOf, isNoRoom, isNoStream } from "./store";

/** JetStream's codes for a key that has another revision by now, or is about to. */
const OTHER_REVISION: ReadonlySet<number> = new Set([10_071, 10_164]);
/** What opens the bucket, for the error when JetStream is off. */
const WHO = "cluster.receiveDurable";
const WHAT = "positions";

/** A value that the receivers of a place share, in a bucket of the cluster. Only one of two writers who know the same one succeeds. One object belongs to one receiver. */
export class Kept<Value> {
  readonly #connection: Connection;
  readonly #bucket: KV;
  readonly #jsm: JetStream["jsm"];
  readonly #stream: string;
  readonly #key: string;
  readonly #subject: string;
  /** That of the value which was read or written last here; 0 for none. */
  #revision = 0;

  constructor(connection: Connection, bucket: KV, { jsm }: JetStream, key: string) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#jsm = jsm;
    this.#stream = `KV_${connection.named(WHAT)}`;
    this.#key = key;
    this.#subject = `$KV.${connection.named(WHAT)}.${key}`;
  }

  /** Asks the leader: another copy, which `KV.get` may read, can be behind. */
  async read(): Promise<Value | undefined> {
    const question = { last_by_subj: this.#subject };
    const message = await this.#jsm.streams.getMessage(this.#stream, question).catch(async (thrown) => {
      if (!isNoStream(thrown)) throw thrown;
      await this.#ensure();
      return null;
    });
    this.#revision = message?.seq ?? 0;
    return message?.json<Value>(); // Only this class writes the bucket.
  }

  /**
   * Writes a value in place of the one that this receiver knows.
   *
   * @returns false where another receiver has written one meanwhile: `read` gives it.
   */
  async put(value: Value): Promise<boolean> {
    try {
      this.#revision = await this.#bucket.put(this.#key, JSON.stringify(value), { previousSeq: this.#revision });
      return true;
    } catch (thrown) {
      if (OTHER_REVISION.has(codeOf(thrown) ?? 0)) return false;
      if (!isNoRoom(thrown)) await this.#ensure();
      throw thrown;
    }
  }

  /** Removes the value that this receiver knows, which needs no room. */
  async forget(): Promise<void> {
    await this.#jsm.streams.purge(this.#stream, { filter: this.#subject, seq: this.#revision + 1 });
    this.#revision = 0;
  }

  /** Makes the bucket where it is gone, as with a server's disk: what waits for a value that cannot be kept would wait for ever. The next `put` knows another revision. */
  async #ensure(): Promise<void> {
    await this.#connection.bucket(WHO, WHAT, {});
  }
}

/** Gives what keeps the value of a key. */
export type Keeper = <Value>(key: string) => Kept<Value>;

/** Opens the bucket. */
export async function openKeeper(connection: Connection): Promise<Keeper> {
  const bucket = await connection.bucket(WHO, WHAT, {});
  const jetstream = await connection.jetstream(WHO);
  return (key) => new Kept(connection, bucket, jetstream, key);
}
