import { type Static, Type } from "../../../index";
import { Bytes, Count, Encoding, Etag, flag, Kind, outcome, Path, Positive, path } from "./terms";

/** What a read asks for. */
export const ReadRequest = Type.Object({
  path: Path,
  /** How the content comes: as text, as base64, or as a Uint8Array. Default: `"utf8"`. */
  encoding: Type.Optional(Encoding),
  /** The first byte. Default: 0. */
  offset: Type.Optional(Count),
  /** Most bytes. Default: all. A character that is cut is no text. */
  length: Type.Optional(Count),
  /** Lines instead of bytes, counted from 1, the last one included. Default: all. */
  lines: Type.Optional(Type.Object({ from: Type.Optional(Positive), to: Type.Optional(Positive) })),
  /**
   * The end of the file instead: its last lines, or its last bytes, of which a text begins with a whole character. The rest of
   * a file of more than 1 MB is not read. Not together with `offset`, `length` or `lines`. Default: all.
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
  /** Of the whole file, in bytes. */
  size: Count,
  /** Of the whole file. Left out where a part of a file of more than 1 MB was read. */
  etag: Type.Optional(Etag),
  /** With `lines`: the first and the last line that came, and how many the file has if its end was seen. */
  lines: Type.Optional(Type.Object({ from: Positive, to: Count, total: Type.Optional(Count) })),
  /** With `tail`: where in the file it begins, in bytes. */
  offset: Type.Optional(Count),
};
/** What was read; `content` is a string unless bytes were asked for. */
export const ReadReply = Type.Union([
  Type.Object({
    encoding: Type.Union([Type.Literal("utf8"), Type.Literal("base64")]),
    content: Type.String(),
    ...about,
  }),
  Type.Object({ encoding: Type.Literal("bytes"), content: Bytes, ...about }),
]);
export type ReadReply = Static<typeof ReadReply>;

/** What a readMany asks for: up to 100 reads. All their contents together are bounded by the actor's `maxReadBytes`. */
export const ReadManyRequest = Type.Object({ reads: Type.Array(ReadRequest, { minItems: 1, maxItems: 100 }) });
export type ReadManyRequest = Static<typeof ReadManyRequest>;

/** For each read, in their order, what was read or why not: one that is refused does not keep the others from being done. */
export const ReadManyReply = Type.Array(outcome(ReadReply));
export type ReadManyReply = Static<typeof ReadManyReply>;

/** What a readStream asks for. */
export const ReadStreamRequest = Type.Object({
  path: Path,
  /** Default: `"bytes"`. A character that is cut between two chunks stays whole. */
  encoding: Type.Optional(Encoding),
  /** The first byte. Default: 0. */
  offset: Type.Optional(Count),
  /** Most bytes. Default: all that was there when it was opened. */
  length: Type.Optional(Count),
  /** Most bytes of one item, from 1 KB to 4 MB. Default: 128 KB. */
  chunkBytes: Type.Optional(Type.Integer({ minimum: 1_024, maximum: 4_194_304 })),
});
export type ReadStreamRequest = Static<typeof ReadStreamRequest>;

/** What a list says of each name. */
export const Entry = Type.Object({
  /** Below the root, as other requests take it. */
  path: Type.String(),
  kind: Kind,
  /** In bytes; with `details`, of files. */
  size: Type.Optional(Count),
  /** When its content changed, in milliseconds since 1970; with `details`. */
  modified: Type.Optional(Type.Number()),
});
export type Entry = Static<typeof Entry>;

/** What a list asks for. */
export const ListRequest = Type.Object({
  /** Default: the root. */
  path,
  /** Whether what is in its directories is listed too. Default: false. */
  recursive: flag,
  /** Only what matches below the directory, such as `**\/*.ts`; directories on the way need not. Default: all. */
  glob: Type.Optional(Type.String()),
  /** Whether `.git` is left out, and what the `.gitignore` files below the root ignore, as in a search. Default: false. */
  gitignore: flag,
  /** Whether size and time are looked up, which costs a system call each. Default: false. */
  details: flag,
  /** Most entries in one page. Default and most: the actor's `maxEntries`. */
  limit: Type.Optional(Positive),
  /** The `cursor` of the page before. Default: the first page. */
  cursor: Type.Optional(Type.String()),
});
export type ListRequest = Static<typeof ListRequest>;

/** Sorted by the UTF-16 code units of the names, a directory before what is in it. */
export const ListReply = Type.Object({
  entries: Type.Array(Entry),
  /** For the next page; left out on the last one. */
  cursor: Type.Optional(Type.String()),
  /**
   * How many names are not shown, because no path can say them (they are not UTF-8, or too far down), or a directory may
   * not be read; each on the page that comes to its directory first. Left out where there are none.
   */
  leftOut: Type.Optional(Count),
});
export type ListReply = Static<typeof ListReply>;

/** What a stat tells. */
export const StatReply = Type.Object({
  kind: Kind,
  /** In bytes; 0 for what is no file. */
  size: Count,
  /** When its content changed, in milliseconds since 1970. */
  modified: Type.Number(),
  /** Permission bits, such as 0o644. */
  mode: Count,
});
export type StatReply = Static<typeof StatReply>;

/** A request that is all said by a path. */
export const PathRequest = Type.Object({ path: Path });
export type PathRequest = Static<typeof PathRequest>;
