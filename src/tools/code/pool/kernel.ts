import { ptr, FFIType as T } from "bun:ffi";
import { openLibrary } from "../../c-library";

/** Makes a system call by its number. Bytes are passed by address. Returns -1 if the call is refused. */
export type Kernel = (number: number, ...args: (number | bigint | Uint8Array)[]) => number;

const numberOf = Number; // Code may replace the global.
// Numbers are passed like pointers, each in a register.
const SYMBOLS = { syscall: { args: [T.i64, T.u64, T.u64, T.u64, T.u64, T.u64], returns: T.i64_fast } } as const;

/** Opens the kernel's system calls; undefined outside of Linux, or if functions of C cannot be called. */
export function openKernel(): Kernel | undefined {
  const libc = process.platform === "linux" ? openLibrary(SYMBOLS) : undefined;
  if (libc === undefined) return undefined;
  const { syscall } = libc;
  return (number, a = 0, b = 0, c = 0, d = 0, e = 0) =>
    numberOf(syscall(number, wordOf(a), wordOf(b), wordOf(c), wordOf(d), wordOf(e)));
}

/** A pointer is a number at run time. */
export const addressOf = (bytes: Uint8Array): number => ptr(bytes) as number;

/** Checks no class: code may have changed it, and would get hold of the bytes. */
const wordOf = (value: number | bigint | Uint8Array): number | bigint =>
  typeof value === "object" ? addressOf(value) : value;
