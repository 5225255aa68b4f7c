import { type Static, Type } from "../../../index";
import { Count, content, Etag, flag, Path, requestOf } from "./terms";

export const written = {
  /** True replies only once the content is on the disk, safe from a loss of power. Default: false. */
  durable: flag,
  /** The etag of an earlier read. A changed file is refused as `changed`. Default: not checked. */
  ifMatch: Type.Optional(Etag),
};

/** The fate of an existing file: replaced or refused. */
const IfExists = Type.Optional(Type.Union([Type.Literal("replace"), Type.Literal("fail")]));

/** Of each request that may make a file or a directory. */
const onTheWay = {
  /** True makes missing directories on the way. Default: true. */
  parents: flag,
};

/** A write request: the whole content of a file. */
export const WriteRequest = requestOf({
  path: Path,
  ...content,
  ...written,
  /** Replace or refuse an existing file. Default: `"replace"`. */
  ifExists: IfExists,
  /**
   * True writes into the file itself: faster, but torn if the process ends meanwhile. Default: false, whole or not at
   * all.
   */
  inPlace: flag,
  ...onTheWay,
});
export type WriteRequest = Static<typeof WriteRequest>;

/** The reply to a write. */
export const WriteReply = Type.Object({
  /** The size of the whole file, in bytes. */
  size: Count,
  /** The etag of the new file, for the next `ifMatch`. */
  etag: Etag,
  /** True if the file is new. */
  created: Type.Boolean(),
});
export type WriteReply = Static<typeof WriteReply>;

/** An append request: content for the end of a file. A missing file is made. */
export const AppendRequest = requestOf({
  path: Path,
  ...content,
  durable: written.durable,
  ...onTheWay,
});
export type AppendRequest = Static<typeof AppendRequest>;

/** A mkdir request. The directory may exist already. */
export const MakeDirectoryRequest = requestOf({
  path: Path,
  ...onTheWay,
});
export type MakeDirectoryRequest = Static<typeof MakeDirectoryRequest>;

/** A request to move or copy. A directory never replaces anything and is never replaced. */
export const MoveRequest = requestOf({
  from: Path,
  to: Path,
  /** Replace or refuse an existing file at the new name. Default: `"fail"`. */
  ifExists: IfExists,
  ...onTheWay,
});
export type MoveRequest = Static<typeof MoveRequest>;

/** The reply to a copy. A directory is copied with everything in it, except links and special files, which are counted. */
export const CopyReply = Type.Object({
  /** The number of copied files, and their bytes. */
  files: Count,
  bytes: Count,
  leftOut: Count,
});
export type CopyReply = Static<typeof CopyReply>;

/** A delete request. */
export const DeleteRequest = requestOf({
  path: Path,
  /** True deletes a directory with everything in it. Links are removed, not followed. Default: false. */
  recursive: flag,
});
export type DeleteRequest = Static<typeof DeleteRequest>;

export const Upload = Type.Object({ upload: Type.String({ description: "What beginWrite replied." }) });

/** Begins a file that is written in pieces. */
export const BeginWriteRequest = requestOf({
  path: Path,
  ...written,
  /** Replace or refuse an existing file. Default: `"replace"`. */
  ifExists: IfExists,
  ...onTheWay,
});
export type BeginWriteRequest = Static<typeof BeginWriteRequest>;
