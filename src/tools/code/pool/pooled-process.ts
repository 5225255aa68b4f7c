import type { Socket, Subprocess } from "bun";
import { CHILD_MARK, type ChildProgram } from "../child-program";
import { CHANNEL, linesOf, type News, parseNews, type Word } from "./channel";

/** Events of a process for its owner. */
export interface ProcessEvents {
  /** Well-formed news of this many bytes came. The owner ends the process if the news breaks the protocol. */
  news(news: News, bytes: number): void;
  /**
   * The process ended, or was killed (`isStruck`: by somebody else), or could not be started (`fault`). Called once, and
   * nothing is called after it.
   */
  ended(isStruck: boolean, fault?: string): void;
}

/**
 * Makes a compiled application's executable act as Bun. Without it, the application would start itself as its own sandbox.
 * Bun itself ignores it.
 */
const ENVIRONMENT = { BUN_BE_BUN: "1", [CHILD_MARK]: "1" };
/** Runs the module from standard input. `bun -` would take 6 ms longer for a text of 1 MB. */
const RUN_INPUT =
  'await import(URL.createObjectURL(new Blob([require("node:fs").readFileSync(0)], { type: "text/javascript" })))';

const NOTHING = Buffer.alloc(0);
/** Signals of a process's own faults. Any other signal comes from somebody else. */
const FAULTS: ReadonlySet<unknown> = new Set(["SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP", "SIGABRT", "SIGFPE", "SIGSYS"]);

/** A process of a pool and its channel, on the side of the host. */
export class PooledProcess {
  /** The longest line to read, in bytes. A longer one ends the process. */
  longestLine = 64 * 1024;
  /** Undefined if it could not be started. */
  readonly #child: Subprocess | undefined;
  readonly #events: ProcessEvents;
  #socket: Socket | undefined;
  /** Words that the socket had no room for, or that came before there was a socket. */
  #unsent: Uint8Array[] = [];
  /** The beginning of an incomplete line, in a buffer that grows. */
  #part = NOTHING;
  #length = 0;
  #isHeld = false;
  #isEnded = false;

  constructor(events: ProcessEvents, program: ChildProgram) {
    this.#events = events;
    const isFile = typeof program === "string";
    try {
      this.#child = Bun.spawn({
        cmd: [process.execPath, "--no-install", "--no-env-file", ...(isFile ? [program] : ["-e", RUN_INPUT])],
        cwd: "/",
        env: ENVIRONMENT,
        stdio: [isFile ? "ignore" : Buffer.from(program.text), "ignore", "ignore", "pipe"],
        onExit: ({ signalCode }) => this.#end(signalCode !== null && !FAULTS.has(signalCode)),
      });
    } catch (thrown) {
      // The host has no descriptor or memory left, or may start no process. Only its `code` is told: the message has a path.
      const { code } = thrown as { code?: unknown };
      void this.exited.then(() => this.#end(false, String(code ?? "unknown")));
      return;
    }
    this.#child.unref();
    void this.#connect(this.#child);
  }

  get exited(): Promise<number> {
    return this.#child?.exited ?? Promise.resolve(0);
  }

  /** 0 if it could not be started. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** The number of words that wait here because the process does not read the ones before. */
  get unread(): number {
    return this.#unsent.length;
  }

  /** Sends a word. False if the process is known to be gone and has not read it; the end itself is reported later. */
  send(word: Word): boolean {
    if (this.#isEnded) return false;
    const text = linesOf(word);
    if (this.#socket === undefined || this.#unsent.length > 0) {
      this.#unsent.push(Buffer.from(text));
      return true;
    }
    const sent = this.#socket.write(text);
    // A character takes at least one byte.
    if (sent < text.length || sent < Buffer.byteLength(text)) {
      if (sent < 0) return false;
      this.#unsent.push(Buffer.from(text).subarray(sent));
    }
    return true;
  }

  /** Keeps the host alive, because somebody waits for the process; `release` undoes it. */
  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#child?.ref();
    this.#socket?.ref();
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#child?.unref();
    this.#socket?.unref();
  }

  /** Stops all threads of the process until `goOn`. */
  stand(): void {
    this.#child?.kill("SIGSTOP");
  }

  goOn(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Ends it at once. `ended` is called before this returns. */
  kill(): void {
    this.#child?.kill("SIGKILL");
    this.#end(false);
  }

  async #connect(child: Subprocess): Promise<void> {
    // Entries of `stdio` from index 3 on are descriptors of the host; Bun's types do not say so.
    const fd = (child.stdio as readonly unknown[])[CHANNEL] as number;
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
        // Bun can connect to a descriptor; its types do not say so.
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
    for (let [first] = this.#unsent; first !== undefined && !this.#isEnded; [first] = this.#unsent) {
      const sent = this.#socket?.write(first) ?? 0;
      if (sent < 0) {
        this.#lose();
        return;
      }
      if (sent < first.length) {
        this.#unsent[0] = first.subarray(sent);
        return;
      }
      this.#unsent.shift();
    }
  }

  #read(bytes: Buffer): void {
    let from = 0;
    while (!this.#isEnded && from < bytes.length) {
      const end = bytes.indexOf(10, from);
      const piece = bytes.subarray(from, end < 0 ? bytes.length : end);
      from = end < 0 ? bytes.length : end + 1;
      if (this.#length + piece.length > this.longestLine) this.kill();
      else if (end < 0) this.#keep(piece);
      else this.#hear(piece);
    }
  }

  /** Copies, since Bun may reuse the buffer. Copies into one buffer, since single bytes would be as many objects. */
  #keep(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#part.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#part.length, 4 * 1024));
      this.#part.copy(larger, 0, 0, this.#length);
      this.#part = larger;
    }
    piece.copy(this.#part, this.#length);
    this.#length = length;
  }

  #hear(piece: Buffer): void {
    let line = piece;
    if (this.#length > 0) {
      this.#keep(piece);
      line = this.#part.subarray(0, this.#length);
      this.#part = NOTHING;
      this.#length = 0;
    }
    const news = parseNews(line.toString("utf8"));
    if (news === undefined) this.kill();
    else this.#events.news(news, line.length);
  }

  /** A process without its channel is useless. Its exit tells how it ended. */
  #lose(): void {
    if (!this.#isEnded) this.#child?.kill("SIGKILL");
  }

  #end(isStruck: boolean, fault?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#unsent = [];
    this.#part = NOTHING;
    this.#socket?.terminate();
    this.#events.ended(isStruck, fault);
  }
}
