import type { SessionUpdate } from "../schema/types";

/** Most updates that a reader may be behind. */
const MOST_BEHIND = 10_000;
/** Updates whose characters are not counted. Those of further ones are. */
const FEW = 16;
/** Most characters of the further updates that a reader is behind. */
const MOST_CHARACTERS_BEHIND = 67_108_864;
/** Most updates that are kept before a session's first reader. */
const MOST_KEPT = 100;
/** Most characters of the kept updates, the last one not counted. */
const MOST_CHARACTERS_KEPT = 4_194_304;

/** About how many characters a value from JSON takes. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 16;
  for (const name in value) size += name.length + sizeOf((value as Readonly<Record<string, unknown>>)[name]); // An array has names, too.
  return size;
}

/** The updates of one session that a reader gets, from its beginning on. Ends by `end`, or when its reader falls too far behind. */
export class UpdateReader implements AsyncIterable<SessionUpdate> {
  readonly #log: UpdateLog;
  #items: SessionUpdate[] = [];
  /** Characters of the items but for the first few. */
  #size = 0;
  #go: (() => void) | undefined;
  #isOver = false;
  #error: unknown;

  constructor(log: UpdateLog) {
    this.#log = log;
  }

  push(update: SessionUpdate): void {
    if (this.#isOver) return;
    const count = this.#items.push(update);
    if (count > FEW) this.#size += sizeOf(update);
    if (count > MOST_BEHIND) this.end(new Error(`The reader of a session fell ${MOST_BEHIND} updates behind.`));
    else if (this.#size > MOST_CHARACTERS_BEHIND) this.end(new Error("The reader of a session fell 64 MiB behind."));
    else this.#wake();
  }

  /** Ends it after the updates that have come; with an error, at once. */
  end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    if (error !== undefined) this.#items = [];
    this.#log.leave(this);
    this.#wake();
  }

  #wake(): void {
    const go = this.#go;
    this.#go = undefined;
    go?.();
  }

  /** @throws the error that ended it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionUpdate, void, undefined> {
    try {
      for (;;) {
        const items = this.#items;
        this.#items = [];
        this.#size = 0;
        yield* items;
        if (this.#items.length > 0) continue;
        if (this.#isOver) break;
        await new Promise<void>((resolve) => {
          this.#go = resolve;
        });
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.end();
    }
  }
}

/** Hands the updates of one session to those who read them. */
export class UpdateLog {
  readonly #readers = new Set<UpdateReader>();
  #kept: SessionUpdate[] = [];
  #keptSize = 0;

  push(update: SessionUpdate): void {
    if (this.#readers.size === 0) this.#keep(update);
    for (const reader of this.#readers) reader.push(update);
  }

  #keep(update: SessionUpdate): void {
    this.#keptSize += sizeOf(update);
    this.#kept.push(update);
    while (this.#kept.length > MOST_KEPT || (this.#kept.length > 1 && this.#keptSize > MOST_CHARACTERS_KEPT))
      this.#keptSize -= sizeOf(this.#kept.shift());
  }

  /**
   * Reads from now on.
   *
   * @param isFirst true to begin with the kept updates.
   */
  read(isFirst = false): UpdateReader {
    const reader = new UpdateReader(this);
    this.#readers.add(reader);
    if (isFirst) {
      for (const update of this.#kept) reader.push(update);
      this.#kept = [];
      this.#keptSize = 0;
    }
    return reader;
  }

  leave(reader: UpdateReader): void {
    this.#readers.delete(reader);
  }

  /** Ends all its readers. */
  end(error: unknown): void {
    for (const reader of this.#readers) reader.end(error);
  }
}
