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
  CodeInspection,
  ExecuteItem,
  ExecuteReply,
  ExecuteRequest,
  RunRequest,
  SessionRequest,
} from "./code/protocol";
export { runCode } from "./code/run-code";
export type { Isolation } from "./code/tier";
export type { ToolLimits } from "./code/tools/tool-limits";
export type { KnownTools, ToolGrant, Tools } from "./code/tools/tool-set";
export { typesFor } from "./code/tools/types-for";
export { FetchError } from "./fetch/fetch-error";
export type { FetchMethod } from "./fetch/methods";
export type { FetchOptions, FetchRule, ResolveHost } from "./fetch/options";
export {
  Fetch,
  FetchGetRequest,
  FetchItem,
  type FetchRef,
  FetchReply,
  FetchRequest,
  FetchStreamRequest,
} from "./fetch/protocol";
export { spawnFetch } from "./fetch/spawn-fetch";
export { FileError } from "./files/file-error";
export { spawnFileSystem } from "./files/file-system";
export type { FileSystemOptions } from "./files/options";
export { FileSystem, type FileSystemRef, Inspection } from "./files/protocol";
export {
  AppendRequest,
  BeginWriteRequest,
  CopyReply,
  DeleteRequest,
  MakeDirectoryRequest,
  MoveRequest,
  WriteReply,
  WriteRequest,
} from "./files/requests/changing";
export { EditReply, EditRequest } from "./files/requests/editing";
export {
  Entry,
  ListReply,
  ListRequest,
  PathRequest,
  ReadManyReply,
  ReadManyRequest,
  ReadReply,
  ReadRequest,
  ReadStreamRequest,
  StatReply,
} from "./files/requests/reading";
export { SearchItem, SearchRequest } from "./files/requests/searching";
export { Change, Changed, ChangeReply, ChangeRequest } from "./files/requests/several";
export { Difference } from "./files/requests/terms";
export { WatchItem, WatchRequest } from "./files/requests/watching";
export { type FileReply, FileSystemError, isFileError, itemsOf, writeStream } from "./files/result";
export type { Resolution } from "./files/root/root";
export type { Volume, VolumeStats } from "./files/root/volume";
export { createQuota, type FileQuota } from "./files/write/shared-quota";
export type { CallOptions, CallResult, ToolFailure } from "./models/call-tool";
export {
  type AnthropicTool,
  type ModelTools,
  type OpenAiTool,
  type ToolFormat,
  type ToolsForOptions,
  toolsFor,
} from "./models/tools-for";
export { outcomeSchema, resultOf, type ToolReply } from "./reply";
