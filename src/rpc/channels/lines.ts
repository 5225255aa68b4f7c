import { HEAD } from "../head";
import { type Item, NOT_TEXT, tooLong } from "./intake";

const NEWLINE = 10;
const BYTE_ORDER_MARK = "\ufeff";
/** Bytes of room for a line that has begun. A longer line doubles it. */
const ROOM = 4_096;
/** Room beyond which it is given back once its line has ended. */
const LARGE = 65_536;

/**
 * Makes lines of bytes that are cut anywhere, also within a character. A line that is too long is left out without being kept: the next
 * one is taken. So is one that is not UTF-8. Empty lines are passed over, a carriage return at the end is white space of JSON, and a
 * byte order mark is cut off at the beginning of all.
 */
export class Lines {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The bytes of the line that has begun; more room than is used. */
  #begun: Uint8Array = new Uint8Array(ROOM);
  #length = 0;
  /** True while the rest of a line that is too long comes. */
  #isSkipping = false;
  /** True until the first line. */
  #isFirst = true;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that have ended with these bytes. */
  read(bytes: Uint8Array): Item[] {
    const items: Item[] = [];
    const last = bytes.lastIndexOf(NEWLINE);
    if (last < 0) {
      this.#keep(bytes, items);
      return items;
    }
    const first = this.#length > 0 || this.#isSkipping ? this.#endBegun(bytes, items) : 0;
    if (first < last) this.#readWhole(bytes.subarray(first, last), items);
    if (last + 1 < bytes.length) this.#keep(bytes.subarray(last + 1), items);
    return items;
  }

  /** The line that has begun, once nothing more comes. Undefined if there is none. */
  end(): Item | undefined {
    const items: Item[] = [];
    if (this.#length > 0) this.#endBegun(END, items);
    return items[0];
  }

  /** Adds the first of these bytes to the line that has begun. Returns the index after the end of the line. */
  #endBegun(bytes: Uint8Array, items: Item[]): number {
    const end = bytes.indexOf(NEWLINE);
    this.#keep(bytes.subarray(0, end), items);
    if (!this.#isSkipping) this.#add(this.#decode(this.#begun.subarray(0, this.#length)), items);
    this.#isSkipping = false;
    this.#length = 0;
    if (this.#begun.length > LARGE) this.#begun = new Uint8Array(ROOM);
    return end + 1;
  }

  /** Keeps the beginning of a line, as long as it is not too long. */
  #keep(bytes: Uint8Array, items: Item[]): void {
    if (this.#isSkipping) return;
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) {
      const begun = Buffer.concat([this.#begun.subarray(0, this.#length), bytes.subarray(0, HEAD)]);
      items.push(tooLong(headIn(begun)));
      this.#isSkipping = true;
      this.#length = 0;
      this.#begun = new Uint8Array(ROOM);
      return;
    }
    if (length > this.#begun.length) {
      // The room doubles, so that a line that comes byte by byte is not copied at each byte.
      const begun = new Uint8Array(Math.max(length, 2 * this.#begun.length));
      begun.set(this.#begun.subarray(0, this.#length));
      this.#begun = begun;
    }
    this.#begun.set(bytes, this.#length);
    this.#length = length;
  }

  /** Reads lines that are whole: without the end of the last one. They are decoded together, which takes half as long. */
  #readWhole(bytes: Uint8Array, items: Item[]): void {
    const text = bytes.length <= this.#maxBytes ? this.#decode(bytes) : NOT_TEXT;
    if (typeof text === "string") {
      for (const line of text.split("\n")) this.#add(line, items);
      return;
    }
    for (let start = 0; start <= bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      this.#add(
        end - start > this.#maxBytes
          ? tooLong(headIn(bytes.subarray(start)))
          : this.#decode(bytes.subarray(start, end)),
        items,
      );
      start = end + 1;
    }
  }

  #decode(bytes: Uint8Array): Item {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return NOT_TEXT;
    }
  }

  #add(item: Item, items: Item[]): void {
    let line = item;
    if (this.#isFirst) {
      this.#isFirst = false;
      if (typeof line === "string" && line.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
    }
    if (line !== "" && line !== "\r") items.push(line);
  }
}

/** The beginning of a line, which is plain in all that is looked at. */
const headIn = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, HEAD)).toString();

const END = new Uint8Array([NEWLINE]);
