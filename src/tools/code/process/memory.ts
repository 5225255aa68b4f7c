import { limit } from "../pool/confine";
import type { Kernel } from "../pool/kernel";

/** Numbers of x64. */
const [READ, OPEN, CLOSE] = [0, 2, 3];
/** From `include/uapi/asm-generic/resource.h`: the limits of writable bytes and of address space. */
const [RLIMIT_DATA, RLIMIT_AS] = [2, 9];
const PAGE = 4096;
const MB = 1024 * 1024;
/** Bytes that the engine takes in advance: it has areas of its own for code, for threads, for each kind of object. */
const SLACK = 512 * MB;
/** Bytes of addresses that the engine may take and leave empty, as for a memory of WebAssembly. They cost the kernel tables. */
const ADDRESSES = 16 * 1024 * MB;

/**
 * Bounds the memory of this process from within. The host checks the memory, and ends a process that has too much. This
 * bound acts between two checks. It allows more, since the engine takes more than it uses.
 */
export class MemoryBound {
  readonly #kernel: Kernel;
  /** Writable bytes that the process had at the start. */
  readonly #start: number;

  /** Create it while files can still be read. */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const [addresses = 0, , , , , data = 0] = pagesOf(kernel);
    this.#start = data * PAGE;
    limit(kernel, RLIMIT_AS, addresses * PAGE + ADDRESSES);
  }

  /** Bounds the writable bytes beyond those at the start. */
  set(bytes: number): void {
    limit(this.#kernel, RLIMIT_DATA, this.#start + bytes + SLACK);
  }
}

/** The kernel's counts of this process's memory, in pages. */
function pagesOf(kernel: Kernel): number[] {
  const file = kernel(OPEN, new TextEncoder().encode("/proc/self/statm\0"), 0);
  const text = new Uint8Array(256);
  const length = kernel(READ, file, text, text.length);
  kernel(CLOSE, file);
  return new TextDecoder().decode(text.subarray(0, length)).split(" ").map(Number);
}
