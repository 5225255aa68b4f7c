import { Volume as Memory, memfs } from "memfs";
import type { AskError, Result } from "../../src";
import {
  EditRequest,
  type Entry,
  type FileError,
  type FileSystemOptions,
  type FileSystemRef,
  type ReadReply,
  ReadRequest,
  resultOf,
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
