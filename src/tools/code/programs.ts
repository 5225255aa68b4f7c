import { CodeRefusal } from "./code-refusal";
import type { Language } from "./language";
import type { Program } from "./tier";

/** A compiled source. */
export interface KeptProgram {
  readonly code: string;
  readonly language: Language;
  readonly program: Program;
}

/** Most UTF-16 code units of all sources together. */
const MOST_LENGTH = 16 * 1024 * 1024;

const ID_LENGTH = 32;

/** The most recently used programs, by an id that is a hash of the source. */
export class Programs {
  readonly #most: number;
  /** Least recently used first. */
  readonly #kept = new Map<string, KeptProgram>();
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#kept.size;
  }

  keep(kept: KeptProgram): string {
    const id = new Bun.CryptoHasher("sha256")
      .update(`${kept.language}\n${kept.code}`)
      .digest("hex")
      .slice(0, ID_LENGTH);
    this.#drop(id);
    this.#kept.set(id, kept);
    this.#length += kept.code.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#most && this.#length <= MOST_LENGTH) break;
      this.#drop(oldest);
    }
    return id;
  }

  find(id: string): KeptProgram | CodeRefusal {
    // An asker may send an id of any length, and a lookup reads all of it.
    const kept = id.length === ID_LENGTH ? this.#kept.get(id) : undefined;
    if (kept === undefined) {
      return new CodeRefusal(
        "unavailable",
        "There is no such program, or not any more; compile it, and run what that gives.",
      );
    }
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return kept;
  }

  #drop(id: string): void {
    this.#length -= this.#kept.get(id)?.code.length ?? 0;
    this.#kept.delete(id);
  }
}
