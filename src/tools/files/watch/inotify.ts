import { type dlopen, FFIType as T } from "bun:ffi";
import { isUtf8 } from "node:buffer";
import { openLibrary } from "../../c-library";

/** The events of a directory and its entries (include/uapi/linux/inotify.h). */
export const IN = {
  MODIFY: 0x02,
  ATTRIB: 0x04,
  MOVED_FROM: 0x40,
  MOVED_TO: 0x80,
  CREATE: 0x100,
  DELETE: 0x200,
  DELETE_SELF: 0x400,
  MOVE_SELF: 0x800,
  UNMOUNT: 0x2000,
  Q_OVERFLOW: 0x4000,
  IGNORED: 0x8000,
  ONLYDIR: 0x1000000,
  ISDIR: 0x40000000,
} as const;

const IN_NONBLOCK = 0o4000;
const IN_CLOEXEC = 0o2000000;
/** The size of an event before its name: watch, mask, cookie and the length of the name. */
const HEAD = 16;
/** Room for some two thousand events. */
const BUFFER = 64 * 1024;

const SYMBOLS = {
  inotify_init1: { args: [T.i32], returns: T.i32 },
  inotify_add_watch: { args: [T.i32, T.ptr, T.u32], returns: T.i32 },
  inotify_rm_watch: { args: [T.i32, T.i32], returns: T.i32 },
  read: { args: [T.i32, T.ptr, T.u64], returns: T.i64_fast },
  close: { args: [T.i32], returns: T.i32 },
} as const;
type Calls = ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"];

let calls: Calls | null | undefined;

/** An event of the kernel. The name is empty for the directory itself, and null if it is not UTF-8. */
export interface InotifyEvent {
  readonly watch: number;
  readonly mask: number;
  readonly name: string | null;
}

/** The kernel's queue of events in directories. */
export class Inotify {
  readonly #calls: Calls;
  readonly #queue: number;
  readonly #buffer = Buffer.alloc(BUFFER);

  private constructor(calls: Calls, queue: number) {
    this.#calls = calls;
    this.#queue = queue;
  }

  /** Undefined without FFI, or when the system's limit is reached (`fs.inotify.max_user_instances`). */
  static open(): Inotify | undefined {
    // Null is remembered, so a missing library is looked up only once.
    if (calls === undefined) calls = openLibrary(SYMBOLS) ?? null;
    const queue = calls?.inotify_init1(IN_NONBLOCK | IN_CLOEXEC) ?? -1;
    return calls === null || queue < 0 ? undefined : new Inotify(calls, queue);
  }

  /** Watches an open directory without resolving a path again. Returns its number, or a number below zero. */
  add(directory: number, mask: number): number {
    return this.#calls.inotify_add_watch(this.#queue, Buffer.from(`/proc/self/fd/${directory}\0`), mask | IN.ONLYDIR);
  }

  remove(watch: number): void {
    this.#calls.inotify_rm_watch(this.#queue, watch);
  }

  /** The next events. Empty if nothing happened. */
  read(): InotifyEvent[] {
    const buffer = this.#buffer;
    const end = Number(this.#calls.read(this.#queue, buffer, BUFFER));
    const events: InotifyEvent[] = [];
    for (let at = 0; at < end; ) {
      const length = buffer.readUInt32LE(at + 12);
      events.push({
        watch: buffer.readInt32LE(at),
        mask: buffer.readUInt32LE(at + 4),
        name: nameIn(buffer, at + HEAD, length),
      });
      at += HEAD + length;
    }
    return events;
  }

  close(): void {
    this.#calls.close(this.#queue);
  }
}

/** A name without its padding of NULs. */
function nameIn(buffer: Buffer, start: number, length: number): string | null {
  let end = start;
  while (end < start + length && buffer[end] !== 0) end++;
  const bytes = buffer.subarray(start, end);
  return isUtf8(bytes) ? bytes.toString() : null;
}
