import { isUtf8 } from "node:buffer";
import { refuse } from "./file-error";

/** How a content is carried. */
export type Encoding = "utf8" | "base64" | "bytes";

/** The content in a reply: a copy, since the bytes are those of a buffer that is used again. */
export function decode(bytes: Buffer, encoding: Encoding, path: string): string | Uint8Array {
  if (encoding === "bytes") return new Uint8Array(bytes); // `Uint8Array.from` goes byte by byte: 4 ms for 256 KB.
  if (encoding === "base64") return bytes.toString("base64");
  const text = bytes.toString("utf8");
  // Only U+FFFD stands for what is no UTF-8: where it is missing, one look at the bytes is enough.
  return text.includes("\ufffd") && !isUtf8(bytes) ? refuseBytes(path) : text;
}

/** What a request has a file written with. */
export interface Written {
  readonly content: string | Uint8Array;
  readonly encoding?: "utf8" | "base64";
}

/** How many bytes a content has. */
export function byteLength({ content, encoding }: Written): number {
  if (typeof content !== "string") return content.length;
  return Buffer.byteLength(content, encoding === "base64" ? "base64" : "utf8");
}

const encoder = new TextEncoder();

/** The bytes of a content; those of a text that fits come in `into`. */
export function encode({ content, encoding }: Written, into: Buffer, path: string): Uint8Array {
  if (content instanceof Uint8Array) return content;
  if (encoding === "base64") return fromBase64(content, path);
  if (!content.isWellFormed()) {
    return refuse(
      "not-text",
      path,
      `The text for ${JSON.stringify(path)} has half of a surrogate pair; write bytes instead.`,
    );
  }
  if (content.length * 3 <= into.length) return into.subarray(0, into.write(content));
  if (content.length <= into.length) {
    const { read, written } = encoder.encodeInto(content, into); // A third of the time that a new buffer takes.
    if (read === content.length) return into.subarray(0, written);
  }
  return Buffer.from(content);
}

function fromBase64(content: string, path: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(content);
  } catch {
    return refuse(
      "not-text",
      path,
      `The content for ${JSON.stringify(path)} is not base64, of the letters with + and /.`,
    );
  }
}

/** Decodes a content piece by piece, so that no step takes long. */
export interface Pieces {
  /** The next piece, which is used again afterwards; all but the last have a length that 3 divides. */
  next(piece: Buffer): string | Uint8Array;
  /** Refuses a text that ends within a character. */
  end(): void;
}

/** What is in the pieces of a file. A character that is cut between two of them comes with the second. */
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
