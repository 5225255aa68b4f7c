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
/** How a file actor serves, and what it has under way. */
export const Inspection = Type.Object({
  /** How paths are resolved. */
  resolution: Type.Union([Type.Literal("openat2"), Type.Literal("proc-fd"), Type.Literal("memory")]),
  readOnly: Type.Boolean(),
  limits: Type.Object({
    maxReadBytes: Count,
    maxWriteBytes: Count,
    maxEntries: Count,
    /** The actor's own; left out where it has none. `FileQuota.limits` tells those that it shares. */
    quotaBytes: Type.Optional(Count),
    quotaFiles: Type.Optional(Count),
  }),
  /** Bytes, and files and directories, below its root, by the last count; left out where there is no quota at all. */
  usedBytes: Type.Optional(Count),
  usedFiles: Type.Optional(Count),
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
  /** Reads several files, one after the other; others may change one while another is read. */
  readMany: { payload: ReadManyRequest, reply: outcome(ReadManyReply) },
  write: { payload: WriteRequest, reply: outcome(WriteReply) },
  append: { payload: AppendRequest, reply: outcome(Type.Object({ size: Count })) },
  edit: { payload: EditRequest, reply: outcome(EditReply) },
  /**
   * Changes several files, all of them or none: all are checked and staged before the first one is placed, and a failure takes
   * back those that were. A process that is killed in between may leave some of them done, each of them whole.
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
