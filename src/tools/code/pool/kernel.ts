import { ptr, FFIType as T } from "bun:ffi";
import { openLibrary } from "../../c-library";

/** Makes a system call by its number, with bytes as their address; -1 where it is refused. */
export type Kernel = (number: number, ...args: (number | bigint | Uint8Array)[]) => number;

const numberOf = Number; // Code may put another one in its place.
// Numbers go as pointers do, in a register each.
const SYMBOLS = { syscall: { args: [T.i64, T.u64, T.u64, T.u64, T.u64, T.u64], returns: T.i64_fast } } as const;

/** The way to the kernel; undefined where this is not Linux, or functions of C cannot be called. */
export function openKernel(): Kernel | undefined {
  const libc = process.platform === "linux" ? openLibrary(SYMBOLS) : undefined;
  if (libc === undefined) return undefined;
  const { syscall } = libc;
  return (number, a = 0, b = 0, c = 0, d = 0, e = 0) =>
    numberOf(syscall(number, wordOf(a), wordOf(b), wordOf(c), wordOf(d), wordOf(e)));
}

/** A pointer is a number at run time. */
export const addressOf = (bytes: Uint8Array): number => ptr(bytes) as number;

/** By no class, which code may have changed, and would be shown the bytes by. */
const wordOf = (value: number | bigint | Uint8Array): number | bigint =>
  typeof value === "object" ? addressOf(value) : value;
