import { Volume as Memory, memfs } from "memfs";
import {
  type AnyRef,
  type AskError,
  defineProtocol,
  type ReplyOf,
  type Result,
  type SignaturesOf,
  type System,
  Type,
} from "../../src";
import {
  Change,
  Changed,
  ChangeReply,
  CodeInspection,
  CopyReply,
  Difference,
  EditReply,
  EditRequest,
  Entry,
  ExecuteItem,
  ExecuteReply,
  FileError,
  type FileSystemOptions,
  type FileSystemRef,
  Inspection,
  ListReply,
  outcomeSchema,
  ReadManyReply,
  ReadReply,
  ReadRequest,
  resultOf,
  SearchItem,
  StatReply,
  spawnCodeExecution,
  spawnFetch,
  spawnProgram,
  type ToolReply,
  type Tools,
  toolsFor,
  typesFor,
  type Volume,
  WatchItem,
  WriteReply,
  WriteRequest,
} from "../../src/tools";
import { type Equal, expectType } from "./expect";

// What memfs makes is a volume as it is.
export const volumes: Volume[] = [Memory.fromJSON({}), memfs({}).fs, memfs({}).vol];
export const options: FileSystemOptions = { root: "/", volume: Memory.fromJSON({}) };

// Requests are values, for the definitions of an agent's tools, and types of the same name.
export const tools = { read: ReadRequest, write: WriteRequest, edit: EditRequest };
// So are replies, for a protocol that passes them on.
export const Library = defineProtocol("library", {
  page: { payload: ReadRequest, reply: outcomeSchema(ReadReply, FileError) },
  pages: { reply: outcomeSchema(ListReply, FileError) },
  found: { stream: outcomeSchema(SearchItem, FileError) },
  others: {
    reply: Type.Union([ChangeReply, CopyReply, Difference, EditReply, Entry, Inspection, StatReply, WatchItem]),
  },
  ran: { reply: Type.Union([CodeInspection, ExecuteReply, ExecuteItem, WriteReply, ReadManyReply, Change, Changed]) },
});
expectType<Equal<ReplyOf<SignaturesOf<typeof Library>, "page">, ToolReply<ReadReply, FileError>>>();
export async function listed(files: FileSystemRef, request: ReadRequest): Promise<Entry[]> {
  const read = resultOf(await files.ask("read", request));
  expectType<Equal<typeof read, Result<ReadReply, FileError | AskError>>>();
  const list = resultOf(await files.ask("list", {}));
  return list.isOk() ? list.value.entries : [];
}

// Code is granted operations that its tools have.
export function granted(system: System, files: FileSystemRef, apart: Tools, names: string[]): void {
  spawnCodeExecution(system, { tools: { files, some: { ref: files, operations: ["read", "readStream"] } } });
  spawnCodeExecution(system, { tools: apart });
  spawnCodeExecution(system, { tools: { files: { ref: files, operations: names } } });
  spawnCodeExecution(system, { tools: { files: { ref: files as AnyRef, operations: ["reed"] } } });
  spawnProgram(system, "p", "1", { tools: { files: { ref: files, operations: ["read"] } } });
  typesFor({ files: { ref: files, operations: ["read"] } });
  // @ts-expect-error — a misspelt operation
  spawnCodeExecution(system, { tools: { files: { ref: files, operations: ["reed"] } } });
  // @ts-expect-error — a misspelt operation beside others
  spawnProgram(system, "p", "1", { tools: { files, some: { ref: files, operations: ["read", "reed"] } } });
  // @ts-expect-error — a misspelt operation
  typesFor({ files: { ref: files, operations: ["reed"] } });
  toolsFor({ files: { ref: files, operations: ["read"] } }, { format: "openai" }).declarations[0]?.function.parameters;
  toolsFor({ files }, { format: "anthropic" }).declarations[0]?.input_schema;
  // @ts-expect-error — a misspelt operation
  toolsFor({ files: { ref: files, operations: ["reed"] } }, { format: "openai" });
  // @ts-expect-error — a misspelt format
  toolsFor({ files }, { format: "open-ai" });
  // @ts-expect-error — a format's own field
  toolsFor({ files }, { format: "openai" }).declarations[0]?.input_schema;
  spawnFetch(system, { allow: ["https://a.test/*", { url: "https://b.test/*", methods: ["GET", "POST"] }] });
  // @ts-expect-error — a method in small letters
  spawnFetch(system, { allow: [{ url: "https://b.test/*", methods: ["post"] }] });
  // @ts-expect-error — a misspelt option beside tools
  spawnCodeExecution(system, { tools: { files }, isolaton: "trusted" });
}
