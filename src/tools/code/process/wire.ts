import { CHANNEL } from "../pool/channel";
import { addressOf, type Kernel } from "../pool/kernel";

const { parse } = JSON;
const { call } = Function.prototype;
const indexOf = call.bind(String.prototype.indexOf) as (text: string, part: string) => number;
const slice = call.bind(String.prototype.slice) as (text: string, from: number, to?: number) => string;
/** It has one, by the language. */
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
 * The channel, as seen from inside: it is read when the event loop comes round, and written to at once, also where the host
 * is slow to read, so that what was told before an endless loop has been told.
 *
 * Code may change whatever the language has, so that all that this needs of it is taken beforehand; and it asks bytes for
 * no part of them, nor for their length or class, which would hand them to what the code has put there.
 */
export class Wire {
  readonly #kernel: Kernel;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  readonly #polled = new Uint8Array(8);
  readonly #hear: (word: unknown) => void;
  #text = "";

  /** @param hear is called with each line that the host writes. */
  constructor(kernel: Kernel, hear: (word: unknown) => void) {
    this.#kernel = kernel;
    this.#hear = hear;
    const view = new DataView(this.#polled.buffer); // struct pollfd
    view.setInt32(0, CHANNEL, true);
    view.setInt16(4, POLLOUT, true);
  }

  /** Whether a line has come in part. */
  get isInLine(): boolean {
    return this.#text !== "";
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
      // Bun connects to a descriptor, which its types do not say.
    } as unknown as Parameters<typeof Bun.connect>[0]);
  }

  /** Tells a line: a text of JSON. */
  tell(line: string): void {
    // A character takes three bytes at most.
    if (line.length * 3 < BUFFER_BYTES) {
      const { written } = encodeInto(line, this.#buffer);
      this.#buffer[written] = 10;
      this.#write(this.#buffer, written + 1);
    } else {
      const bytes = encode(`${line}\n`);
      this.#write(bytes, lengthOf(bytes));
    }
  }

  /** Does what telling a line takes, and tells nothing. */
  practise(line: string): void {
    encodeInto(line, this.#buffer);
    this.#kernel(WRITE, CHANNEL, this.#buffer, 0);
  }

  /** Ends this process, which is of no use without its channel. */
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

  /** Until the host has read some. */
  #wait(): void {
    this.#kernel(POLL, this.#polled, 1, NEVER);
    const got = this.#polled[6] ?? 0;
    if (got !== 0 && got !== POLLOUT) this.exit(); // It was closed, by either side.
  }

  /** Takes what came; also what never did, so that it is known how. */
  read(bytes: Uint8Array): void {
    let rest = decode(bytes, STREAM);
    for (let end = indexOf(rest, "\n"); end >= 0; end = indexOf(rest, "\n")) {
      const line = this.#text + slice(rest, 0, end);
      this.#text = "";
      rest = slice(rest, end + 1);
      this.#hear(parse(line));
    }
    this.#text += rest;
  }
}
