export { FileError } from "./files/file-error";
export { spawnFileSystem } from "./files/file-system";
export type { FileSystemOptions } from "./files/options";
export { FileSystem, type FileSystemRef } from "./files/protocol";
export { type FileReply, FileSystemError, itemsOf, resultOf, writeStream } from "./files/result";
export type { Resolution } from "./files/root";
