import { Volume as Memory, memfs } from "memfs";
import type { AnyRef, AskError, Result, System } from "../../src";
import {
  EditRequest,
  type Entry,
  type FileError,
  type FileSystemOptions,
  type FileSystemRef,
  type ReadReply,
  ReadRequest,
  resultOf,
  spawnCodeExecution,
  spawnProgram,
  type Tools,
  typesFor,
  type Volume,
  WriteRequest,
} from "../../src/tools";
import { type Equal, expectType } from "./expect";

// What memfs makes is a volume as it is.
export const volumes: Volume[] = [Memory.fromJSON({}), memfs({}).fs, memfs({}).vol];
export const options: FileSystemOptions = { root: "/", volume: Memory.fromJSON({}) };

// Requests are values, for the definitions of an agent's tools, and types of the same name.
export const tools = { read: ReadRequest, write: WriteRequest, edit: EditRequest };
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
  // @ts-expect-error — a misspelt option beside tools
  spawnCodeExecution(system, { tools: { files }, isolaton: "trusted" });
}
