import { address, createMessage, parseMessage, serializeMessage } from "../../../../src";
import type { FileError, FileSystemRef } from "../../../../src/tools";
import type { Serving } from "./yard";

/** A file actor's reply. For a stream: the item that refuses, or else all items. */
export type Told = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: FileError };

/** One way of using a path. */
export interface Operation {
  readonly name: string;
  readonly operation: string;
  readonly payload: (path: unknown) => Record<string, unknown>;
  /** The items of a stream that are taken; left out for an ask. */
  readonly items?: number;
  /** The kind of entry that it needs at the path. */
  readonly needs: "file" | "directory" | "any" | "nothing";
}

/** The text that attacks write if they can. */
export const WRITTEN = "written by the attack";

export const operations: readonly Operation[] = [
  { name: "read", operation: "read", needs: "file", payload: (path) => ({ path }) },
  { name: "read bytes", operation: "read", needs: "file", payload: (path) => ({ path, encoding: "base64" }) },
  { name: "read lines", operation: "read", needs: "file", payload: (path) => ({ path, lines: { from: 1, to: 2 } }) },
  { name: "read a part", operation: "read", needs: "file", payload: (path) => ({ path, offset: 0, length: 4 }) },
  { name: "read a tail", operation: "read", needs: "file", payload: (path) => ({ path, tail: { lines: 5 } }) },
  { name: "read many", operation: "readMany", needs: "file", payload: (path) => ({ reads: [{ path }] }) },
  { name: "write", operation: "write", needs: "file", payload: (path) => ({ path, content: WRITTEN }) },
  {
    name: "write in place",
    operation: "write",
    needs: "file",
    payload: (path) => ({ path, content: WRITTEN, inPlace: true }),
  },
  {
    name: "write durably",
    operation: "write",
    needs: "file",
    payload: (path) => ({ path, content: WRITTEN, durable: true }),
  },
  {
    name: "write much",
    operation: "write",
    needs: "file",
    payload: (path) => ({ path, content: WRITTEN.repeat(20_000) }),
  },
  {
    name: "write without parents",
    operation: "write",
    needs: "file",
    payload: (path) => ({ path, content: WRITTEN, parents: false }),
  },
  {
    name: "write with ifMatch",
    operation: "write",
    needs: "file",
    payload: (path) => ({ path, content: WRITTEN, ifMatch: "p-0" }),
  },
  {
    name: "write in place with ifMatch",
    operation: "write",
    needs: "file",
    payload: (path) => ({ path, content: WRITTEN, ifMatch: "p-0", inPlace: true }),
  },
  { name: "append", operation: "append", needs: "file", payload: (path) => ({ path, content: WRITTEN }) },
  {
    name: "append durably",
    operation: "append",
    needs: "file",
    payload: (path) => ({ path, content: WRITTEN, durable: true }),
  },
  {
    name: "edit",
    operation: "edit",
    needs: "file",
    payload: (path) => ({ path, edits: [{ oldText: "secret", newText: WRITTEN }] }),
  },
  {
    name: "edit each occurrence, with a diff",
    operation: "edit",
    needs: "file",
    payload: (path) => ({ path, edits: [{ oldText: "e", newText: WRITTEN, replaceAll: true }], diff: true }),
  },
  {
    name: "a dry run of an edit",
    operation: "edit",
    needs: "file",
    payload: (path) => ({ path, edits: [{ oldText: "e", newText: "", replaceAll: true }], dryRun: true, diff: true }),
  },
  {
    name: "change with a write",
    operation: "change",
    needs: "file",
    payload: (path) => ({ changes: [{ kind: "write", path, content: WRITTEN }], diff: true }),
  },
  { name: "list", operation: "list", needs: "directory", payload: (path) => ({ path }) },
  {
    name: "list all",
    operation: "list",
    needs: "directory",
    payload: (path) => ({ path, recursive: true, details: true }),
  },
  { name: "stat", operation: "stat", needs: "any", payload: (path) => ({ path }) },
  { name: "exists", operation: "exists", needs: "any", payload: (path) => ({ path }) },
  { name: "mkdir", operation: "mkdir", needs: "nothing", payload: (path) => ({ path }) },
  { name: "move from", operation: "move", needs: "any", payload: (from) => ({ from, to: "moved" }) },
  {
    name: "move to",
    operation: "move",
    needs: "nothing",
    payload: (to) => ({ from: "file.txt", to, ifExists: "replace" }),
  },
  { name: "copy from", operation: "copy", needs: "any", payload: (from) => ({ from, to: "copied" }) },
  {
    name: "copy to",
    operation: "copy",
    needs: "nothing",
    payload: (to) => ({ from: "file.txt", to, ifExists: "replace" }),
  },
  { name: "copy a directory to", operation: "copy", needs: "nothing", payload: (to) => ({ from: "c", to }) },
  { name: "delete", operation: "delete", needs: "any", payload: (path) => ({ path }) },
  { name: "delete all", operation: "delete", needs: "any", payload: (path) => ({ path, recursive: true }) },
  {
    name: "search text",
    operation: "search",
    needs: "any",
    items: 1_000,
    payload: (path) => ({ path, text: "secret" }),
  },
  {
    name: "search pattern",
    operation: "search",
    needs: "any",
    items: 1_000,
    payload: (path) => ({ path, pattern: "se.*t" }),
  },
  {
    name: "search with lines around",
    operation: "search",
    needs: "any",
    items: 1_000,
    payload: (path) => ({ path, text: "secret", before: 20, after: 20, glob: ["**", ".env"], gitignore: true }),
  },
  {
    name: "search counts",
    operation: "search",
    needs: "any",
    items: 1_000,
    payload: (path) => ({ path, pattern: "se.*t", output: "counts", exclude: "no" }),
  },
  { name: "readStream", operation: "readStream", needs: "file", items: 1_000, payload: (path) => ({ path }) },
  { name: "watch", operation: "watch", needs: "directory", items: 1, payload: (path) => ({ path }) },
  { name: "beginWrite", operation: "beginWrite", needs: "file", payload: (path) => ({ path }) },
];

