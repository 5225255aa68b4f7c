import { createPieces, decode, type Encoding } from "./content";
import { EtagOf, etagOf, PIECE } from "./etag";
import { refuse, refuseFor } from "./file-error";
import { nextLineEnd } from "./lines";
import type { Path } from "./path";
import type { ReadReply, ReadRequest } from "./requests/reading";
import { cutIn, LONGEST_CUT, startOfTail, type Tail, TailScan } from "./tail";
import type { Task, Workspace } from "./workspace";

/** A part of a file up to this size is cut from the whole file, so that the reply has an etag. In bytes. */
const WHOLE = 1024 * 1024;
const LF = 10;

/** The bytes that the reads of one request may still read. */
export interface Budget {
  left: number;
}

/**
 * Reads a file. A small one is read at once, a larger one in pieces with pauses.
 *
 * @param budget bounds the read and is reduced by it. Null uses the actor's `maxReadBytes`.
 */
export function read(
  workspace: Workspace,
  request: ReadRequest,
  task: Task,
  budget: Budget | null = null,
): ReadReply | Promise<ReadReply> {
  const { root, scratch, status } = workspace;
  const path = workspace.findFile(request.path);
  if (request.tail !== undefined) expectTailAlone(request);
  const { given, whole } = path;
  const file = workspace.openFile(whole, given, "read");
  const { size } = status;
  if (size >= PIECE)
    return new LargeRead(workspace, request, path, file, size, budget).run(task).finally(() => root.close(file));
  const length = root.read(file, scratch, size, 0);
  root.close(file);
  if (length < 0) return refuseFor(length, given);
  return partOf(scratch.subarray(0, length), request, workspace.limits.maxReadBytes, budget);
}

function expectTailAlone({ path, offset, length, lines }: ReadRequest): void {
  if (offset === undefined && length === undefined && lines === undefined) return;
  refuse("denied", path, `The tail of ${JSON.stringify(path)} is read alone: leave out offset, length and lines.`);
}

/** The requested part of a file that was read whole. */
function partOf(
  bytes: Buffer,
  { path, encoding = "utf8", offset, length, lines, tail }: ReadRequest,
  most: number,
  budget: Budget | null,
): ReadReply {
  const size = bytes.length;
  const etag = etagOf(bytes);
  if (tail !== undefined) {
    const start = startOfTail(bytes, tail, encoding);
    expectSize(size - start, most, path, budget);
    spend(budget, size - start);
    return replyOf(decode(bytes.subarray(start), encoding, path), encoding, { size, etag, offset: start });
  }
  if (lines === undefined) {
    const start = Math.min(offset ?? 0, size);
    const part = offset === undefined && length === undefined ? bytes : bytes.subarray(start, start + (length ?? size));
    expectSize(part.length, most, path, budget);
    spend(budget, part.length);
    // `decode` gives bytes for "bytes" and a string otherwise. Fields are copied one by one, since a spread took 80 ns.
    return { encoding, content: decode(part, encoding, path), size, etag } as ReadReply;
  }
  const scan = new LineScan(lines.from ?? 1, lines.to ?? Number.POSITIVE_INFINITY);
  const [start, end] = scan.add(bytes);
  expectSize(end - start, most, path, budget);
  spend(budget, end - start);
  return replyOf(decode(bytes.subarray(start, end), encoding, path), encoding, { size, etag, lines: scan.end() });
}

type About = Pick<ReadReply, "size" | "etag" | "lines" | "offset">;

function replyOf(content: string | Uint8Array, encoding: Encoding, about: About): ReadReply {
  // `decode` gives bytes for "bytes" and a string otherwise.
  return { encoding, content, ...about } as ReadReply;
}

/** Refuses more bytes than may be read. */
function expectSize(size: number, most: number, given: string, budget: Budget | null): void {
  if (budget !== null && size > budget.left) refuseSpent(size, most, given, budget);
  if (size <= most) return;
  const advice = "read a part with offset and length, or use readStream";
  refuse(
    "too-large",
    given,
    `${JSON.stringify(given)} would give ${size} bytes, and at most ${most} are read at once: ${advice}.`,
  );
}

function spend(budget: Budget | null, bytes: number): void {
  if (budget !== null) budget.left -= bytes;
}

function refuseSpent(size: number, most: number, given: string, { left }: Budget): never {
  const shown = JSON.stringify(given);
  return refuse(
    "too-large",
    given,
    `${shown} would give ${size} bytes, and ${left} are left of the ${most} that one request reads: read it by itself, or a part.`,
  );
}

/** A read of a larger file, up to its size at the opening. A file that grows would otherwise never end. */
class LargeRead {
  readonly #workspace: Workspace;
  readonly #request: ReadRequest;
  readonly #path: Path;
  readonly #file: number;
  readonly #size: number;
  readonly #budget: Budget | null;

  constructor(
    workspace: Workspace,
    request: ReadRequest,
    path: Path,
    file: number,
    size: number,
    budget: Budget | null,
  ) {
    this.#workspace = workspace;
    this.#request = request;
    this.#path = path;
    this.#file = file;
    this.#size = size;
    this.#budget = budget;
  }

