import { CHANNEL, type Head, hasText, type Word, wordOf } from "../pool/channel";
import { addressOf, type Kernel } from "../pool/kernel";

const { parse } = JSON;
const { call } = Function.prototype;
const indexOf = call.bind(String.prototype.indexOf) as (text: string, part: string) => number;
const slice = call.bind(String.prototype.slice) as (text: string, from: number, to?: number) => string;
/** By the language, this getter exists. */
const length = Reflect.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "length") as {
  get(): number;
};
const lengthOf = call.bind(length.get) as (bytes: Uint8Array) => number;
const [encoder, decoder] = [new TextEncoder(), new TextDecoder("utf-8", { ignoreBOM: true })];
const encodeInto = encoder.encodeInto.bind(encoder);
const encode = encoder.encode.bind(encoder);
const decode = decoder.decode.bind(decoder) as (bytes: Uint8Array, options?: { stream: boolean }) => string;

/** Numbers of x64. */
const [WRITE, POLL, EXIT] = [1, 7, 231];
const POLLOUT = 4;
const NEVER = 0xffffffff;
const BUFFER_BYTES = 16 * 1024;
const STREAM = { stream: true };

/**
 * The channel, on the side of the process. It is read when the event loop comes round. It is written to at once, even if the
 * host is slow to read, so that news from before an endless loop still arrives.
 *
 * Code may change anything in the language, so all needed functions are taken beforehand. And no part, length or class of
 * bytes is read by a property of theirs: that would hand the bytes to a getter of the code.
 */
export class Wire {
  readonly #kernel: Kernel;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  readonly #polled = new Uint8Array(8);
  readonly #hear: (word: Word) => void;
  #text = "";
  /** A word whose text is still to come. */
  #head: Head | undefined;

  /** @param hear is called with each word of the host. */
  constructor(kernel: Kernel, hear: (word: Word) => void) {
    this.#kernel = kernel;
    this.#hear = hear;
    const view = new DataView(this.#polled.buffer); // struct pollfd
    view.setInt32(0, CHANNEL, true);
    view.setInt16(4, POLLOUT, true);
  }

  /** True while a word has come only in part. */
  get isInWord(): boolean {
    return this.#text !== "" || this.#head !== undefined;
  }

  async open(): Promise<void> {
    await Bun.connect({
      fd: CHANNEL,
      socket: {
        binaryType: "uint8array",
        data: (_: unknown, bytes: Uint8Array) => this.read(bytes),
        close: () => this.exit(),
        error: () => this.exit(),
      },
      // Bun can connect to a descriptor; its types do not say so.
    } as unknown as Parameters<typeof Bun.connect>[0]);
  }

  /** Sends a line: a JSON text. */
  tell(line: string): void {
    // A character takes at most three bytes.
    if (line.length * 3 < BUFFER_BYTES) {
      const { written } = encodeInto(line, this.#buffer);
      this.#buffer[written] = 10;
      this.#write(this.#buffer, written + 1);
    } else {
      const bytes = encode(`${line}\n`);
      this.#write(bytes, lengthOf(bytes));
    }
  }

  /** Does the work of sending a line, and sends nothing. */
  practise(line: string): void {
    encodeInto(line, this.#buffer);
    this.#kernel(WRITE, CHANNEL, this.#buffer, 0);
  }

  /** Ends this process, which is useless without its channel. */
  exit(): void {
    this.#kernel(EXIT, 0);
  }

  #write(bytes: Uint8Array, length: number): void {
    for (let at = 0; at < length; ) {
      const written = this.#kernel(WRITE, CHANNEL, at === 0 ? bytes : addressOf(bytes) + at, length - at);
      if (written > 0) at += written;
      else this.#wait();
    }
  }

  /** Waits until the host has read some. */
  #wait(): void {
    this.#kernel(POLL, this.#polled, 1, NEVER);
    const got = this.#polled[6] ?? 0;
    if (got !== 0 && got !== POLLOUT) this.exit(); // Either side has closed it.
  }

  /** Takes bytes of the channel, or those of a rehearsal. */
  read(bytes: Uint8Array): void {
    let rest = decode(bytes, STREAM);
    for (let end = indexOf(rest, "\n"); end >= 0; end = indexOf(rest, "\n")) {
      const line = this.#text + slice(rest, 0, end);
      this.#text = "";
      rest = slice(rest, end + 1);
      this.#take(line);
    }
    this.#text += rest;
  }

  #take(line: string): void {
    const head = this.#head;
    this.#head = undefined;
    if (head !== undefined) {
      this.#hear(wordOf(head, line));
      return;
    }
    const next = parse(line) as Head; // The host wrote it.
    if (hasText(next)) this.#head = next;
    else this.#hear(wordOf(next, undefined));
  }
}
