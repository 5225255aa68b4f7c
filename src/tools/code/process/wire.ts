import { CHANNEL } from "../pool/channel";
import type { Kernel } from "../pool/kernel";

const { parse } = JSON;
const { call } = Function.prototype;
const indexOf = call.bind(Uint8Array.prototype.indexOf) as (bytes: Uint8Array, byte: number) => number;
const subarray = call.bind(Uint8Array.prototype.subarray) as (
  bytes: Uint8Array,
  from: number,
  to?: number,
) => Uint8Array;
const [encoder, decoder] = [new TextEncoder(), new TextDecoder("utf-8", { ignoreBOM: true })];
const encodeInto = encoder.encodeInto.bind(encoder);
const encode = encoder.encode.bind(encoder);
const decode = decoder.decode.bind(decoder) as (bytes: Uint8Array, options?: { stream: boolean }) => string;

/** Numbers of x64. */
const [WRITE, POLL, EXIT] = [1, 7, 231];
const POLLOUT = 4;
const NEVER = 0xffffffff;

/**
 * The channel, as seen from inside: it is read when the event loop comes round, and written to at once, also where the host
 * is slow to read, so that what was told before an endless loop has been told.
 *
 * Code may change whatever the language has, so that all that this needs of it is taken beforehand.
 */
export class Wire {
  readonly #kernel: Kernel;
  readonly #buffer = new Uint8Array(16 * 1024);
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
    if (line.length * 3 < this.#buffer.length) {
      const { written } = encodeInto(line, this.#buffer);
      this.#buffer[written] = 10;
      this.#write(this.#buffer, written + 1);
    } else {
      const bytes = encode(`${line}\n`);
      this.#write(bytes, bytes.length);
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
      const written = this.#kernel(WRITE, CHANNEL, at === 0 ? bytes : subarray(bytes, at), length - at);
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
    let rest = bytes;
    for (let end = indexOf(rest, 10); end >= 0; end = indexOf(rest, 10)) {
      const line = this.#text + decode(subarray(rest, 0, end));
      this.#text = "";
      rest = subarray(rest, end + 1);
      this.#hear(parse(line));
    }
    if (rest.length > 0) this.#text += decode(rest, { stream: true });
  }
}
