import type { TSchema } from "typebox";
import { defineProtocol, type RefTo, type Static, Type } from "../../index";
import { outcomeSchema } from "../reply";
import { FileError } from "./file-error";

const Count = Type.Integer({ minimum: 0 });
const Positive = Type.Integer({ minimum: 1 });
const flag = Type.Optional(Type.Boolean());
const Path = Type.String({
  description: "Below the root, with slashes: src/main.ts. The root itself is an empty text or a dot.",
});
const path = Type.Optional(Path);
const Bytes = Type.Refine(
  Type.Unsafe<Uint8Array>({}),
  (value) => value instanceof Uint8Array,
  () => "must be a string or a Uint8Array", // Seen of a content, of which it is one of two.
);

/** A reply that is what was asked for, or why it could not be done; `resultOf` makes one Result of both. */
const outcome = <Value extends TSchema>(value: Value) => outcomeSchema(value, FileError);

const Kind = Type.Union([
  Type.Literal("file"),
  Type.Literal("directory"),
  Type.Literal("link", { description: "A symbolic link, which is shown and never followed." }),
  Type.Literal("other", { description: "A FIFO, a socket or a device." }),
]);

const Encoding = Type.Union([Type.Literal("utf8"), Type.Literal("base64"), Type.Literal("bytes")]);
const Content = Type.Union([Type.String(), Bytes]);
const content = {
  content: Content,
  /** Of a content that is a string. Default: `"utf8"`. */
  encoding: Type.Optional(Type.Union([Type.Literal("utf8"), Type.Literal("base64")])),
};
const Etag = Type.String({
  description: "Stands for the content of a file: two files of one etag have the same bytes.",
});

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
});
export type ReadRequest = Static<typeof ReadRequest>;

