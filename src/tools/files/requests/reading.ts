import { type Static, Type } from "../../../index";
import { Bytes, Count, Encoding, Etag, flag, Kind, outcome, Path, Positive, path, requestOf } from "./terms";

/** A read request. */
export const ReadRequest = requestOf({
  path: Path,
  /** The form of the content: text, base64, or a Uint8Array. Default: `"utf8"`. */
  encoding: Type.Optional(Encoding),
  /** The first byte. Default: 0. */
  offset: Type.Optional(Count),
  /** Most bytes. Default: all. Text that is cut within a character is refused. */
  length: Type.Optional(Count),
  /** Lines instead of bytes, counted from 1, including the last. Default: all. */
  lines: Type.Optional(Type.Object({ from: Type.Optional(Positive), to: Type.Optional(Positive) })),
  /**
   * The end of the file instead: its last lines or bytes. A text in bytes begins with a whole character. Of a file of
   * more than 1 MB, only the end is read. Excludes `offset`, `length` and `lines`. Default: all.
   */
  tail: Type.Optional(
    Type.Refine(
      Type.Object({ lines: Type.Optional(Positive), bytes: Type.Optional(Positive) }),
      ({ lines, bytes }) => (lines === undefined) !== (bytes === undefined),
      () => 'must have one of "lines" and "bytes"',
    ),
  ),
});
export type ReadRequest = Static<typeof ReadRequest>;

const about = {
  /** The size of the whole file, in bytes. */
  size: Count,
  /** The etag of the whole file. Left out for a part of a file of more than 1 MB. */
  etag: Type.Optional(Etag),
  /** With `lines`: the first and the last line in the reply, and the total if the end of the file was seen. */
  lines: Type.Optional(Type.Object({ from: Positive, to: Count, total: Type.Optional(Count) })),
  /** With `tail`: its start in the file, in bytes. */
  offset: Type.Optional(Count),
};
/** The reply to a read. `content` is a string unless bytes were requested. */
export const ReadReply = Type.Union([
  Type.Object({
    encoding: Type.Union([Type.Literal("utf8"), Type.Literal("base64")]),
    content: Type.String(),
    ...about,
  }),
  Type.Object({ encoding: Type.Literal("bytes"), content: Bytes, ...about }),
]);
export type ReadReply = Static<typeof ReadReply>;

/** A readMany request: up to 100 reads. The actor's `maxReadBytes` bounds all contents together. */
export const ReadManyRequest = Type.Object({ reads: Type.Array(ReadRequest, { minItems: 1, maxItems: 100 }) });
export type ReadManyRequest = Static<typeof ReadManyRequest>;

/** The outcome of each read, in order. A refused read does not stop the others. */
export const ReadManyReply = Type.Array(outcome(ReadReply));
export type ReadManyReply = Static<typeof ReadManyReply>;

/** A readStream request. */
export const ReadStreamRequest = requestOf({
  path: Path,
  /** Default: `"bytes"`. A character that is cut between two chunks stays whole. */
  encoding: Type.Optional(Encoding),
  /** The first byte. Default: 0. */
  offset: Type.Optional(Count),
  /** Most bytes. Default: all that the file has when it is opened. */
  length: Type.Optional(Count),
  /** Most bytes of one item, from 1 KB to 4 MB. Default: 128 KB. */
  chunkBytes: Type.Optional(Type.Integer({ minimum: 1_024, maximum: 4_194_304 })),
});
export type ReadStreamRequest = Static<typeof ReadStreamRequest>;

/** An entry of a list. */
export const Entry = Type.Object({
  /** The path below the root, as requests take it. */
  path: Type.String(),
  kind: Kind,
  /** The size of a file in bytes, with `details`. */
  size: Type.Optional(Count),
  /** The time of its last change of content, in milliseconds since 1970, with `details`. */
  modified: Type.Optional(Type.Number()),
});
export type Entry = Static<typeof Entry>;

/** A list request. */
export const ListRequest = requestOf({
  /** Default: the root. */
  path,
  /** True also lists everything in its directories. Default: false. */
  recursive: flag,
  /**
   * Gives only matching paths below the directory, such as `**\/*.ts`. Directories on the way need not match. Default:
   * all.
   */
  glob: Type.Optional(Type.String()),
  /** True leaves out `.git` and everything that the `.gitignore` files below the root ignore. Default: false. */
  gitignore: flag,
  /** True adds size and time, which costs a system call for each entry. Default: false. */
  details: flag,
  /** Most entries in one page. Default and most: the actor's `maxEntries`. */
  limit: Type.Optional(Positive),
  /** The `cursor` of the previous page. Default: the first page. */
  cursor: Type.Optional(Type.String()),
});
export type ListRequest = Static<typeof ListRequest>;

/** Sorted by the UTF-16 code units of the names, each directory before its entries. */
export const ListReply = Type.Object({
  entries: Type.Array(Entry),
  /** The cursor of the next page. Left out on the last one. */
  cursor: Type.Optional(Type.String()),
  /**
   * The number of names that no path can say (not UTF-8, or too deep) and of unreadable directories. Each counts on the
   * first page of its directory. Left out if zero.
   */
  leftOut: Type.Optional(Count),
});
export type ListReply = Static<typeof ListReply>;

/** The reply to a stat. */
export const StatReply = Type.Object({
  kind: Kind,
  /** The size in bytes; 0 unless it is a file. */
  size: Count,
  /** The time of its last change of content, in milliseconds since 1970. */
  modified: Type.Number(),
  /** Permission bits, such as 0o644. */
  mode: Count,
});
export type StatReply = Static<typeof StatReply>;

/** A request that consists of a path. */
export const PathRequest = Type.Object({ path: Path });
export type PathRequest = Static<typeof PathRequest>;
