/** Turns text into bytes and back, as in browsers. */
export interface TextGlobals {
  readonly TextEncoder: unknown;
  readonly TextDecoder: unknown;
  readonly atob: unknown;
  readonly btoa: unknown;
}

/**
 * QuickJS has none of these. UTF-8, UTF-16LE and windows-1252 are decoded as the Encoding Standard says; other labels are
 * refused by name.
 *
 * It is carried into the sandbox as its own source text, at the first use of any of them.
 */
export function textGlobals(): TextGlobals {
  const { fromCharCode } = String;
  const PIECE = 4_096;
  const REPLACEMENT = 0xfffd;
  const UTF_8 = ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];
  const UTF_16 = ["utf-16le", "utf-16", "ucs-2", "unicode", "csunicode", "iso-10646-ucs-2", "unicodefeff"];
  const LATIN = ["windows-1252", "latin1", "l1", "ascii", "us-ascii", "iso-8859-1", "iso8859-1", "iso88591", "cp1252"];
  /** The bytes 0x80 to 0x9f of windows-1252. */
  const LATIN_CONTROLS =
    "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  const encodeOne = (point: number, bytes: number[] | Uint8Array, at: number): number => {
    if (point < 0x80) {
      bytes[at] = point;
      return at + 1;
    }
    const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    bytes[at] = (point >> (6 * more)) | (more === 1 ? 0xc0 : more === 2 ? 0xe0 : 0xf0);
    for (let left = more - 1; left >= 0; left--) bytes[at + more - left] = ((point >> (6 * left)) & 0x3f) | 0x80;
    return at + more + 1;
  };

  class TextEncoder {
    get encoding(): string {
      return "utf-8";
    }

    encode(input?: unknown): Uint8Array {
      const text = input === undefined ? "" : `${input}`;
      // A UTF-16 code unit takes three bytes at most.
      const bytes = new Uint8Array(text.length * 3);
      return bytes.slice(0, this.encodeInto(text, bytes).written);
    }

    encodeInto(input: unknown, bytes: Uint8Array): { read: number; written: number } {
      const text = `${input}`;
      let written = 0;
      let read = 0;
      while (read < text.length) {
        const found = text.codePointAt(read) ?? 0;
        const point = found >= 0xd800 && found <= 0xdfff ? REPLACEMENT : found;
        const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        if (written + size > bytes.length) break;
        written = encodeOne(point, bytes, written);
        read += found > 0xffff ? 2 : 1;
      }
      return { read, written };
    }
  }

  /** Collects UTF-16 units, and makes text of them piece by piece. */
  class Units {
    #text = "";
    #units: number[] = [];

    add(point: number): void {
      if (point > 0xffff) this.#units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
      else this.#units.push(point);
      if (this.#units.length >= PIECE) this.#flush();
    }

    get text(): string {
      this.#flush();
      return this.#text;
    }

    #flush(): void {
      this.#text += fromCharCode(...this.#units);
      this.#units = [];
    }
  }

  const bytesOf = (input: unknown): Uint8Array => {
    if (input === undefined) return new Uint8Array(0);
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    try {
      return new Uint8Array(new Uint8Array(input as ArrayBuffer).buffer, 0, (input as ArrayBuffer).slice(0).byteLength);
    } catch {
      throw new TypeError("A TextDecoder decodes an ArrayBuffer or a view of one.");
    }
  };

  class TextDecoder {
    readonly #encoding: "utf-8" | "utf-16le" | "windows-1252";
    readonly #isFatal: boolean;
    readonly #ignoresMark: boolean;
    /** The state of an incomplete sequence: for UTF-8 as the standard names it, for UTF-16 a byte and a surrogate. */
    #needed = 0;
    #seen = 0;
    #point = 0;
    #lower = 0x80;
    #upper = 0xbf;
    #byte = -1;
    #lead = -1;
    #isAtStart = true;

    constructor(label: unknown = "utf-8", options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
      const name = `${label}`.trim().toLowerCase();
      if (UTF_8.includes(name)) this.#encoding = "utf-8";
      else if (UTF_16.includes(name)) this.#encoding = "utf-16le";
      else if (LATIN.includes(name)) this.#encoding = "windows-1252";
      else throw new RangeError(`This tier decodes utf-8, utf-16le and windows-1252, and not "${name.slice(0, 50)}".`);
      this.#isFatal = Boolean(options?.fatal);
      this.#ignoresMark = Boolean(options?.ignoreBOM);
    }

    get encoding(): string {
      return this.#encoding;
    }

    get fatal(): boolean {
      return this.#isFatal;
    }

    get ignoreBOM(): boolean {
      return this.#ignoresMark;
    }

    decode(input?: unknown, options: { stream?: unknown } = {}): string {
      const bytes = bytesOf(input);
      const units = new Units();
      try {
        if (this.#encoding === "utf-8") this.#utf8(bytes, units);
        else if (this.#encoding === "utf-16le") this.#utf16(bytes, units);
        else
          for (const byte of bytes)
            units.add(byte >= 0x80 && byte < 0xa0 ? LATIN_CONTROLS.charCodeAt(byte - 0x80) : byte);
        if (!options?.stream && (this.#needed > 0 || this.#byte >= 0 || this.#lead >= 0)) this.#bad(units);
      } catch (thrown) {
        this.#reset();
        throw thrown;
      }
      const { text } = units;
      const isMarked = this.#isAtStart && !this.#ignoresMark && this.#encoding !== "windows-1252";
      if (!options?.stream) this.#reset();
      else if (text !== "") this.#isAtStart = false;
      return isMarked && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    }

    #reset(): void {
      this.#needed = this.#seen = this.#point = 0;
      this.#lower = 0x80;
      this.#upper = 0xbf;
      this.#byte = this.#lead = -1;
      this.#isAtStart = true;
    }

    #bad(units: Units): void {
      if (this.#isFatal) throw new TypeError(`The bytes are not valid ${this.#encoding}.`);
      units.add(REPLACEMENT);
    }

    #utf8(bytes: Uint8Array, units: Units): void {
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at] as number; // The index is in bounds.
        if (this.#needed === 0) {
          if (byte < 0x80) units.add(byte);
          else if (byte >= 0xc2 && byte <= 0xf4) this.#begin(byte);
          else this.#bad(units);
          continue;
        }
        if (byte < this.#lower || byte > this.#upper) {
          this.#needed = this.#seen = 0;
          this.#lower = 0x80;
          this.#upper = 0xbf;
          this.#bad(units);
          at--; // This byte may begin another sequence.
          continue;
        }
        this.#lower = 0x80;
        this.#upper = 0xbf;
        this.#point = (this.#point << 6) | (byte & 0x3f);
        if (++this.#seen < this.#needed) continue;
        this.#needed = this.#seen = 0;
        units.add(this.#point);
      }
    }

    #begin(byte: number): void {
      this.#needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      this.#point = byte & (0x3f >> this.#needed);
      if (byte === 0xe0) this.#lower = 0xa0;
      if (byte === 0xed) this.#upper = 0x9f;
      if (byte === 0xf0) this.#lower = 0x90;
      if (byte === 0xf4) this.#upper = 0x8f;
    }

    #utf16(bytes: Uint8Array, units: Units): void {
      for (const byte of bytes) {
        if (this.#byte < 0) {
          this.#byte = byte;
          continue;
        }
        const unit = this.#byte | (byte << 8);
        this.#byte = -1;
        if (this.#lead >= 0) {
          const lead = this.#lead;
          this.#lead = -1;
          if (unit >= 0xdc00 && unit <= 0xdfff) {
            units.add(0x10000 + ((lead - 0xd800) << 10) + (unit - 0xdc00));
            continue;
          }
          this.#bad(units);
        }
        if (unit >= 0xd800 && unit <= 0xdbff) this.#lead = unit;
        else if (unit >= 0xdc00 && unit <= 0xdfff) this.#bad(units);
        else units.add(unit);
      }
    }
  }

  const invalid = (message: string): Error =>
    Object.defineProperty(new Error(message), "name", {
      value: "InvalidCharacterError",
      configurable: true,
      writable: true,
    });

  const btoa = (input: unknown): string => {
    const text = `${input}`;
    let made = "";
    for (let at = 0; at < text.length; at += 3) {
      const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
      // A missing character is NaN, which is not larger.
      if (a > 255 || b > 255 || c > 255) throw invalid("btoa takes characters up to U+00FF; encode the text first.");
      const bits = (a << 16) | (b << 8) | c;
      made += `${ALPHABET[bits >> 18]}${ALPHABET[(bits >> 12) & 63]}`;
      made += at + 1 < text.length ? ALPHABET[(bits >> 6) & 63] : "=";
      made += at + 2 < text.length ? ALPHABET[bits & 63] : "=";
    }
    return made;
  };

  const atob = (input: unknown): string => {
    let text = `${input}`.replace(/[\t\n\f\r ]/g, "");
    if (text.length % 4 === 0) text = text.replace(/={1,2}$/, "");
    if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalid("The text is no base64.");
    let [made, bits, count] = ["", 0, 0];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const value = code >= 97 ? code - 71 : code >= 65 ? code - 65 : code >= 48 ? code + 4 : code === 43 ? 62 : 63;
      bits = ((bits << 6) | value) & 0xffff;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      made += fromCharCode((bits >> count) & 255);
    }
    return made;
  };

  return { TextEncoder, TextDecoder, atob, btoa };
}
