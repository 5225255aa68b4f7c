import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Socket } from "bun";
import {
  CHANNEL,
  linesOf,
  type News,
  type Order,
  type Outcome,
  type Word,
} from "../../../../src/tools/code/pool/channel";

const PROGRAM = join(import.meta.dir, "../../../../src/tools/code/sandbox/sandbox-worker.ts");

/** The news of a run, and its outcome. */
export interface Told {
  readonly news: readonly News[];
  readonly outcome: Outcome;
}

/** A test's answers to the calls of code; undefined leaves a call open. */
export type Answer = (request: string, call: number) => string | undefined;

/** A process of the sandbox without a pool: words in, news out. */
export class Worker {
  readonly #child: Bun.Subprocess;
  readonly #socket: Promise<Socket<undefined>>;
  #unsent = Buffer.alloc(0);
  #unread = "";
  readonly #news: News[] = [];
  readonly #told = new Map<News[0], () => void>();
  #wake = (): void => {};
  #number = 1;

  constructor() {
    this.#child = Bun.spawn({
      cmd: [process.execPath, "--no-install", "--no-env-file", PROGRAM],
      cwd: "/",
      env: {},
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
    const decoder = new TextDecoder();
    this.#socket = Bun.connect({
      // As the pool connects to it, which Bun's types do not know.
      fd: (this.#child.stdio as readonly unknown[])[CHANNEL] as number,
      socket: {
        binaryType: "buffer",
        drain: (socket: Socket<undefined>) => this.#send(socket),
        data: (_: Socket<undefined>, bytes: Buffer) => {
          const lines = (this.#unread + decoder.decode(bytes, { stream: true })).split("\n");
          this.#unread = lines.pop() ?? "";
          for (const line of lines) this.#news.push(JSON.parse(line));
          this.#wake();
        },
        close: () => this.#wake(),
      },
    } as unknown as Parameters<typeof Bun.connect<undefined>>[0]);
  }

  /** Of the last run. */
  get number(): number {
    return this.#number - 1;
  }

  get exited(): Promise<number> {
    return this.#child.exited;
  }

  /** Bytes of memory that it has, as the kernel tells. */
  get rss(): number {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  }

  /** Nanoseconds that its main thread has been at work. */
  get busy(): number {
    return Number(readFileSync(`/proc/${this.#child.pid}/schedstat`, "utf8").split(" ")[0]);
  }

  /** Whether its main thread sleeps (proc_pid_stat(5)): one that looks for something again and again does not. */
  get isAsleep(): boolean {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("S");
  }

  async say(...words: readonly Word[]): Promise<void> {
    const socket = await this.#socket;
    const bytes = Buffer.from(words.map(linesOf).join(""));
    this.#unsent = this.#unsent.length === 0 ? bytes : Buffer.concat([this.#unsent, bytes]);
    this.#send(socket);
  }

  #send(socket: Socket<undefined>): void {
    if (this.#unsent.length > 0) this.#unsent = this.#unsent.subarray(Math.max(0, socket.write(this.#unsent)));
  }

  /** The next news; none once the process is gone. */
  async hear(): Promise<News> {
    for (;;) {
      const news = this.#news.shift();
      if (news !== undefined) return news;
      if (this.#child.exitCode !== null || this.#child.killed) throw new Error("The process is gone.");
      await Promise.race([this.exited, new Promise<void>((resolve) => (this.#wake = resolve))]);
    }
  }

  /** Runs code, and answers what it calls once it waits, unless it was answered. */
  async run(body: string, order: Partial<Order> = {}, answer: Answer = () => undefined): Promise<Told> {
    const number = this.#number++;
    const whole: Order = {
      number,
      file: "program.js",
      declares: [],
      timeout: 20_000,
      memory: 64 * 1024 * 1024,
      maxOutput: 1024 * 1024,
      isKept: false,
      ...order,
      body,
    };
    await this.say(["run", whole]);
    const all: News[] = [];
    for (;;) {
      const news = await this.hear();
      if (news[0] === "ready") continue;
      all.push(news);
      this.#told.get(news[0])?.();
      if (news[0] === "end") return { news: all, outcome: news[2] };
      if (news[0] !== "call") continue;
      const text = answer(news[2], news[1]);
      if (text !== undefined) await this.say(["answer", news[1], text, 0]);
    }
  }

  /** Resolves when a run tells something of this kind. */
  heard(word: News[0]): Promise<void> {
    return new Promise((resolve) => this.#told.set(word, resolve));
  }

  async value(body: string, order?: Partial<Order>, answer?: Answer): Promise<unknown> {
    const { outcome } = await this.run(body, order, answer);
    if (outcome.kind !== "value") throw new Error(`${outcome.kind}: ${outcome.message}`);
    return outcome.value === undefined ? undefined : JSON.parse(outcome.value);
  }

  async close(): Promise<void> {
    this.#child.kill("SIGKILL");
    (await this.#socket).terminate();
    await this.exited;
  }
}
