import type { Clock } from "../../index";
import type { Body } from "../body";
import { fits } from "./output";

/** Frames, and texts in units of 4,096 characters, that one socket may have handled in a turn of the event loop (P5). */
const PER_TURN = 256;
/** Most frames of a text. */
export const FRAMES = 1_000;
/** The characters as which a text counts at least, because it takes as much memory. */
const LEAST = 64;

const NONE: readonly unknown[] = [];

/** The part of a socket that its intake needs. */
export interface Taker {
  /** Parses a text, or says what is wrong with it. */
  parse(text: string): Body | string;
  /** Handles a frame. */
  take(frame: unknown): void;
  /** Ends the socket. */
  end(code: number, reason: string): void;
}

/** The texts that come to a socket: each is handled at once, but for a flood of them, which is handled in later turns, within a bound. */
export class Intake {
  readonly #taker: Taker;
  readonly #clock: Clock;
  /** Most bytes that wait for a later turn, and most of one text. */
  most: number;
  #spent = 0;
  #isPaused = false;
  #isClosed = false;
  #isRunning = false;
  /** The frames of the text that is being handled, and the place of the next one. */
  #frames: readonly unknown[] = NONE;
  #at = 0;
  /** Texts that wait, the place of the next one, and their size. */
  #texts: string[] = [];
  #next = 0;
  #size = 0;

  constructor(taker: Taker, clock: Clock, most: number) {
    this.#taker = taker;
    this.#clock = clock;
    this.most = most;
  }

  /** True when nothing waits. */
  get isEmpty(): boolean {
    return this.#at === this.#frames.length && this.#next === this.#texts.length;
  }

  take(text: string): void {
    if (this.#isClosed) return;
    if (!fits(text, this.most)) {
      this.#taker.end(1009, `A text has at most ${this.most} bytes: send less.`);
      return;
    }
    if (this.isEmpty && !this.#isPaused && !this.#isRunning) {
      this.#spent++;
      this.#read(text);
      this.#run();
      return;
    }
    this.#size += Math.max(text.length, LEAST);
    if (this.#size > this.most + LEAST && !this.isEmpty) {
      this.#taker.end(1008, "Too much was sent at once: wait for answers before you send more.");
      return;
    }
    this.#texts.push(text);
    if (!this.#isRunning) this.#run();
  }

  /** Handles no frames until `resume`. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isRunning) this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#frames = NONE;
    this.#texts = [];
    this.#at = this.#next = 0;
  }

  #run(): void {
    this.#isRunning = true;
    while (!this.#isPaused && !this.isEmpty && this.#spent < PER_TURN) {
      this.#spent++;
      if (this.#at < this.#frames.length) this.#taker.take(this.#nextFrame());
      else {
        const text = this.#nextText();
        this.#size -= Math.max(text.length, LEAST);
        this.#read(text);
      }
    }
    this.#isRunning = false;
    if (this.#spent < PER_TURN || this.#isClosed) return;
    this.#isRunning = true; // Nothing is handled until the next turn.
    this.#clock.macrotask(() => {
      this.#spent = 0;
      this.#run();
    });
  }

  /** Makes frames of a text. */
  #read(text: string): void {
    this.#spent += text.length >> 12;
    const parsed = this.#taker.parse(text);
    if (typeof parsed === "string") this.#taker.end(1007, parsed);
    else if (!Array.isArray(parsed.value)) this.#taker.end(1007, "A text is an array of frames.");
    else if (parsed.value.length > FRAMES) {
      this.#taker.end(1008, `A text has at most ${FRAMES} frames: send several texts.`);
    } else this.#frames = parsed.value;
  }

  // Frames and texts are let go once they are handled: a quiet socket keeps nothing of its last text.

  #nextFrame(): unknown {
    const frame: unknown = this.#frames[this.#at++];
    if (this.#at === this.#frames.length) {
      this.#frames = NONE;
      this.#at = 0;
    }
    return frame;
  }

  #nextText(): string {
    const text = this.#texts[this.#next++] ?? "";
    if (this.#next === this.#texts.length || this.#next === PER_TURN) {
      this.#texts = this.#texts.slice(this.#next);
      this.#next = 0;
    }
    return text;
  }
}