  async run({ signal }: Task): Promise<ReadReply> {
    const { path, encoding = "utf8", offset, length, lines, tail } = this.#request;
    const most = this.#workspace.limits.maxReadBytes;
    const size = this.#size;
    const isWhole = offset === undefined && length === undefined && lines === undefined && tail === undefined;
    const hasEtag = isWhole || size <= WHOLE;
    const begin = tail === undefined ? offset : await this.#startOf(tail, encoding, signal);
    const start = lines === undefined ? Math.min(begin ?? 0, size) : 0;
    const end = lines === undefined ? Math.min(size, start + (length ?? size)) : size;
    if (lines === undefined) expectSize(end - start, most, path, this.#budget);
    const scan = lines && new LineScan(lines.from ?? 1, lines.to ?? Number.POSITIVE_INFINITY);

    const etag = new EtagOf();
    const parts: (string | Uint8Array)[] = [];
    const pieces = createPieces(encoding, path);
    // Base64 makes 4 letters of 3 bytes, so the remainder of a piece waits for the next one.
    let rest = Buffer.alloc(0);
    let given = 0;
    const take = (bytes: Buffer): void => {
      given += bytes.length;
      expectSize(given, most, path, this.#budget);
      const joined = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const kept = encoding === "base64" ? joined.length % 3 : 0;
      rest = Buffer.from(joined.subarray(joined.length - kept));
      parts.push(pieces.next(joined.subarray(0, joined.length - kept)));
    };

    let position = hasEtag ? 0 : start;
    const last = hasEtag ? size : end;
    while (position < last) {
      signal.throwIfAborted();
      if (position > 0) this.#workspace.expectInPlace(this.#file, this.#path);
      const bytes = this.#piece(position, Math.min(PIECE, last - position));
      if (bytes.length === 0) break; // The file was cut meanwhile.
      if (hasEtag) etag.add(bytes);
      const [from, to] = scan ? scan.add(bytes) : [Math.max(0, start - position), Math.max(0, end - position)];
      if (from < to && from < bytes.length) take(bytes.subarray(from, to));
      position += bytes.length;
      if (scan?.isDone && !hasEtag) break;
      await this.#workspace.pause();
    }
    if (rest.length > 0) parts.push(rest.toString("base64"));
    pieces.end();
    spend(this.#budget, given);
    const content = encoding === "bytes" ? joinBytes(parts as Uint8Array[], given) : parts.join("");
    return replyOf(content, encoding, {
      size: hasEtag ? position : size,
      ...(hasEtag && { etag: etag.end() }),
      ...(scan && { lines: scan.end(position < size) }),
      ...(tail && { offset: start }),
    });
  }

  /** The start of a tail. It is searched from the end of the file, as far as the read may go. */
  async #startOf(tail: Tail, encoding: Encoding, signal: AbortSignal): Promise<number> {
    const { path } = this.#request;
    const most = this.#workspace.limits.maxReadBytes;
    const { lines, bytes } = tail;
    if (lines === undefined) {
      const start = Math.max(0, this.#size - (bytes ?? 0));
      return encoding === "utf8" && start > 0 ? start + cutIn(this.#piece(start, LONGEST_CUT)) : start;
    }
    const scan = new TailScan(lines);
    for (let end = this.#size; end > 0; ) {
      signal.throwIfAborted();
      const from = Math.max(0, end - PIECE);
      const found = scan.add(this.#piece(from, end - from));
      if (found !== null) return from + found;
      end = from;
      expectSize(this.#size - end, most, path, this.#budget);
      await this.#workspace.pause();
      this.#workspace.expectInPlace(this.#file, this.#path);
    }
    return 0;
  }

  #piece(position: number, length: number): Buffer {
    const { root, scratch } = this.#workspace;
    const count = root.read(this.#file, scratch, length, position);
    return count < 0 ? refuseFor(count, this.#request.path) : scratch.subarray(0, count);
  }
}

function joinBytes(parts: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Finds lines in bytes that come piece by piece. */
class LineScan {
  readonly #from: number;
  readonly #to: number;
  /** The line of the next byte, counted from 1. */
  #line = 1;
  #isAtStart = true;

  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
  }

  /** True once the last wanted line has come. */
  get isDone(): boolean {
    return this.#line > this.#to;
  }

  /** The start and the end of the wanted lines in this piece. */
  add(bytes: Buffer): [from: number, to: number] {
    let from = this.#line >= this.#from ? 0 : bytes.length;
    let to = this.isDone ? 0 : bytes.length;
    for (let at = nextLineEnd(bytes, 0); at >= 0; at = nextLineEnd(bytes, at + 1)) {
      this.#line++;
      if (this.#line === this.#from) from = at + 1;
      if (this.#line === this.#to + 1) to = at + 1;
    }
    if (bytes.length > 0) this.#isAtStart = bytes[bytes.length - 1] === LF;
    return [from, Math.max(from, to)];
  }

  /** The lines found. `isCut` is true if the rest of the file was not scanned. */
  end(isCut = false): { from: number; to: number; total?: number } {
    const total = this.#isAtStart ? this.#line - 1 : this.#line;
    const to = Math.max(this.#from - 1, Math.min(this.#to, total));
    return isCut ? { from: this.#from, to } : { from: this.#from, to, total };
  }
}
