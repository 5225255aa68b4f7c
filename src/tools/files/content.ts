import { isUtf8 } from "node:buffer";
import { PIECE } from "./etag";
import { refuse } from "./file-error";

/** The representation of content. */
export type Encoding = "utf8" | "base64" | "bytes";

/** The content in a reply. It is a copy, since the buffer is reused. */
export function decode(bytes: Buffer, encoding: Encoding, path: string): string | Uint8Array {
  if (encoding === "bytes") return new Uint8Array(bytes); // `Uint8Array.from` copies byte by byte: 4 ms for 256 KB.
  if (encoding === "base64") return bytes.toString("base64");
  const text = bytes.toString("utf8");
  // Only a text with U+FFFD can come from bytes that are not UTF-8. Other texts need no second look at the bytes.
  return text.includes("\ufffd") && !isUtf8(bytes) ? refuseBytes(path) : text;
}

/** The content of a write request. */
export interface Written {
  readonly content: string | Uint8Array;
  readonly encoding?: "utf8" | "base64";
}

/** The number of bytes of a content. */
export function byteLength({ content, encoding }: Written): number {
  if (typeof content !== "string") return content.length;
  return Buffer.byteLength(content, encoding === "base64" ? "base64" : "utf8");
}

/** A lower bound on the number of bytes, without reading the content. Text in base64 may have as many blanks as letters. */
export function leastByteLength({ content, encoding }: Written): number {
  return typeof content === "string" && encoding === "base64" ? content.length >>> 1 : content.length;
}

/** Letters of a text or of base64 encoded at a time: up to 192 KB, some 100 µs of work. */
const TEXT_PART = 64 * 1024;

/** The bytes of a content in parts that each take little time. The buffer of a part is reused for the next one. */
export function* partsOf({ content, encoding }: Written, path: string): Generator<Uint8Array> {
  if (typeof content !== "string") {
    for (let at = 0; at < content.length; at += PIECE) yield content.subarray(at, at + PIECE);
    return;
  }
  if (encoding === "base64") return yield* base64PartsOf(content, path);
  if (!content.isWellFormed()) refuseHalf(path);
  for (let start = 0; start < content.length; ) {
    const end = Math.min(content.length, start + TEXT_PART);
    // Keeps both halves of a surrogate pair in one part.
    const isCut = end < content.length && (content.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const next = isCut ? end + 1 : end;
    yield Buffer.from(content.slice(start, next));
    start = next;
  }
}

function* base64PartsOf(content: string, path: string): Generator<Uint8Array> {
  const into = new Uint8Array(PIECE); // Room for a part and for the letters left over from the one before.
  let rest = "";
  for (let start = 0; start < content.length || rest !== ""; start += TEXT_PART) {
    const text = rest + content.slice(start, start + TEXT_PART);
    const isLast = start + TEXT_PART >= content.length;
    let read: number;
    let written: number;
    try {
      const lastChunkHandling = isLast ? "loose" : "stop-before-partial";
      ({ read, written } = into.setFromBase64(text, { lastChunkHandling }));
    } catch {
      return refuseBase64(path);
    }
    rest = isLast ? "" : text.slice(read);
    // A group of four letters that ends in `=` must be the last one.
    const isEnd = !isLast && /=\s*$/.test(text.slice(Math.max(0, read - 8), read));
    if (rest.length > TEXT_PART || (isEnd && /\S/.test(rest + content.slice(start + TEXT_PART)))) refuseBase64(path);
    yield into.subarray(0, written);
  }
}

const encoder = new TextEncoder();

/** The bytes of a content. A text that fits is written to `into`. */
export function encode({ content, encoding }: Written, into: Buffer, path: string): Uint8Array {
  if (content instanceof Uint8Array) return content;
  if (encoding === "base64") return fromBase64(content, path);
  if (!content.isWellFormed()) refuseHalf(path);
  if (content.length * 3 <= into.length) return into.subarray(0, into.write(content));
  if (content.length <= into.length) {
    const { read, written } = encoder.encodeInto(content, into); // Takes a third of the time of a new buffer.
    if (read === content.length) return into.subarray(0, written);
  }
  return Buffer.from(content);
}

function fromBase64(content: string, path: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(content);
  } catch {
    return refuseBase64(path);
  }
}

function refuseBase64(path: string): never {
  const shown = JSON.stringify(path);
  return refuse("not-text", path, `The content for ${shown} is not base64, of the letters with + and /.`);
}

function refuseHalf(path: string): never {
  const shown = JSON.stringify(path);
  return refuse("not-text", path, `The text for ${shown} has half of a surrogate pair; write bytes instead.`);
}

/** Decodes content piece by piece, so no step takes long. */
export interface Pieces {
  /** Decodes the next piece, whose buffer is reused afterwards. Every length but the last must be a multiple of 3. */
  next(piece: Buffer): string | Uint8Array;
  /** Refuses a text that ends within a character. */
  end(): void;
}

/** Decodes the pieces of a file. A character that is cut between two pieces comes with the second. */
export function createPieces(encoding: Encoding, path: string): Pieces {
  if (encoding === "bytes") return { next: (piece) => new Uint8Array(piece), end() {} };
  if (encoding === "base64") return { next: (piece) => piece.toString("base64"), end() {} };
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decodeText = (piece?: Buffer): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      return refuseBytes(path);
    }
  };
  return { next: decodeText, end: () => void decodeText() };
}

function refuseBytes(path: string): never {
  return refuse("not-text", path, `${JSON.stringify(path)} is not UTF-8 text here; read it as "base64" or "bytes".`);
}
