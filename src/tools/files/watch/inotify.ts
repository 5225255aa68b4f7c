import { type dlopen, FFIType as T } from "bun:ffi";
import { isUtf8 } from "node:buffer";
import { openLibrary } from "../../c-library";

/** What can happen to a directory and what is in it (include/uapi/linux/inotify.h). */
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
/** Of an event before its name: watch, mask, cookie and the length of the name. */
const HEAD = 16;
/** Some two thousand events. */
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

/** What happened, in the kernel's words. The name is empty where it is the directory itself, null where it is no UTF-8. */
export interface InotifyEvent {
  readonly watch: number;
  readonly mask: number;
  readonly name: string | null;
}

/** The kernel's queue of what happens in directories. */
export class Inotify {
  readonly #calls: Calls;
  readonly #queue: number;
  readonly #buffer = Buffer.alloc(BUFFER);

  private constructor(calls: Calls, queue: number) {
    this.#calls = calls;
    this.#queue = queue;
  }

  /** Undefined where it cannot be had: no FFI, or as many as the system allows (`fs.inotify.max_user_instances`). */
  static open(): Inotify | undefined {
    if (calls === undefined) calls = openLibrary(SYMBOLS) ?? null; // Null: there are none, which is not looked up again.
    const queue = calls?.inotify_init1(IN_NONBLOCK | IN_CLOEXEC) ?? -1;
    return calls === null || queue < 0 ? undefined : new Inotify(calls, queue);
  }

  /** Watches a directory that is open, so that no path is resolved anew; gives a number for it, below zero where that cannot be. */
  add(directory: number, mask: number): number {
    return this.#calls.inotify_add_watch(this.#queue, Buffer.from(`/proc/self/fd/${directory}\0`), mask | IN.ONLYDIR);
  }

  remove(watch: number): void {
    this.#calls.inotify_rm_watch(this.#queue, watch);
  }

  /** The next events; none where nothing has happened. */
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

/** A name without the NULs that fill it up. */
function nameIn(buffer: Buffer, start: number, length: number): string | null {
  let end = start;
  while (end < start + length && buffer[end] !== 0) end++;
  const bytes = buffer.subarray(start, end);
  return isUtf8(bytes) ? bytes.toString() : null;
}
