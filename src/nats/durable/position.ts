import type { KV } from "@nats-io/kv";
import type { Connection } from "../connection";
import { keyOfPlace, type Place } from "./place";

/** The place that a receiver came to in a batch that it did not finish: so that the next one neither repeats nor tries for ever. */
export interface Position {
  /** The batch: when its stream was made, and its place in there. */
  readonly stream: string;
  readonly sequence: number;
  /** The messages at its beginning that are done. */
  readonly done: number;
  /** The number of calls of the next one's handler. */
  readonly attempts: number;
  /** Messages from here on have not been handled. */
  readonly reach: number;
}

/** The positions of the receivers of a cluster, in a bucket. */
export class Positions {
  readonly #bucket: KV;
  readonly #key: string;

  private constructor(bucket: KV, place: Place) {
    this.#bucket = bucket;
    this.#key = keyOfPlace(place);
  }

  static async open(connection: Connection, place: Place): Promise<Positions> {
    return new Positions(await connection.bucket("cluster.receiveDurable", "positions", {}), place);
  }

  /** The position in a batch, where one is known. */
  async of(stream: string, sequence: number): Promise<Position | undefined> {
    const entry = await this.#bucket.get(this.#key);
    if (entry === null || entry.operation !== "PUT") return undefined;
    const position = entry.json<Position>(); // Only this class writes the bucket.
    return position.stream === stream && position.sequence === sequence ? position : undefined;
  }

  async put(position: Position): Promise<void> {
    await this.#bucket.put(this.#key, JSON.stringify(position));
  }
}
