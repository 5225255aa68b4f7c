import { type dlopen, read, FFIType as T } from "bun:ffi";
import { openLibrary } from "../../c-library";

const SYMBOLS = {
  ftruncate: { args: [T.i32, T.i64], returns: T.i32 },
  fchmod: { args: [T.i32, T.u32], returns: T.i32 },
  fchown: { args: [T.i32, T.u32, T.u32], returns: T.i32 },
  mkdirat: { args: [T.i32, T.ptr, T.u32], returns: T.i32 },
  unlinkat: { args: [T.i32, T.ptr, T.i32], returns: T.i32 },
  flock: { args: [T.i32, T.i32], returns: T.i32 },
  __errno_location: { args: [], returns: T.ptr },
} as const;

/**
 * The forms of `syscall(2)`, by the arguments after the call's number. Each call has a form of its own: one form for
 * all takes 15 to 25 ns a call more.
 * Some of these calls also have a C function. That function lets the thread be cancelled meanwhile, which takes 40 to
 * 50 ns for each read or write.
 */
const SYSCALLS = {
  close: { syscall: { args: [T.i32, T.i32], returns: T.i32 } },
  fstat: { syscall: { args: [T.i32, T.i32, T.ptr], returns: T.i32 } },
  getdents64: { syscall: { args: [T.i32, T.i32, T.ptr, T.u32], returns: T.i32 } },
  newfstatat: { syscall: { args: [T.i32, T.i32, T.ptr, T.ptr, T.i32], returns: T.i32 } },
  openat: { syscall: { args: [T.i32, T.i32, T.ptr, T.i32, T.u32], returns: T.i32 } },
  openat2: { syscall: { args: [T.i32, T.i32, T.ptr, T.ptr, T.u64], returns: T.i32 } },
  pread64: { syscall: { args: [T.i32, T.i32, T.ptr, T.u64, T.i64], returns: T.i32 } },
  renameat2: { syscall: { args: [T.i32, T.i32, T.ptr, T.i32, T.ptr, T.u32], returns: T.i32 } },
  write: { syscall: { args: [T.i32, T.i32, T.ptr, T.u64], returns: T.i32 } },
} as const;

type Call = keyof typeof SYSCALLS;
type Functions<Symbols extends Parameters<typeof dlopen>[1]> = ReturnType<typeof dlopen<Symbols>>["symbols"];
type Syscalls = { readonly [Name in Call]: Functions<(typeof SYSCALLS)[Name]>["syscall"] };

/** The C library's functions by name, and the system calls by number. */
export interface Libc extends Omit<Functions<typeof SYMBOLS>, "__errno_location">, Syscalls {
  /** The errno of the last call on this thread. */
  readonly errno: () => number;
}

/** Opens the C library of this process, glibc or musl. Undefined if it cannot be called, as without FFI. */
export function openLibc(): Libc | undefined {
  const symbols = openLibrary(SYMBOLS);
  const at = symbols?.__errno_location() ?? null;
  if (symbols === undefined || at === null) return undefined;
  const { __errno_location: _, ...functions } = symbols;
  const calls: Partial<Record<string, unknown>> = {};
  for (const [call, form] of Object.entries(SYSCALLS)) {
    const { syscall } = openLibrary<typeof form>(form) ?? {};
    if (syscall === undefined) return undefined;
    calls[call] = syscall;
  }
  // Each key of SYSCALLS has the function of its own form.
  return { ...functions, ...(calls as Syscalls), errno: () => read.i32(at) };
}

/** The numbers of the system calls, and the offsets in `struct stat` that differ between processors. */
export interface SystemCalls extends Readonly<Record<Call, number>> {
  readonly links: number;
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

/**
 * The numbers for this processor, from the kernel's tables (`arch/x86/entry/syscalls`,
 * `include/uapi/asm-generic/unistd.h`, `stat.h`).
 */
export const SYSTEM_CALLS: SystemCalls | undefined = {
  x64: {
    close: 3,
    fstat: 5,
    getdents64: 217,
    newfstatat: 262,
    openat: 257,
    openat2: 437,
    pread64: 17,
    renameat2: 316,
    write: 1,
    links: 16,
    mode: 24,
    owner: 28,
    group: 32,
  },
  arm64: {
    close: 57,
    fstat: 80,
    getdents64: 61,
    newfstatat: 79,
    openat: 56,
    openat2: 437,
    pread64: 67,
    renameat2: 276,
    write: 64,
    links: 20,
    mode: 16,
    owner: 24,
    group: 28,
  },
}[process.arch as string];
