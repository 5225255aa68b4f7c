import { type AskError, type AskOptions, err, type Ref, type Result, type SignaturesOf } from "../../index";
import { resultOf, type ToolReply } from "../reply";
import type { FileError } from "./file-error";
import type { FileSystem } from "./protocol";
import type { BeginWriteRequest, WriteReply } from "./requests/changing";

/** The reply of a file actor. */
export type FileReply<Value> = ToolReply<Value, FileError>;

/**
 * Tells the two kinds of errors of `resultOf` apart. True if the file system refused; false if the ask failed.
 *
 * @example
 * if (file.isErr() && isFileError(file.error)) console.log(file.error.path, file.error.kind);
 */
export function isFileError(error: FileError | AskError): error is FileError {
  return !("retryable" in error);
}

/**
 * A file error thrown by a loop over `itemsOf`, with its kind.
 *
 * @example
 * try {
 *   for await (const text of itemsOf(files.stream("readStream", { path, encoding: "utf8" }))) print(text);
 * } catch (error) {
 *   if (error instanceof FileSystemError) console.log(error.path, error.kind); // such as "not-found"
 * }
 */
export class FileSystemError extends Error {
  override readonly name = "FileSystemError";
  readonly kind: FileError["kind"];
  /** The path as the caller wrote it. */
  readonly path: string;
  /** The file error. */
  readonly error: FileError;

  constructor(error: FileError) {
    super(error.message);
    this.kind = error.kind;
    this.path = error.path;
    this.error = error;
  }
}

/**
 * Unwraps the items of a file actor's stream. Leaving the loop ends the stream.
 *
 * @throws FileSystemError in the loop if the file system refuses, and StreamError like a loop over the stream itself.
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
 * Writes a file from a source in pieces, such as the body of a Response. Each piece is written before the next one is
 * requested. The file appears once all are written, and not after a failure. An error of the source is rethrown.
 * The options apply to each ask.
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
    // Sent without the options, since their signal may have caused the failure.
    if (!isFinished) await files.ask("abortWrite", { upload });
  }
}

/** The pieces, with surrogate pairs that were cut between two pieces joined again. */
async function* wellFormed(source: AsyncIterable<Piece> | Iterable<Piece> | Uint8Array): AsyncGenerator<Piece> {
  let half = "";
  // A string is itself iterable, letter by letter.
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
