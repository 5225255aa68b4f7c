import { type AskError, type AskOptions, err, type Ref, type Result, type SignaturesOf } from "../../index";
import { resultOf, type ToolReply } from "../reply";
import type { FileError } from "./file-error";
import type { FileSystem } from "./protocol";
import type { BeginWriteRequest, WriteReply } from "./requests/changing";

/** What a file actor replies. */
export type FileReply<Value> = ToolReply<Value, FileError>;

/**
 * Whether the file system refused, as against the actor or the way there: tells the two kinds of errors apart that
 * `resultOf` gives.
 *
 * @example
 * if (file.isErr() && isFileError(file.error)) console.log(file.error.path, file.error.kind);
 */
export function isFileError(error: FileError | AskError): error is FileError {
  return !("retryable" in error);
}

/** What a loop over `itemsOf` throws: a file error as an Error, with its kind. */
export class FileSystemError extends Error {
  override readonly name = "FileSystemError";
  readonly kind: FileError["kind"];
  /** As the caller wrote it. */
  readonly path: string;
  /** The file error itself. */
  readonly error: FileError;

  constructor(error: FileError) {
    super(error.message);
    this.kind = error.kind;
    this.path = error.path;
    this.error = error;
  }
}

/**
 * The items of a file actor's stream, out of their replies. Leaving the loop ends the stream.
 *
 * @throws FileSystemError in the loop where the file system refuses; and what a loop over the stream throws, StreamError.
 * @example
 * for await (const text of itemsOf(files.stream("readStream", { path: "log.txt", encoding: "utf8" }))) print(text);
 */
export async function* itemsOf<Item>(stream: AsyncIterable<FileReply<Item>>): AsyncGenerator<Item, void, undefined> {
  for await (const item of stream) {
    if (!item.ok) throw new FileSystemError(item.error);
    yield item.value;
  }
}

type Piece = string | Uint8Array;
type Uploading = Pick<SignaturesOf<typeof FileSystem>, "beginWrite" | "writeChunk" | "finishWrite" | "abortWrite">;

/**
 * Writes a file of what comes piece by piece, such as the body of a Response: each piece is written before the next one is
 * asked for, and the file is there once all are. Where anything fails, nothing is; what the source throws is thrown.
 * The options hold for each of the asks.
 *
 * @example
 * const written = await writeStream(files, { path: "page.html" }, (await fetch(url)).body ?? []);
 * if (written.isErr()) console.warn(written.error.message);
 */
export async function writeStream(
  files: Ref<Uploading>,
  request: BeginWriteRequest,
  source: AsyncIterable<Piece> | Iterable<Piece> | Uint8Array,
  options: AskOptions = {},
): Promise<Result<WriteReply, FileError | AskError>> {
  const begun = resultOf(await files.ask("beginWrite", request, options));
  if (begun.isErr()) return err(begun.error);
  const { upload } = begun.value;
  let isFinished = false;
  try {
    for await (const content of wellFormed(source)) {
      const written = resultOf(await files.ask("writeChunk", { upload, content }, options));
      if (written.isErr()) return err(written.error);
    }
    const finished = resultOf(await files.ask("finishWrite", { upload }, options));
    isFinished = finished.isOk();
    return finished;
  } finally {
    if (!isFinished) await files.ask("abortWrite", { upload }); // Not within the options, whose signal may be what ended it.
  }
}

/** The pieces, with what is cut within a surrogate pair put together. */
async function* wellFormed(source: AsyncIterable<Piece> | Iterable<Piece> | Uint8Array): AsyncGenerator<Piece> {
  let half = "";
  // A text is iterable itself: letter by letter.
  for await (const piece of typeof source === "string" || source instanceof Uint8Array ? [source] : source) {
    if (typeof piece !== "string") {
      if (half !== "") yield half;
      half = "";
      yield piece;
      continue;
    }
    const text = half + piece;
    half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : "";
    if (text.length > half.length) yield text.slice(0, text.length - half.length);
  }
  if (half !== "") yield half;
}
