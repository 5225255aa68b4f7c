import { dlopen, FFIType as T } from "bun:ffi";

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;
/** The C library of Linux: glibc, or musl by the name of its architecture. */
const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`];

/**
 * Lets the kernel end this process when the one that started it dies. A process that computes in a loop hears of nothing else. Linux alone
 * has this; on other systems, the end of the channel is heard after the computation.
 *
 * The kernel goes by the thread that started this process. That thread's end closes the channel too, and nobody is left to work for.
 */
export function dieWith(parent: number): void {
  if (process.platform !== "linux") return;
  for (const library of LIBRARIES) {
    try {
      const { prctl } = dlopen(library, { prctl: { args: [T.i32, T.u64], returns: T.i32 } }).symbols;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      break;
    } catch {
      // This library is not here, or functions of C cannot be called.
    }
  }
  if (process.ppid !== parent) process.exit(1); // It had died before that: no signal comes any more.
}
