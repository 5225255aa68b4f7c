import { ptr, FFIType as T } from "bun:ffi";
import { openLibrary } from "../../c-library";

/** Makes a system call by its number, with bytes as their address; -1 where it is refused. */
export type Kernel = (number: number, ...args: (number | bigint | Uint8Array)[]) => number;

// Numbers go as pointers do, in a register each.
const SYMBOLS = { syscall: { args: [T.i64, T.u64, T.u64, T.u64, T.u64, T.u64], returns: T.i64_fast } } as const;

/** The way to the kernel; undefined where this is not Linux, or functions of C cannot be called. */
export function openKernel(): Kernel | undefined {
  const libc = process.platform === "linux" ? openLibrary(SYMBOLS) : undefined;
  if (libc === undefined) return undefined;
  const { syscall } = libc;
  return (number, a = 0, b = 0, c = 0, d = 0, e = 0) =>
    Number(syscall(number, wordOf(a), wordOf(b), wordOf(c), wordOf(d), wordOf(e)));
}

/** A pointer is a number at run time. */
export const wordOf = (value: number | bigint | Uint8Array): number | bigint =>
  value instanceof Uint8Array ? (ptr(value) as number) : value;
