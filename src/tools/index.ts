export type { Approval, ApprovalRequest, Approve } from "./code/approval";
export { CodeError, LogEntry } from "./code/code-error";
export { spawnCodeExecution } from "./code/code-execution";
export type { Language } from "./code/language";
export type { CodeExecutionOptions } from "./code/options";
export { ProgramError } from "./code/program/program-error";
export { Program, type ProgramOptions, spawnProgram } from "./code/program/spawn-program";
export {
  CheckRequest,
  CodeExecution,
  type CodeExecutionRef,
  type CodeInspection,
  type ExecuteItem,
  type ExecuteReply,
  ExecuteRequest,
  RunRequest,
  SessionRequest,
} from "./code/protocol";
export { runCode } from "./code/run-code";
export type { Isolation } from "./code/tier";
export type { ToolLimits } from "./code/tools/tool-limits";
export type { KnownTools, ToolGrant, Tools } from "./code/tools/tool-set";
export { typesFor } from "./code/tools/types-for";
export { FileError } from "./files/file-error";
export { spawnFileSystem } from "./files/file-system";
export type { FileSystemOptions } from "./files/options";
export { FileSystem, type FileSystemRef, type Inspection } from "./files/protocol";
export {
  AppendRequest,
  BeginWriteRequest,
  type CopyReply,
  DeleteRequest,
  MakeDirectoryRequest,
  MoveRequest,
  type WriteReply,
  WriteRequest,
} from "./files/requests/changing";
export { type EditReply, EditRequest } from "./files/requests/editing";
export {
  type Entry,
  type ListReply,
  ListRequest,
  PathRequest,
  type ReadManyReply,
  ReadManyRequest,
  type ReadReply,
  ReadRequest,
  ReadStreamRequest,
  type StatReply,
} from "./files/requests/reading";
export { type SearchItem, SearchRequest } from "./files/requests/searching";
export { type Change, type Changed, type ChangeReply, ChangeRequest } from "./files/requests/several";
export type { Difference } from "./files/requests/terms";
export { type WatchItem, WatchRequest } from "./files/requests/watching";
export { type FileReply, FileSystemError, isFileError, itemsOf, writeStream } from "./files/result";
export type { Resolution } from "./files/root/root";
export type { Volume, VolumeStats } from "./files/root/volume";
export { createQuota, type FileQuota } from "./files/write/shared-quota";
export { resultOf, type ToolReply } from "./reply";