const LOOKS: ReadonlySet<string> = new Set([
  "read",
  "readMany",
  "list",
  "stat",
  "exists",
  "search",
  "readStream",
  "watch",
]);
/** Whether it may change what is there. */
export const isChange = ({ operation }: Operation): boolean => !LOOKS.has(operation);

/** The same operation as TypeScript cannot check it: attacks send what no caller would. */
interface AnyFiles {
  ask(operation: string, payload: unknown, options?: object): ReturnType<FileSystemRef["ask"]>;
  stream(operation: string, payload: unknown): AsyncIterable<unknown>;
}

/** Asks from within the process, where no schema is looked at. A message that is not delivered throws its error. */
export async function perform(
  files: FileSystemRef,
  { operation, payload, items }: Operation,
  path: unknown,
): Promise<Told> {
  // The cast takes the payload's type away, and nothing else.
  const any = files as unknown as AnyFiles;
  if (items !== undefined) return collect(any.stream(operation, payload(path)), items);
  const reply = await any.ask(operation, payload(path));
  if (reply.isErr()) throw reply.error;
  return toldOf(files, operation, reply.value as Told);
}

/** The final outcome: for an upload, that of finishing it; for several reads, that of the first. */
async function toldOf(files: FileSystemRef, operation: string, told: Told): Promise<Told> {
  if (!told.ok) return told;
  if (operation === "readMany") return (told.value as Told[])[0] ?? told;
  return operation === "beginWrite" ? upload(files, told.value as { upload: string }) : told;
}

async function upload(files: FileSystemRef, { upload }: { upload: string }): Promise<Told> {
  const written = (await files.ask("writeChunk", { upload, content: WRITTEN }))._unsafeUnwrap();
  if (!written.ok) return written;
  return (await files.ask("finishWrite", { upload }))._unsafeUnwrap();
}

/** Asks as a stranger would: by a message that comes as text. What is not of the protocol is refused as `invalid-payload`. */
export async function performFromOutside(
  { system, files }: Pick<Serving, "system" | "files">,
  { operation, payload, items }: Operation,
  path: unknown,
): Promise<Told | "invalid-payload"> {
  const sent = serializeMessage(createMessage(address("files"), operation, payload(path)))._unsafeUnwrap();
  const message = parseMessage(sent)._unsafeUnwrap();
  try {
    if (items !== undefined) return await collect(system.router.stream(message), items);
    const reply = await system.router.ask(message);
    if (reply.isErr()) throw reply.error;
    return await toldOf(files, operation, reply.value as Told);
  } catch (thrown) {
    if ((thrown as { kind?: string }).kind === "invalid-payload") return "invalid-payload";
    throw thrown;
  }
}

async function collect(stream: AsyncIterable<unknown>, most: number): Promise<Told> {
  const values: unknown[] = [];
  for await (const item of stream) {
    const told = item as Told;
    if (!told.ok) return told;
    values.push(told.value instanceof Uint8Array ? Buffer.from(told.value).toString() : told.value);
    if (values.length >= most) break;
  }
  return { ok: true, value: values };
}
