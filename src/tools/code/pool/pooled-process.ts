import type { Socket, Subprocess } from "bun";
import { CHANNEL, type News, type Order, parseNews } from "./channel";

/** What a process tells its pool. */
export interface ProcessEvents {
  /** Something well-formed came; the process is ended by whoever finds that it should not have. */
  news(process: PooledProcess, news: News): void;
  /** It broke off, or was killed, by somebody else where `isStruck`: told once, and nothing after it. */
  ended(process: PooledProcess, isStruck: boolean): void;
}

/** What comes before any run: one line that says ready. */
const STARTING_BYTES = 64 * 1024;

/** A process of a pool and its channel, as seen from the host. */
export class PooledProcess {
  readonly #child: Subprocess;
  readonly #events: ProcessEvents;
  #socket: Socket | undefined;
  #unsent: Uint8Array | undefined;
  /** What was read of a line that is not whole yet. */
  #pieces: Buffer[] = [];
  #bytesLeft = STARTING_BYTES;
  #isHeld = false;
  #isEnded = false;

  constructor(events: ProcessEvents, program: string) {
    this.#events = events;
    this.#child = Bun.spawn({
      cmd: [process.execPath, "--no-install", "--no-env-file", program],
      cwd: "/",
      env: {},
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      onExit: (_, __, signal) => this.#end(signal !== null),
    });
    this.#child.unref();
    void this.#connect();
  }

  get exited(): Promise<number> {
    return this.#child.exited;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Begins a run, of which at most so many bytes are read; more of them end the process. */
  send(order: Order, mostBytes: number): void {
    this.#bytesLeft = mostBytes;
    this.#unsent = Buffer.from(`${JSON.stringify(order)}\n`);
    this.#flush();
  }

  /** Keeps the host alive, as what somebody waits for does; `release` undoes it. */
  hold(): void {
    this.#isHeld = true;
    this.#child.ref();
    this.#socket?.ref();
  }

  release(): void {
    this.#isHeld = false;
    this.#child.unref();
    this.#socket?.unref();
  }

  /** Ends it at once; `ended` is told before this returns. */
  kill(): void {
    this.#child.kill("SIGKILL");
    this.#end(false);
  }

  async #connect(): Promise<void> {
    // With more than three entries of `stdio`, those from the third on are the host's descriptors; Bun's types say so of none.
    const fd = (this.#child.stdio as readonly unknown[])[CHANNEL] as number;
    try {
      await Bun.connect({
        fd,
        socket: {
          binaryType: "buffer",
          open: (socket: Socket) => this.#open(socket),
          data: (_: Socket, bytes: Buffer) => this.#read(bytes),
          drain: () => this.#flush(),
          close: () => this.#lose(),
          error: () => this.#lose(),
        },
        // Bun connects to a descriptor, which its types do not say.
      } as unknown as Parameters<typeof Bun.connect>[0]);
    } catch {
      this.#lose();
    }
  }

  #open(socket: Socket): void {
    this.#socket = socket;
    if (!this.#isHeld) socket.unref();
    if (this.#isEnded) socket.terminate();
    else this.#flush();
  }

  #flush(): void {
    if (this.#unsent === undefined || this.#socket === undefined || this.#isEnded) return;
    const sent = this.#socket.write(this.#unsent);
    if (sent < 0) this.#lose();
    else this.#unsent = sent < this.#unsent.length ? this.#unsent.subarray(sent) : undefined;
  }

  #read(bytes: Buffer): void {
    this.#bytesLeft -= bytes.length;
    if (this.#bytesLeft < 0) this.kill();
    let from = 0;
    while (!this.#isEnded) {
      const end = bytes.indexOf(10, from);
      this.#pieces.push(bytes.subarray(from, end < 0 ? undefined : end));
      if (end < 0) break;
      const [first = bytes, ...others] = this.#pieces;
      this.#pieces = [];
      this.#hear(others.length === 0 ? first : Buffer.concat([first, ...others]));
      from = end + 1;
    }
    // Bun may use the buffer again.
    const last = this.#pieces.pop();
    if (last !== undefined && last.length > 0) this.#pieces.push(Buffer.from(last));
  }

  #hear(line: Buffer): void {
    const news = parseNews(line.toString("utf8"));
    if (news === undefined) this.kill();
    else this.#events.news(this, news);
  }

  /** Without its channel a process is of no use; how it ended, its exit tells. */
  #lose(): void {
    if (!this.#isEnded) this.#child.kill("SIGKILL");
  }

  #end(isStruck: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket?.terminate();
    this.#events.ended(this, isStruck);
  }
}
