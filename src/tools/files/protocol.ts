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
/** How a file actor serves its root, and the work under way. */
export const Inspection = Type.Object({
  /** How paths are resolved. */
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

const streams = {
  search: { payload: SearchRequest, stream: outcome(SearchItem) },
  readStream: { payload: ReadStreamRequest, stream: outcome(Content) },
  watch: { payload: WatchRequest, stream: outcome(WatchItem) },
};

/** The operations that last. */
export const FileStreams = defineProtocol("file-streams", streams);

/**
 * The operations of a file actor. Each reply, and each item of a stream, is `{ ok: true, value }` or `{ ok: false,
 * error }`.
 */
export const FileSystem = defineProtocol("file-system", {
  read: { payload: ReadRequest, reply: outcome(ReadReply) },
  /** Reads several files one after the other. Other writers may change a file meanwhile. */
  readMany: { payload: ReadManyRequest, reply: outcome(ReadManyReply) },
  write: { payload: WriteRequest, reply: outcome(WriteReply) },
  append: { payload: AppendRequest, reply: outcome(Type.Object({ size: Count })) },
  edit: { payload: EditRequest, reply: outcome(EditReply) },
  /**
   * Changes several files, all or none. All are checked and staged before the first is placed, and a failure takes the
   * placed ones back. A process killed in between may leave some of them changed, each of them whole.
   */
  change: { payload: ChangeRequest, reply: outcome(ChangeReply) },
  list: { payload: ListRequest, reply: outcome(ListReply) },
  stat: { payload: PathRequest, reply: outcome(StatReply) },
  exists: { payload: PathRequest, reply: outcome(Type.Boolean()) },
  mkdir: { payload: MakeDirectoryRequest, reply: outcome(Type.Object({ created: Type.Boolean() })) },
  move: { payload: MoveRequest, reply: outcome(Type.Object({})) },
  copy: { payload: MoveRequest, reply: outcome(CopyReply) },
  delete: { payload: DeleteRequest, reply: outcome(Type.Object({ deleted: Count })) },
  ...streams,
  /**
   * Begins a file that is written in pieces. It appears when `finishWrite` replies, and its conditions are checked
   * then. At most 64 uploads run at once. An upload is given up after five minutes without a request.
   */
  beginWrite: { payload: BeginWriteRequest, reply: outcome(Upload) },
  /**
   * Writes the next bytes, in the order of the requests, and replies with the number of bytes so far. A refusal ends
   * the upload, since a later piece would leave a gap.
   */
  writeChunk: {
    payload: Type.Object({ ...Upload.properties, ...content }),
    reply: outcome(Type.Object({ size: Count })),
  },
  /** Places the file under its name. A refusal removes all of it. */
  finishWrite: { payload: Upload, reply: outcome(WriteReply) },
  abortWrite: { payload: Upload, reply: outcome(Type.Object({})) },
  inspect: { reply: outcome(Inspection) },
});

/** A ref to a file actor. */
export type FileSystemRef = RefTo<typeof FileSystem>;