const about = {
  /** Of the whole file, in bytes. */
  size: Count,
  /** Of the whole file. Left out where a part of a file of more than 1 MB was read. */
  etag: Type.Optional(Etag),
  /** With `lines`: the first and the last line that came, and how many the file has if its end was seen. */
  lines: Type.Optional(Type.Object({ from: Positive, to: Count, total: Type.Optional(Count) })),
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

const written = {
  /** Whether it is on the disk before the reply, also through a loss of power. Default: false. */
  durable: flag,
  /** The etag of an earlier read: refused as `changed` if the file is another one now. Default: not looked at. */
  ifMatch: Type.Optional(Etag),
};

/** What a write asks for: the whole content of a file. */
export const WriteRequest = Type.Object({
  path: Path,
  ...content,
  ...written,
  /** Whether a file that exists is replaced. Default: `"replace"`. */
  ifExists: Type.Optional(Type.Union([Type.Literal("replace"), Type.Literal("fail")])),
  /** Writes into the file itself: faster, and torn if the process ends meanwhile. Default: false, whole or not at all. */
  inPlace: flag,
  /** Whether missing directories on the way are made. Default: true. */
  parents: flag,
});
export type WriteRequest = Static<typeof WriteRequest>;

/** What was written. */
export const WriteReply = Type.Object({
  /** Of the whole file, in bytes. */
  size: Count,
  /** Of the file as it is now, for the next `ifMatch`. */
  etag: Etag,
  /** Whether there was no such file before. */
  created: Type.Boolean(),
});
export type WriteReply = Static<typeof WriteReply>;

/** What an append asks for: a content that comes after all that a file has. The file is made where it is missing. */
export const AppendRequest = Type.Object({
  path: Path,
  ...content,
  durable: written.durable,
  /** Whether missing directories on the way are made. Default: true. */
  parents: flag,
});
export type AppendRequest = Static<typeof AppendRequest>;

/** What an edit asks for: to replace texts of a file. */
export const EditRequest = Type.Object({
  path: Path,
  /** At most 1,000, made in their order, all of them or none; each sees what those before it made. */
  edits: Type.Array(
    Type.Object({
      /** A text that occurs once. Line ends may be `\n` whatever those of the file are. */
      oldText: Type.String({ minLength: 1 }),
      newText: Type.String(),
    }),
    { minItems: 1, maxItems: 1_000 },
  ),
  ...written,
});
export type EditRequest = Static<typeof EditRequest>;

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

/** What a mkdir asks for: a directory, which may be there already. */
export const MakeDirectoryRequest = Type.Object({
  path: Path,
  /** Whether missing directories on the way are made. Default: true. */
  parents: flag,
});
export type MakeDirectoryRequest = Static<typeof MakeDirectoryRequest>;

/** What a move or a copy asks for. A directory never replaces, nor is replaced. */
export const MoveRequest = Type.Object({
  from: Path,
  to: Path,
  /** Whether a file that has the new name already is replaced. Default: `"fail"`. */
  ifExists: Type.Optional(Type.Union([Type.Literal("replace"), Type.Literal("fail")])),
  /** Whether missing directories on the way are made. Default: true. */
  parents: flag,
});
export type MoveRequest = Static<typeof MoveRequest>;

/** A directory is copied with all that is in it; links and special files in it are left out, and counted. */
export const CopyReply = Type.Object({
  /** Files that were copied, and the bytes of them all. */
  files: Count,
  bytes: Count,
  leftOut: Count,
});
export type CopyReply = Static<typeof CopyReply>;

/** What a delete asks for. */
export const DeleteRequest = Type.Object({
  path: Path,
  /** Whether a directory goes with all that is in it. Links are removed, and not followed. Default: false. */
  recursive: flag,
});
export type DeleteRequest = Static<typeof DeleteRequest>;

/** What a search looks for, and where. */
export const SearchRequest = Type.Refine(
  Type.Object({
    /** The directory, or one file. Default: the root. */
    path,
    /** An exact text, of the case that it has… */
    text: Type.Optional(Type.String({ minLength: 1 })),
    /**
     * …or a regular expression of JavaScript's; one of the two. It is matched line by line, in a time that grows with the text and
     * no faster, and so has no references to groups, and does not look ahead or behind.
     */
    pattern: Type.Optional(Type.String({ minLength: 1 })),
    /** Whether a letter stands for its other case too. Default: false. */
    ignoreCase: flag,
    /** Only files whose path below the directory matches, such as `**\/*.ts`. Default: all. */
    glob: Type.Optional(Type.String()),
    /** Most lines. Default: 1,000, and 10,000 at most. */
    maxResults: Type.Optional(Positive),
  }),
  (request) => (request.text === undefined) !== (request.pattern === undefined),
  () => 'must have one of "text" and "pattern"',
);
export type SearchRequest = Static<typeof SearchRequest>;

/** A line that matches, in the order of the paths; or the last item, which says what was looked at. */
export const SearchItem = Type.Union([
  Type.Object({
    kind: Type.Literal("match"),
    /** Below the root. */
    path: Type.String(),
    line: Positive,
    /** Where its first match begins, from 1, in letters as JavaScript counts them. */
    column: Positive,
    /** The line, or 200 characters of it around the match. */
    excerpt: Type.String(),
  }),
  Type.Object({
    kind: Type.Literal("end"),
    /** Files that were searched. */
    files: Count,
    /** Files that were not: larger than the actor reads, no text, or not readable. */
    skipped: Count,
    /** Whether there may be more: it ended because of `maxResults`, or of the actor's `maxEntries`. */
    isCut: Type.Boolean(),
  }),
]);
export type SearchItem = Static<typeof SearchItem>;

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

/** What a watch asks for. */
export const WatchRequest = Type.Object({
  /** The directory. Default: the root. */
  path,
  /** Whether what is in its directories is watched too. Default: true. */
  recursive: flag,
  /** Only what matches, by its path below the directory, such as `**\/*.ts`. Default: all. */
  glob: Type.Optional(Type.String()),
});
export type WatchRequest = Static<typeof WatchRequest>;

/**
 * What happened to a path; `ready` comes first, and `overflow` says that more happened in a directory than is told: list it
 * again. Several changes that are not read yet are one. What is renamed is deleted and created, a directory with all
 * that is in it; what replaces another file, as each write of this actor does, changes it. Where the directory itself
 * is deleted, moved or replaced, that is told as deleted and the stream ends with `not-found`.
 */
export const WatchItem = Type.Object({
  kind: Type.Union([
    Type.Literal("ready"),
    Type.Literal("created"),
    Type.Literal("changed"),
    Type.Literal("deleted"),
    Type.Literal("overflow"),
  ]),
  /** Below the root. */
  path: Type.String(),
});
export type WatchItem = Static<typeof WatchItem>;

const Upload = Type.Object({ upload: Type.String({ description: "What beginWrite replied." }) });

/** What a file that is written in pieces is to be. */
export const BeginWriteRequest = Type.Object({
  path: Path,
  ...written,
  /** Whether a file that exists is replaced. Default: `"replace"`. */
  ifExists: Type.Optional(Type.Union([Type.Literal("replace"), Type.Literal("fail")])),
  /** Whether missing directories on the way are made. Default: true. */
  parents: flag,
});
export type BeginWriteRequest = Static<typeof BeginWriteRequest>;

/** How a file actor serves, and what it has under way. */
export const Inspection = Type.Object({
  /** How paths are resolved. */
  resolution: Type.Union([Type.Literal("openat2"), Type.Literal("proc-fd"), Type.Literal("memory")]),
  readOnly: Type.Boolean(),
  limits: Type.Object({
    maxReadBytes: Count,
    maxWriteBytes: Count,
    maxEntries: Count,
    /** Left out where there is no quota. */
    quotaBytes: Type.Optional(Count),
  }),
  /** Bytes below the root; left out where there is no quota. */
  usedBytes: Type.Optional(Count),
  /** Files that are being written in pieces. */
  uploads: Count,
});
export type Inspection = Static<typeof Inspection>;

const streams = {
  search: { payload: SearchRequest, stream: outcome(SearchItem) },
  readStream: { payload: ReadStreamRequest, stream: outcome(Content) },
  watch: { payload: WatchRequest, stream: outcome(WatchItem) },
};

/** The part of it that lasts. */
export const FileStreams = defineProtocol("file-streams", streams);

/** What a file actor can be asked. Each reply is `{ ok: true, value }` or `{ ok: false, error }`; so is each item of its streams. */
export const FileSystem = defineProtocol("file-system", {
  read: { payload: ReadRequest, reply: outcome(ReadReply) },
  write: { payload: WriteRequest, reply: outcome(WriteReply) },
  append: { payload: AppendRequest, reply: outcome(Type.Object({ size: Count })) },
  edit: { payload: EditRequest, reply: outcome(WriteReply) },
  list: { payload: ListRequest, reply: outcome(ListReply) },
  stat: { payload: PathRequest, reply: outcome(StatReply) },
  exists: { payload: PathRequest, reply: outcome(Type.Boolean()) },
  mkdir: { payload: MakeDirectoryRequest, reply: outcome(Type.Object({ created: Type.Boolean() })) },
  move: { payload: MoveRequest, reply: outcome(Type.Object({})) },
  copy: { payload: MoveRequest, reply: outcome(CopyReply) },
  delete: { payload: DeleteRequest, reply: outcome(Type.Object({ deleted: Count })) },
  ...streams,
  /**
   * Begins a file that is written in pieces; it is there once `finishWrite` has replied, and not before. What it must
   * not be, or must be, is looked at then. At most 64 are begun at once, and one for which nothing comes for five
   * minutes is given up.
   */
  beginWrite: { payload: BeginWriteRequest, reply: outcome(Upload) },
  /**
   * Writes the next bytes, after those that were asked for before, and replies how many there are. One that is refused
   * ends the upload: what would come after it would come after a gap.
   */
  writeChunk: {
    payload: Type.Object({ ...Upload.properties, ...content }),
    reply: outcome(Type.Object({ size: Count })),
  },
  /** Gives the file its name; where that is refused, nothing is left of it. */
  finishWrite: { payload: Upload, reply: outcome(WriteReply) },
  abortWrite: { payload: Upload, reply: outcome(Type.Object({})) },
  inspect: { reply: outcome(Inspection) },
});

/** A reference to a file actor. */
export type FileSystemRef = RefTo<typeof FileSystem>;
