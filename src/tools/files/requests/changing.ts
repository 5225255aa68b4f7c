import { type Static, Type } from "../../../index";
import { Count, content, Etag, flag, Path } from "./terms";

export const written = {
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

export const Upload = Type.Object({ upload: Type.String({ description: "What beginWrite replied." }) });

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
