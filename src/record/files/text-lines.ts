import { MAX_LINE_BYTES } from "../format";

const NEWLINE = 10;

/** A line of a text, or the reason why it cannot be read. */
export type TextLine = { readonly text: string; readonly wrong?: undefined } | { readonly wrong: string };

/** Makes lines of bytes that are cut anywhere. A line that is too long is passed over without being kept. */
export class TextLines {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #begun: Uint8Array[] = [];
  #length = 0;

  /** The lines that end in these bytes. */
  *read(bytes: Uint8Array): Generator<TextLine> {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield this.#line(bytes.subarray(start, end));
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
  }

  /** The line that has begun, once nothing more comes. Undefined if there is none. */
  end(): TextLine | undefined {
    return this.#length === 0 ? undefined : this.#line(new Uint8Array(0));
  }

  /** Forgets the line that has begun. Returns true if there was one. */
  drop(): boolean {
    const had = this.#length > 0;
    this.#begun = [];
    this.#length = 0;
    return had;
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    if (this.#length <= MAX_LINE_BYTES) this.#begun.push(bytes);
    else this.#begun = [];
  }

  #line(bytes: Uint8Array): TextLine {
    const whole = this.#length === 0 ? bytes : null;
    if (whole === null) this.#keep(bytes);
    const length = whole?.length ?? this.#length;
    const parts = this.#begun;
    this.drop();
    if (length > MAX_LINE_BYTES) return { wrong: `is longer than ${MAX_LINE_BYTES} bytes` };
    try {
      return { text: this.#decoder.decode(whole ?? Buffer.concat(parts)) };
    } catch {
      return { wrong: "is not UTF-8" };
    }
  }
}
