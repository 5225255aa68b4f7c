import { type dlopen, read, FFIType as T } from "bun:ffi";
import { openLibrary } from "../../c-library";

const SYMBOLS = {
  close: { args: [T.i32], returns: T.i32 },
  openat: { args: [T.i32, T.ptr, T.i32, T.u32], returns: T.i32 },
  pread: { args: [T.i32, T.ptr, T.u64, T.i64], returns: T.i64_fast },
  write: { args: [T.i32, T.ptr, T.u64], returns: T.i64_fast },
  ftruncate: { args: [T.i32, T.i64], returns: T.i32 },
  fchmod: { args: [T.i32, T.u32], returns: T.i32 },
  mkdirat: { args: [T.i32, T.ptr, T.u32], returns: T.i32 },
  unlinkat: { args: [T.i32, T.ptr, T.i32], returns: T.i32 },
  flock: { args: [T.i32, T.i32], returns: T.i32 },
  __errno_location: { args: [], returns: T.ptr },
} as const;

/** `syscall(2)` by the arguments after the call's number: told apart, since one form for all takes 15 to 25 ns a call more. */
const SYSCALLS = {
  openat2: { syscall: { args: [T.i32, T.i32, T.ptr, T.ptr, T.u64], returns: T.i32 } },
  statx: { syscall: { args: [T.i32, T.i32, T.ptr, T.i32, T.u32, T.ptr], returns: T.i32 } },
  getdents64: { syscall: { args: [T.i32, T.i32, T.ptr, T.u32], returns: T.i32 } },
  renameat2: { syscall: { args: [T.i32, T.i32, T.ptr, T.i32, T.ptr, T.u32], returns: T.i32 } },
} as const;

type Functions<Symbols extends Parameters<typeof dlopen>[1]> = ReturnType<typeof dlopen<Symbols>>["symbols"];
type Syscalls = { readonly [Call in keyof typeof SYSCALLS]: Functions<(typeof SYSCALLS)[Call]>["syscall"] };

/** The C library's functions, by their own names; and those system calls that it may have no name for, with their numbers. */
export interface Libc extends Omit<Functions<typeof SYMBOLS>, "__errno_location">, Syscalls {
  /** Why the call just made failed, on this thread. */
  readonly errno: () => number;
}

/** The C library of this process: glibc's or musl's; undefined where neither can be called, as without FFI. */
export function openLibc(): Libc | undefined {
  const symbols = openLibrary(SYMBOLS);
  const at = symbols?.__errno_location() ?? null;
  const openat2 = openLibrary(SYSCALLS.openat2)?.syscall;
  const statx = openLibrary(SYSCALLS.statx)?.syscall;
  const getdents64 = openLibrary(SYSCALLS.getdents64)?.syscall;
  const renameat2 = openLibrary(SYSCALLS.renameat2)?.syscall;
  if (symbols === undefined || at === null || !openat2 || !statx || !getdents64 || !renameat2) return undefined;
  const { __errno_location: _, ...functions } = symbols;
  return { ...functions, openat2, statx, getdents64, renameat2, errno: () => read.i32(at) };
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
