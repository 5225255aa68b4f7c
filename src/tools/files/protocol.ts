import { defineProtocol, type RefTo, type Static, Type } from "../../index";
import {
  AppendRequest,
  BeginWriteRequest,
  CopyReply,
  DeleteRequest,
  MakeDirectoryRequest,
  MoveRequest,
  Upload,
  WriteReply,
  WriteRequest,
} from "./requests/changing";
import { EditReply, EditRequest } from "./requests/editing";
import {
  ListReply,
  ListRequest,
  PathRequest,
  ReadManyReply,
  ReadManyRequest,
  ReadReply,
  ReadRequest,
  ReadStreamRequest,
  StatReply,
} from "./requests/reading";
import { SearchItem, SearchRequest } from "./requests/searching";
import { ChangeReply, ChangeRequest } from "./requests/several";
import { Content, Count, content, outcome } from "./requests/terms";
import { WatchItem, WatchRequest } from "./requests/watching";
/** The way in which a file actor serves its root, and the work under way. */
export const Inspection = Type.Object({
  /** The way in which paths are resolved. */
  resolution: Type.Union([Type.Literal("openat2"), Type.Literal("proc-fd"), Type.Literal("memory")]),
  readOnly: Type.Boolean(),
  limits: Type.Object({
    maxReadBytes: Count,
    maxWriteBytes: Count,
    maxEntries: Count,
    /** The actor's own quota, left out if there is none. `FileQuota.limits` has the shared bounds. */
    quotaBytes: Type.Optional(Count),
    quotaFiles: Type.Optional(Count),
  }),
  /** Bytes, and files and directories, below its root by the last count. Left out without any quota. */
  usedBytes: Type.Optional(Count),
  usedFiles: Type.Optional(Count),
  /** The number of uploads under way. */
  uploads: Count,
});
export type Inspection = Static<typeof Inspection>;

const reads = { hints: { readOnly: true } };
const adds = { hints: { destructive: false } };
const replaces = { hints: { destructive: true } };

const streams = {
  search: {
    description: "Finds a text or a regular expression in files. The last item says whether there may be more.",
    ...reads,
    payload: SearchRequest,
    stream: outcome(SearchItem),
  },
  readStream: {
    description: "Reads a file in pieces, for files that are too large for read.",
    ...reads,
    payload: ReadStreamRequest,
    stream: outcome(Content),
  },
  watch: {
    description: "Reports the files that are created, changed or deleted below a directory, until the reader leaves.",
    ...reads,
    payload: WatchRequest,
    stream: outcome(WatchItem),
  },
};

/** The operations that last. */
export const FileStreams = defineProtocol("file-streams", streams);

/**
 * The operations of a file actor. Each reply, and each item of a stream, is `{ ok: true, value }` or `{ ok: false,
 * error }`.
 */
export const FileSystem = defineProtocol("file-system", {
  read: {
    description: "Reads a file: all of it, some of its bytes or lines, or its end.",
    ...reads,
    payload: ReadRequest,
    reply: outcome(ReadReply),
  },
  readMany: {
    description: "Reads several files, one after the other. Others may change a file meanwhile.",
    ...reads,
    payload: ReadManyRequest,
    reply: outcome(ReadManyReply),
  },
  write: {
    description: "Writes a whole file. Replaces a file that exists, unless ifExists is fail.",
    hints: { destructive: true, idempotent: true },
    payload: WriteRequest,
    reply: outcome(WriteReply),
  },
  append: {
    description: "Adds content to the end of a file. Makes the file if it is missing.",
    ...adds,
    payload: AppendRequest,
    reply: outcome(Type.Object({ size: Count })),
  },
  edit: {
    description: "Replaces texts or lines of a file. Makes all of the edits or none.",
    ...replaces,
    payload: EditRequest,
    reply: outcome(EditReply),
  },
  /**
   * All changes are checked and staged before the first is placed, and a failure takes the placed ones back. A process
   * killed in between may leave some of the files changed, each of them whole.
   */
  change: {
    description: "Writes, edits, moves and deletes several files. Makes all of the changes or none.",
    ...replaces,
    payload: ChangeRequest,
    reply: outcome(ChangeReply),
  },
  list: {
    description: "Lists a directory, page by page: give the cursor of a page to get the next one.",
    ...reads,
    payload: ListRequest,
    reply: outcome(ListReply),
  },
  stat: {
    description: "Tells the kind, size, time and permissions of a path.",
    ...reads,
    payload: PathRequest,
    reply: outcome(StatReply),
  },
  exists: {
    description: "Tells whether something is at a path.",
    ...reads,
    payload: PathRequest,
    reply: outcome(Type.Boolean()),
  },
  mkdir: {
    description: "Makes a directory. It may exist already.",
    hints: { destructive: false, idempotent: true },
    payload: MakeDirectoryRequest,
    reply: outcome(Type.Object({ created: Type.Boolean() })),
  },
  move: {
    description: "Moves or renames a file or a directory. Replaces a file only if ifExists is replace.",
    ...replaces,
    payload: MoveRequest,
    reply: outcome(Type.Object({})),
  },
  copy: {
    description: "Copies a file, or a directory with everything in it. Replaces a file only if ifExists is replace.",
    ...replaces,
    payload: MoveRequest,
    reply: outcome(CopyReply),
  },
  delete: {
    description: "Deletes a file or an empty directory, or with recursive a directory and everything in it.",
    ...replaces,
    payload: DeleteRequest,
    reply: outcome(Type.Object({ deleted: Count })),
  },
  ...streams,
  /** At most 64 uploads run at once. An upload is given up after five minutes without a request. */
  beginWrite: {
    description: "Begins a file that is written in pieces. It appears when finishWrite replies.",
    ...adds,
    payload: BeginWriteRequest,
    reply: outcome(Upload),
  },
  /** A refusal ends the upload, since a later piece would leave a gap. */
  writeChunk: {
    description: "Writes the next piece of an upload. Replies with the number of bytes so far.",
    ...adds,
    payload: Type.Object({ ...Upload.properties, ...content }),
    reply: outcome(Type.Object({ size: Count })),
  },
  /** The conditions of `beginWrite` are checked now. A refusal removes all of it. */
  finishWrite: {
    description: "Places the file of an upload under its name.",
    ...replaces,
    payload: Upload,
    reply: outcome(WriteReply),
  },
  abortWrite: {
    description: "Gives an upload up, and removes what was written of it.",
    ...adds,
    payload: Upload,
    reply: outcome(Type.Object({})),
  },
  inspect: {
    description: "Tells the limits of these files, what they use, and the work under way.",
    ...reads,
    reply: outcome(Inspection),
  },
});

/** A ref to a file actor. */
export type FileSystemRef = RefTo<typeof FileSystem>;
