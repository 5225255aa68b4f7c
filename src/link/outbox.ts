import type { Clock, Outgoing } from "../index";
import type { Beside, Binary } from "./bytes";
import { Code, MAX_TEXT } from "./frames";

/** Sends a text, and the bytes that belong to it. */
export type Send = (text: string, bytes?: readonly Binary[]) => boolean | "held";

/** A text that is to be sent later. */
interface Held {
  readonly text: string;
  readonly messages: readonly Outgoing[];
  readonly bytes: readonly Binary[] | undefined;
}

/** Gathers the frames that leave in a turn, and sends them as one text. */
export class Outbox {
  readonly #clock: Clock;
  readonly #send: Send;
  /** Told of each message of a text that could not be sent. */
  readonly #onUnsent: (out: Outgoing, cause: unknown) => void;
  readonly #maxBytes: number;
  /** Most bytes of the frames of a text. */
  readonly #most: number;
  #text = "";
  #bytes = 0;
  /** The stream whose frame is the last one of the text, and is not closed yet; empty for another frame. */
  #itemsOf = "";
  /** The messages whose frames are in the text. */
  #messages: Outgoing[] = [];
  #isWaiting = false;
  /** True from the first item of a macrotask to its end. */
  #isGathering = false;
  /** Texts that are to be sent later. */
  #held: Held[] = [];
  /** Set while the connection is lost: the reason. */
  #lostBy: { readonly cause: unknown } | null = null;

  constructor(clock: Clock, maxBytes: number, send: Send, onUnsent: (out: Outgoing, cause: unknown) => void) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#most = Math.min(maxBytes - BRACKETS, MAX_TEXT);
    this.#send = send;
    this.#onUnsent = onUnsent;
  }

  /** True for a frame that can be sent, if need be in a text of its own. */
  fits(frame: string): boolean {
    return this.#maxBytes === Number.POSITIVE_INFINITY || sizeOf(frame, this.#maxBytes - BRACKETS) !== undefined;
  }

  /**
   * Takes a frame that fits. It leaves at the end of the turn, or before where the text is full. The first item of a stream does so, too; further ones of
   * the same macrotask leave together at its end. Each takes its producer some microtasks, and would be a text of its own: over NATS, an item took 14.5 µs, and takes 4.7.
   */
  add(frame: string, message: Outgoing | null = null, isItem = false): void {
    this.#append(frame, this.#sizeOf(frame), message, isItem);
  }

  /** Returns false where nothing can leave any more. */
  #append(frame: string, bytes: number, message: Outgoing | null, isItem: boolean): boolean {
    while (this.#text !== "" && this.#bytes + bytes + 1 > this.#most) this.flush(); // `send` may have added more.
    if (this.#lostBy !== null) {
      if (message !== null) this.#onUnsent(message, this.#lostBy.cause); // `send` may have lost the connection just now.
      return false;
    }
    this.#text = this.#text === "" ? frame : `${this.#closed()},${frame}`;
    this.#bytes += bytes + 1;
    if (message !== null) this.#messages.push(message);
    if (isItem) {
      if (this.#isGathering) return true;
      this.#isGathering = true;
      this.#clock.macrotask(this.#onMacrotask);
    }
    if (this.#isWaiting) return true;
    this.#isWaiting = true;
    this.#clock.microtask(this.#onMicrotask);
    return true;
  }

  /**
   * Takes a frame that fits, and the bytes of its payload, if it has any.
   *
   * @param mark leaves with it: an answer to it comes back behind that to the mark.
   */
  put(frame: string, beside: Beside | undefined, message: Outgoing | null, mark = ""): void {
    if (beside !== undefined) {
      this.#addWith(mark === "" ? frame : `${mark},${frame}`, beside, message);
      return;
    }
    this.add(frame, message);
    if (mark !== "") this.add(mark);
  }

  /**
   * Takes an item of a stream, and its bytes, if it has any. Items of one stream that leave together, with nothing between them, share a frame.
   *
   * @param head the beginning of its frame, which fits.
   */
  putItem(id: string, head: string, item: string, beside: Beside | undefined): void {
    if (beside !== undefined) {
      this.#addWith(`${head},${item}]`, beside, null);
      return;
    }
    const bytes = this.#sizeOf(item) + 1;
    if (this.#itemsOf === id && this.#bytes + bytes <= this.#most) {
      this.#text = `${this.#text},${item}`;
      this.#bytes += bytes;
      return;
    }
    const open = `${head},${item}`;
    if (this.#append(open, this.#sizeOf(open) + 1, null, true)) this.#itemsOf = id;
  }

  #sizeOf(text: string): number {
    return this.#maxBytes === Number.POSITIVE_INFINITY ? text.length : Buffer.byteLength(text);
  }

  /** The text with its last frame closed. */
  #closed(): string {
    if (this.#itemsOf === "") return this.#text;
    this.#itemsOf = "";
    return `${this.#text}]`;
  }

  /**
   * Sends frames that fit with the bytes of the last one: at once, and alone, behind what was added before. A thread takes over bytes as they are sent: their owner
   * sees in the same turn that they have gone, and bytes that cannot go fail their own message alone.
   */
  #addWith(frames: string, { paths, bytes }: Beside, message: Outgoing | null): void {
    this.flush();
    if (this.#lostBy === null)
      this.#leave(`[[${Code.bytes},${paths}],${frames}]`, message === null ? [] : [message], bytes);
    else if (message !== null) this.#onUnsent(message, this.#lostBy.cause); // As above.
  }

  readonly #onMacrotask = (): void => {
    this.#isGathering = false;
    this.flush();
  };

  readonly #onMicrotask = (): void => {
    this.#isWaiting = false;
    this.flush();
  };

  /** Sends what is there. */
  flush(): void {
    if (this.#text === "") return;
    const text = `[${this.#closed()}]`;
    const messages = this.#messages;
    this.#clear();
    this.#leave(text, messages);
  }

  /** Sends what was held. */
  release(): void {
    const held = this.#held;
    this.#held = [];
    for (const { text, messages, bytes } of held) this.#leave(text, messages, bytes);
  }

  #leave(text: string, messages: readonly Outgoing[], bytes?: readonly Binary[]): void {
    let cause: unknown = CLOSED;
    try {
      const isSent = bytes === undefined ? this.#send(text) : this.#send(text, bytes);
      if (isSent === "held") this.#held.push({ text, messages, bytes });
      if (isSent !== false) return;
    } catch (thrown) {
      cause = thrown;
    }
    for (const out of messages) this.#onUnsent(out, cause);
  }

  /** Drops what has not left, and what is added from now on: the connection is lost. */
  lose(cause: unknown): void {
    this.#lostBy = { cause };
    const messages = [...this.#held.flatMap((held) => held.messages), ...this.#messages];
    this.#held = [];
    this.#clear();
    for (const out of messages) this.#onUnsent(out, cause);
  }

  resume(): void {
    this.#lostBy = null;
  }

  #clear(): void {
    this.#text = "";
    this.#bytes = 0;
    this.#itemsOf = "";
    this.#messages = [];
  }
}

const BRACKETS = "[]".length;
const CLOSED = new Error("the connection is closed");

/** The bytes of a text in UTF-8; undefined beyond the most. Most texts are short enough to tell without counting. */
const sizeOf = (text: string, most: number): number | undefined => {
  if (text.length * 3 <= most) return text.length;
  const bytes = Buffer.byteLength(text);
  return bytes <= most ? bytes : undefined;
};
