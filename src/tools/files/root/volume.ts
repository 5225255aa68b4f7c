/** The status of a file in a volume, as in `node:fs`. */
export interface VolumeStats {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  readonly size: number;
  readonly mode: number;
  readonly nlink: number;
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** The part of `node:fs` that an in-memory file system needs. memfs's `Volume` and its `fs` both have it. */
export interface Volume {
  openSync(path: string, flags: string): number;
  closeSync(descriptor: number): void;
  readSync(descriptor: number, into: Uint8Array, offset: number, length: number, position: number): number;
  writeSync(descriptor: number, from: Uint8Array, offset: number, length: number): number;
  ftruncateSync(descriptor: number, length: number): void;
  fchmodSync(descriptor: number, mode: number): void;
  fstatSync(descriptor: number): VolumeStats;
  lstatSync(path: string): VolumeStats;
  realpathSync(path: string): unknown;
  readdirSync(path: string): readonly unknown[];
  mkdirSync(path: string, mode: number): unknown;
  unlinkSync(path: string): void;
  rmdirSync(path: string): void;
  renameSync(path: string, newPath: string): void;
  readlinkSync(path: string): unknown;
  symlinkSync(target: string, path: string): void;
}

/** The functions that a volume must have. */
export const CALLS = [
  "openSync",
  "closeSync",
  "readSync",
  "writeSync",
  "ftruncateSync",
  "fchmodSync",
  "fstatSync",
  "lstatSync",
  "realpathSync",
  "readdirSync",
  "mkdirSync",
  "unlinkSync",
  "rmdirSync",
  "renameSync",
  "readlinkSync",
  "symlinkSync",
] as const satisfies (keyof Volume)[];
