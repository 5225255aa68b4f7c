import type { Clock } from "../../index";
import type { ChannelEvents } from "../contract";
import { HEAD } from "../head";

/** The reason why a text is left out. */
export type Refused = Parameters<ChannelEvents["refused"]>[0];

/** A text that came, or the reason why one is left out. */
export type Item = string | { readonly refused: Refused; readonly head?: string };

/** A text that is too long. Its beginning is copied: a part of a text would keep all of it. */
export const tooLong = (text: string): Item => ({
  refused: "too-long",
  head: Buffer.from(text.slice(0, HEAD)).toString(),
});
export const NOT_TEXT: Item = { refused: "not-text" };

/** Texts that are handed on before the event loop gets its turn (P5): a block of a pipe may have a hundred thousand short lines. */
const IN_A_TURN = 256;

/** Items that were handed on, after which their places are given back. */
const COMPACTED = 1_024;

/** Bytes that an item takes at least. */
const ITEM = 64;

/** True for a text of so many bytes at most. */
export const fits = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || (text.length <= bytes && Buffer.byteLength(text) <= bytes); // A UTF-16 unit has at most three bytes.

/** Hands on the items that arrived, in order. It can be paused, and yields to the event loop. */
export class Intake {
  readonly #events: Pick<ChannelEvents, "text" | "refused">;
  readonly #clock: Clock;
  readonly #onEmpty: () => void;
  #items: Item[] = [];
  /** The index of the next item. */
  #next = 0;
  /** Characters that wait. */
  #held = 0;
  #isPaused = false;
  #isPumping = false;
  /** True while the rest waits for the event loop. */
  #isYielding = false;
  #isClosed = false;
  /** Items that may still be handed on in this turn. */
  #left = IN_A_TURN;

  /** @param onEmpty called when nothing waits any more. */
  constructor(events: Pick<ChannelEvents, "text" | "refused">, clock: Clock, onEmpty: () => void = () => {}) {
    this.#events = events;
    this.#clock = clock;
    this.#onEmpty = onEmpty;
  }

  /** Characters that wait, or have not been handed on yet. */
  get held(): number {
    return this.#held;
  }

  /** About how many bytes wait. Items without a character count, too: such as empty frames, or those that are no text. */
  get load(): number {
    return Math.max(this.#held, ITEM * (this.#items.length - this.#next));
  }

  get isEmpty(): boolean {
    return this.#next === this.#items.length;
  }

  take(item: Item): void {
    if (this.#isClosed) return;
    if (this.isEmpty && this.#mayHandOn) {
      this.#isPumping = true;
      this.#spend();
      this.#pass(item);
      this.#isPumping = false;
      if (this.isEmpty) this.#emptied();
      else this.#pump(); // More came meanwhile.
      return;
    }
    this.#items.push(item);
    this.#held += lengthOf(item);
    this.#pump();
  }

  takeAll(items: readonly Item[]): void {
    if (this.#isClosed) return;
    for (const item of items) {
      this.#items.push(item);
      this.#held += lengthOf(item);
    }
    this.#pump();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#pump();
  }

  /** Drops the items that wait. */
  close(): void {
    this.#isClosed = true;
    this.#items = [];
    this.#next = this.#held = 0;
  }

  /** True when an item may be handed on at once. */
  get #mayHandOn(): boolean {
    return !this.#isPumping && !this.#isPaused && !this.#isYielding && this.#left > 0;
  }

  #pump(): void {
    if (this.#isPumping || this.#isYielding) return;
    this.#isPumping = true;
    while (!this.#isPaused && !this.isEmpty) {
      if (this.#left === 0) {
        this.#isYielding = true;
        break;
      }
      this.#spend();
      this.#handOn();
    }
    this.#isPumping = false;
    if (this.isEmpty) this.#emptied();
  }

  #emptied(): void {
    if (this.#isClosed) return;
    if (this.#next > 0) this.#items = [];
    this.#next = 0;
    this.#onEmpty();
  }

  /** Counts an item that is handed on in this turn. */
  #spend(): void {
    if (this.#left === IN_A_TURN) this.#clock.macrotask(this.#goOn);
    this.#left--;
  }

  #handOn(): void {
    const item = this.#items[this.#next++] as Item; // There is one.
    if (this.#next === COMPACTED) {
      this.#items = this.#items.slice(COMPACTED); // Under a steady load it is never empty.
      this.#next = 0;
    }
    this.#held -= lengthOf(item);
    this.#pass(item);
  }

  #pass(item: Item): void {
    if (typeof item === "string") this.#events.text(item);
    else this.#events.refused(item.refused, item.head);
  }

  /** The event loop has had its turn. */
  readonly #goOn = (): void => {
    this.#left = IN_A_TURN;
    this.#isYielding = false;
    this.#pump();
  };
}

const lengthOf = (item: Item): number => (typeof item === "string" ? item.length : 0);
