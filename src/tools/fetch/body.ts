import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { refuse } from "./fetch-error";

/** Bytes of a piece of a stream, also of one that is decompressed. A multiple of 3, since base64 makes 4 letters of 3 bytes. */
const PIECE = 49_152;
/** Bytes of a compressed body that may be read beyond its limit: compression can add some, and some are read ahead. */
const SLACK = 524_288;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: PIECE }),
  "x-gzip": () => createGunzip({ chunkSize: PIECE }),
  deflate: () => createInflate({ chunkSize: PIECE }),
  br: () => createBrotliDecompress({ chunkSize: PIECE }),
};

/**
 * The bytes of an answer's body, decompressed as they are read. The reader counts the decompressed bytes. The compressed ones are
 * bounded here, since they may stand for a terabyte or for nothing at all.
 */
export function bodyOf(response: Response, method: string, most: number): AsyncGenerator<Uint8Array> | null {
  const { body, headers, status } = response;
  if (body === null || method === "HEAD" || status === 204 || status === 304) return null;
  const coding = (headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  const plain = piecesOf(body, coding === "identity" ? Number.POSITIVE_INFINITY : most + SLACK);
  if (coding === "identity" || coding === "") return plain;
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decoder === undefined) return refuse("bad-reply", "The answer is compressed in a way that is not known here.");
  return decoded(plain, decoder());
}

async function* piecesOf(body: ReadableStream<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > most) refuse("too-large", "The compressed answer has more bytes than its content may have.");
    for (let at = 0; at < piece.length; at += PIECE) yield piece.subarray(at, at + PIECE);
  }
}

async function* decoded(plain: AsyncGenerator<Uint8Array>, decoder: Transform): AsyncGenerator<Uint8Array> {
  let failure: unknown;
  const note = (thrown: unknown): void => {
    failure = thrown;
  };
  const source = Readable.from(noting(plain, note), { objectMode: true, highWaterMark: 1 });
  pipeline(source, decoder, () => {}); // A failure of either ends the loop below.
  try {
    for await (const piece of decoder) yield piece;
  } catch (thrown) {
    throw failure ?? thrown;
  } finally {
    source.destroy();
    decoder.destroy();
  }
  if (failure !== undefined) throw failure;
}

/** Notes the value that a source throws. A stream of Node would wrap one that is no Error. */
async function* noting(plain: AsyncGenerator<Uint8Array>, note: (thrown: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* plain;
  } catch (thrown) {
    note(thrown);
    throw thrown instanceof Error ? thrown : new Error("The source failed.");
  }
}

/** Reads a body to its end, or up to the most bytes that its caller wants. */
export async function readAll(
  body: AsyncGenerator<Uint8Array> | null,
  most: number,
  mayCut: boolean,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    if (size + piece.length > most) {
      if (!mayCut) return tooLarge(most);
      parts.push(piece.subarray(0, most - size));
      return { bytes: Buffer.concat(parts), isCut: true };
    }
    size += piece.length;
    parts.push(piece);
  }
  return { bytes: Buffer.concat(parts), isCut: false };
}

export const tooLarge = (most: number): never =>
  refuse(
    "too-large",
    `The answer has more than ${most} bytes; ask for its beginning (maxBytes), for a part (range), or as a stream.`,
  );

export type Encoding = "utf8" | "base64" | "bytes";

/** The decoder for the charset of an answer. It refuses bytes that are not text in it. */
function textDecoder(headers: Headers): TextDecoder {
  const [, charset = "utf-8"] = /;\s*charset="?([^\s";]{1,40})/i.exec(headers.get("content-type") ?? "") ?? [];
  try {
    return new TextDecoder(charset as Bun.Encoding, { fatal: true }); // It throws for what is no label.
  } catch {
    return notText();
  }
}

const notText = (): never => refuse("not-text", 'The answer is not text in its encoding; ask for it as "base64".');

function decodedText(decoder: TextDecoder, bytes: Uint8Array, isEnd: boolean): string {
  try {
    return decoder.decode(bytes, { stream: !isEnd });
  } catch {
    return notText();
  }
}

/** The content of an answer. A letter that is cut at the end is left out. */
export function contentOf(bytes: Buffer, encoding: "utf8" | "base64", headers: Headers, isCut: boolean): string {
  return encoding === "base64" ? bytes.toString("base64") : decodedText(textDecoder(headers), bytes, !isCut);
}

/** The content of an answer in pieces. Letters stay whole, and the pieces of base64 can be joined. */
export async function* contents(
  body: AsyncGenerator<Uint8Array> | null,
  most: number,
  encoding: Encoding,
  headers: Headers,
): AsyncGenerator<string | Uint8Array> {
  const decoder = encoding === "utf8" ? textDecoder(headers) : null;
  let rest: Uint8Array = new Uint8Array();
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > most) tooLarge(most);
    if (decoder !== null) {
      const text = decodedText(decoder, piece, false);
      if (text !== "") yield text;
    } else if (encoding === "bytes") yield piece;
    else {
      const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      const whole = all.length - (all.length % 3);
      rest = all.subarray(whole);
      if (whole > 0) yield Buffer.from(all.subarray(0, whole)).toString("base64");
    }
  }
  if (decoder !== null) {
    const text = decodedText(decoder, new Uint8Array(), true);
    if (text !== "") yield text;
  } else if (rest.length > 0) yield Buffer.from(rest).toString("base64");
}
