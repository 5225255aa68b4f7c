import type { FileSystemRef, Tools } from "envoi/tools";

/** What code in the sandbox may call, as `await tools.files.read({ path })`. There is no delete and no move in it. */
export const toolsOf = (files: FileSystemRef) =>
  ({ files: { ref: files, operations: ["read", "list", "write"] } }) satisfies Tools;
