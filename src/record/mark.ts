import type { Route } from "./routes";

/**
 * Travels in the metadata of a message, under a symbol: says which line the message has, and whose handler's messages it causes.
 */
export class Mark {
  /** The id of the message's line; 0 when it has none. */
  readonly id: number;
  /** The id of the line that what its handler sends is caused by: its own, or the nearest one before; 0 when there is none. */
  readonly cause: number;
  /** False when the message that began it all was not chosen (`sample`). */
  readonly isSampled: boolean;
  /** Null when it has no line. */
  readonly route: Route | null;
  readonly isAsk: boolean;
  /** True once its end is written. */
  isOver = false;
  /** True once the producer of its stream has said that it is done. */
  isDone = false;
  /** The address of the actor whose handler has the message, from the call of its handler on. */
  holder: string | null = null;
  #unwritten: Mark | null = null;

  constructor(id: number, cause: number, isSampled: boolean, route: Route | null, isAsk: boolean) {
    this.id = id;
    this.cause = cause;
    this.isSampled = isSampled;
    this.route = route;
    this.isAsk = isAsk;
  }

  /** The mark of a message that its handler sends, and that gets no line. */
  get unwritten(): Mark {
    if (this.id === 0) return this;
    this.#unwritten ??= new Mark(0, this.cause, this.isSampled, null, false);
    return this.#unwritten;
  }

  /** Short: it stands in metadata that are logged. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Mark(${this.id})`;
  }
}

/** The mark of all messages that come from one which was not chosen. */
export const NOT_CHOSEN = new Mark(0, 0, false, null, false);
/** The mark of a message that begins something, was chosen, and gets no line because its actor is not included. */
export const UNWRITTEN = new Mark(0, 0, true, null, false);
