import type { Keeper, Kept } from "./kept";
import { keyOfPlace, type Place } from "./place";

/** The place that a receiver came to in a batch that it did not finish: so that the next one neither repeats nor tries for ever. */
export interface Position {
  /**
   * The batch: when its stream was made, its place in there, and when it was stored: servers that have lost their last messages give the same place to another one.
   */
  readonly stream: string;
  readonly sequence: number;
  readonly storedAt: number;
  /** The messages at its beginning that are done. */
  readonly done: number;
  /** The number of calls of the next one's handler. */
  readonly attempts: number;
  /** Messages from here on have not been handled. */
  readonly reach: number;
}

/** The positions of the receivers of a cluster, in a bucket. One object belongs to one receiver. */
export class Positions {
  readonly #kept: Kept<Position>;

  constructor(keeper: Keeper, place: Place) {
    this.#kept = keeper(keyOfPlace(place));
  }

  /** The position in a batch, where one is known. */
  async of(stream: string, sequence: number, storedAt: number): Promise<Position | undefined> {
    const kept = await this.#kept.read();
    return kept?.stream === stream && kept.sequence === sequence && kept.storedAt === storedAt ? kept : undefined;
  }

  /**
   * Keeps a position in place of the one that this receiver knows. So one that stood still inside of this call overwrites nothing of a later one.
   *
   * @returns false where another receiver has kept one meanwhile: `of` reads it.
   */
  put(position: Position): Promise<boolean> {
    return this.#kept.put(position);
  }

  /** Forgets the position that this receiver knows, which needs no room: then any message may have been handled. */
  forget(): Promise<void> {
    return this.#kept.forget();
  }
}
