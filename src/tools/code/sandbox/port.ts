import { FFIType as T } from "bun:ffi";
import { readSync, writeSync } from "node:fs";
import { openLibrary } from "../../c-library";
import { CHANNEL, type Head, hasText, type News, type Word, wordOf } from "../pool/channel";
import { Patience } from "./patience";

/** Most characters of news that wait to be sent with others. */
const MOST_WAITING = 64 * 1024;
const READ_BYTES = 64 * 1024;
/** Milliseconds. Fits the 32-bit timeout of `poll`. */
const LONGEST_SLEEP = 2 ** 30;

/** The process's side of the channel. The process does one thing at a time, so it waits for words on its only thread. */
export class Port {
  readonly #piece = Buffer.alloc(READ_BYTES);
  readonly #room = Buffer.alloc(MOST_WAITING);
  readonly #libc = openLibrary({
    poll: { args: [T.ptr, T.u64, T.i32], returns: T.i32 },
    sched_yield: { args: [], returns: T.i32 },
  } as const);
  /** A `pollfd`: the channel, and POLLIN. */
  readonly #polled = new Int16Array([CHANNEL, 0, 1, 0]);
  readonly #patience = new Patience();
  #unread = Buffer.alloc(0);
  #waiting = "";

  tell(news: News): void {
    this.#write(`${JSON.stringify(news)}\n`);
  }

  /** Like `tell`, for a log entry whose text is JSON already. */
  tellLog(level: number, json: string, time: number): void {
    this.#write(`["log",${level},${json},${time}]\n`);
  }

  /** Sends news with the next news, or at the next `flush`. */
  tellSoon(news: News): void {
    this.#waiting += `${JSON.stringify(news)}\n`;
    if (this.#waiting.length > MOST_WAITING) this.flush();
  }

  flush(): void {
    if (this.#waiting !== "") this.#write("");
  }

  /** True if something comes within these milliseconds, or if that cannot be known. */
  hears(milliseconds: number): boolean {
    return this.#libc === undefined || this.#libc.poll(this.#polled, 1, milliseconds) !== 0;
  }

  /** Sleeps until a word comes, or until a time of `performance.now`. True if a word came. */
  hearsUntil(time: number): boolean {
    this.flush();
    for (;;) {
      if (this.hasWord) return true;
      const left = Math.min(Math.ceil(time - performance.now()), LONGEST_SLEEP);
      if (left <= 0) return this.#libc !== undefined && this.hears(0);
      // Without `poll` no word can wake it: it sleeps the whole time.
      if (this.#libc === undefined) Bun.sleepSync(left);
      else if (this.hears(left)) return true;
    }
  }

  /** True if a word is here already; the last lines of its text may still be on their way. */
  get hasWord(): boolean {
    return this.#unread.includes(10);
  }

  /** Waits for the next word. The process ends if its host is gone. */
  read(): Word {
    const head = JSON.parse(this.#line()) as Head; // The host wrote it.
    return wordOf(head, hasText(head) ? this.#line() : undefined);
  }

  #line(): string {
    const pieces = [this.#unread];
    for (let searched = this.#unread; ; ) {
      const end = searched.indexOf(10);
      if (end >= 0) {
        const whole = pieces.length === 1 ? searched : Buffer.concat(pieces);
        const length = whole.length - searched.length + end;
        this.#unread = whole.subarray(length + 1);
        return whole.toString("utf8", 0, length);
      }
      const length = this.#receive();
      if (length === 0) process.exit(0);
      searched = Buffer.from(this.#piece.subarray(0, length));
      if (pieces[0]?.length === 0) pieces.pop();
      pieces.push(searched);
    }
  }

  /** Polls before it sleeps. Between polls it yields the processor to other threads. */
  #receive(): number {
    const start = Bun.nanoseconds();
    let waited = 0;
    while (waited < this.#patience.length && !this.hears(0)) {
      this.#libc?.sched_yield();
      waited = Bun.nanoseconds() - start;
    }
    const length = attempt(() => readSync(CHANNEL, this.#piece));
    if (waited >= this.#patience.length) this.#patience.slept(Bun.nanoseconds() - start);
    return length;
  }

  #write(text: string): void {
    const whole = this.#waiting + text;
    this.#waiting = "";
    // A character takes three bytes at most.
    const isShort = whole.length * 3 <= this.#room.length;
    const bytes = isShort ? this.#room : Buffer.from(whole);
    const length = isShort ? bytes.write(whole) : bytes.length;
    for (let at = 0; at < length; ) at += attempt(() => writeSync(CHANNEL, bytes, at, length - at));
  }
}

/** A broken channel means that the host is gone, so the process ends. */
function attempt(work: () => number): number {
  try {
    return work();
  } catch {
    process.exit(0);
  }
}
