import { type dlopen, read, FFIType as T } from "bun:ffi";
import { openLibrary } from "../../c-library";

const SYMBOLS = {
  // Six arguments for every call: those that are numbers go as pointers do, in a register each.
  syscall: { args: [T.i32, T.i32, T.ptr, T.ptr, T.ptr, T.ptr], returns: T.i64_fast },
  close: { args: [T.i32], returns: T.i32 },
  pread: { args: [T.i32, T.ptr, T.u64, T.i64], returns: T.i64_fast },
  write: { args: [T.i32, T.ptr, T.u64], returns: T.i64_fast },
  ftruncate: { args: [T.i32, T.i64], returns: T.i32 },
  fchmod: { args: [T.i32, T.u32], returns: T.i32 },
  mkdirat: { args: [T.i32, T.ptr, T.u32], returns: T.i32 },
  unlinkat: { args: [T.i32, T.ptr, T.i32], returns: T.i32 },
  flock: { args: [T.i32, T.i32], returns: T.i32 },
  __errno_location: { args: [], returns: T.ptr },
} as const;

type Functions = ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"];

/** The C library's functions, by their own names. */
export interface Libc extends Omit<Functions, "__errno_location"> {
  /** Why the call just made failed, on this thread. */
  readonly errno: () => number;
}

/** The C library of this process: glibc's or musl's; undefined where neither can be called, as without FFI. */
export function openLibc(): Libc | undefined {
  const symbols = openLibrary(SYMBOLS);
  const at = symbols?.__errno_location() ?? null;
  if (symbols === undefined || at === null) return undefined;
  const { __errno_location: _, ...functions } = symbols;
  return { ...functions, errno: () => read.i32(at) };
}

/** Numbers of system calls that have no name in older C libraries: `syscall` takes them. */
export interface SystemCalls {
  readonly openat2: number;
  readonly statx: number;
  readonly getdents64: number;
  readonly renameat2: number;
}

/** Those of this processor, from the kernel's tables (`arch/x86/entry/syscalls`, `include/uapi/asm-generic/unistd.h`). */
export const SYSTEM_CALLS: SystemCalls | undefined = {
  x64: { openat2: 437, statx: 332, getdents64: 217, renameat2: 316 },
  arm64: { openat2: 437, statx: 291, getdents64: 61, renameat2: 276 },
}[process.arch as string];
