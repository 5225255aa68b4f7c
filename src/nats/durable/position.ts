import type { KV } from "@nats-io/kv";
import type { Connection, JetStream } from "../connection";
import { keyOfPlace, type Place } from "./place";
import { codeOf, isNoRoom, isNoStream } from "./store";

/** The place that a receiver came to in a batch that it did not finish: so that the next one neither repeats nor tries for ever. */
export interface Position {
  /**
   * The batch: when its stream was made, its place in there, and when it was stored: servers that have lost their last messages give the same place to another one. The
   * time is undefined where a node of a former version wrote it.
   */
  readonly stream: string;
  readonly sequence: number;
  readonly storedAt?: number;
  /** The messages at its beginning that are done. */
  readonly done: number;
  /** The number of calls of the next one's handler. */
  readonly attempts: number;
  /** Messages from here on have not been handled. */
  readonly reach: number;
}

/** JetStream's code for a key that has another revision by now. */
const OTHER_REVISION = 10_071;
/** What opens the bucket, for the error when JetStream is off. */
const WHO = "cluster.receiveDurable";
const WHAT = "positions";

/** The positions of the receivers of a cluster, in a bucket. One object belongs to one receiver. */
export class Positions {
  readonly #connection: Connection;
  readonly #bucket: KV;
  readonly #jsm: JetStream["jsm"];
  readonly #stream: string;
  readonly #key: string;
  readonly #subject: string;
  /** That of the position which was read or written last here; 0 for none. */
  #revision = 0;

  private constructor(connection: Connection, bucket: KV, { jsm }: JetStream, place: Place) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#jsm = jsm;
    this.#stream = `KV_${connection.named(WHAT)}`;
    this.#key = keyOfPlace(place);
    this.#subject = `$KV.${connection.named(WHAT)}.${this.#key}`;
  }

  static async open(connection: Connection, place: Place): Promise<Positions> {
    const bucket = await connection.bucket(WHO, WHAT, {});
    return new Positions(connection, bucket, await connection.jetstream(WHO), place);
  }

  /** The position in a batch, where one is known. */
  async of(stream: string, sequence: number, storedAt: number): Promise<Position | undefined> {
    const kept = await this.#look();
    if (kept?.stream !== stream || kept.sequence !== sequence) return undefined;
    return (kept.storedAt ?? storedAt) === storedAt ? kept : undefined;
  }

  /**
   * Keeps a position in place of the one that this receiver knows. So one that stood still inside of this call overwrites nothing of a later one.
   *
   * @returns false where another receiver has kept one meanwhile: `of` reads it.
   */
  async put(position: Position): Promise<boolean> {
    try {
      this.#revision = await this.#bucket.put(this.#key, JSON.stringify(position), {
        previousSeq: this.#revision,
      });
      return true;
    } catch (thrown) {
      if (codeOf(thrown) === OTHER_REVISION) return false;
      if (!isNoRoom(thrown)) await this.#ensure();
      throw thrown;
    }
  }

  /** Forgets the position that this receiver knows, which needs no room: then any message may have been handled. */
  async forget(): Promise<void> {
    await this.#jsm.streams.purge(this.#stream, { filter: this.#subject, seq: this.#revision + 1 });
    this.#revision = 0;
  }

  /** Makes the bucket where it is gone, as with a server's disk: a batch whose position cannot be kept would wait for ever. The next `put` knows another revision. */
  async #ensure(): Promise<void> {
    await this.#connection.bucket(WHO, WHAT, {});
  }

  /** Asks the leader: another copy, which `KV.get` may read, can be behind. */
  async #look(): Promise<Position | undefined> {
    const question = { last_by_subj: this.#subject };
    const message = await this.#jsm.streams.getMessage(this.#stream, question).catch(async (thrown) => {
      if (!isNoStream(thrown)) throw thrown;
      await this.#ensure();
      return null;
    });
    this.#revision = message?.seq ?? 0;
    return message?.json<Position>(); // Only this class writes the bucket.
  }
}
