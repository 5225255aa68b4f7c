import type { Database } from "bun:sqlite";
import { createExecutor, type Execute, type Setup, threadProgram } from "./executor";

/** A statement by its number, and its values. */
export type Row = readonly [statement: number, ...values: (string | number | null)[]];

/** Thrown when rows could not be written. None of them was. */
export class WriteError extends Error {
  override readonly name = "WriteError";
}

/** Runs one batch after the other. */
interface Runner {
  run(batch: string): Promise<string> | string;
  close(): Promise<void>;
}

interface Write {
  readonly rows: readonly Row[];
  readonly resolve: () => void;
  readonly reject: (error: WriteError) => void;
}

/**
 * The one writer of a file. All that comes in one turn, or while the last batch is being written, is committed together, in order: the
 * slower the disk, the larger the batch.
 */
export class Writer {
  readonly #runner: Runner;
  #waiting: Write[] = [];
  #isRunning = false;
  #isClosed = false;
  #idle: (() => void)[] = [];
  /** Batches that were committed. */
  commits = 0;
  /** Batches that failed. */
  failures = 0;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /**
   * Resolves once the rows are committed.
   *
   * @throws WriteError (as a rejection) when they could not be written.
   */
  write(rows: readonly Row[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(new WriteError("The file has been closed."));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      void this.#run();
    });
  }

  /** Resolves once all has been written that was handed in, and the file is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#isRunning) await new Promise<void>((resolve) => this.#idle.push(resolve));
    await this.#runner.close();
  }

  async #run(): Promise<void> {
    await null; // The first batch takes all that comes in this turn.
    while (this.#waiting.length > 0) {
      const writes = this.#waiting;
      this.#waiting = [];
      const batch = JSON.stringify(writes.length === 1 ? writes[0]?.rows : writes.flatMap(({ rows }) => rows));
      const told = this.#runner.run(batch);
      const failure = typeof told === "string" ? told : await told;
      if (failure === "") {
        this.commits++;
        for (const { resolve } of writes) resolve();
      } else {
        this.failures++;
        for (const { reject } of writes) reject(new WriteError(failure));
      }
      // Code that waits for these may write at once: one more turn of the microtasks brings that into the next batch.
      await null;
    }
    this.#isRunning = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** Writes on the main thread: for a database in memory, which no other thread can see, and which no disk slows down. */
export class DirectRunner implements Runner {
  readonly run: Execute;

  constructor(database: Database, statements: readonly string[]) {
    this.run = createExecutor(database, statements);
  }

  async close(): Promise<void> {}
}

/** Writes in a thread, so that a slow disk never holds the event loop. A thread that ends by itself is replaced. */
export class ThreadRunner implements Runner {
  readonly #setup: string;
  #worker: Worker | null = null;
  /** True while the thread has the file open. */
  #isOpen = false;
  #gone: Promise<void> = Promise.resolve();
  #answer: ((text: string) => void) | null = null;

  constructor(setup: Setup) {
    this.#setup = JSON.stringify(setup);
  }

  async run(batch: string): Promise<string> {
    if (!this.#isOpen) {
      this.#worker ??= this.#start();
      const failure = await this.#send(this.#setup, this.#worker);
      if (failure !== "") return failure; // The next batch tries again.
      this.#isOpen = true;
    }
    return this.#worker === null ? ENDED : this.#send(batch, this.#worker);
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    worker.ref(); // This method waits for its end.
    worker.postMessage("");
    await this.#gone;
  }

  #send(text: string, worker: Worker): Promise<string> {
    return new Promise((resolve) => {
      worker.ref();
      this.#answer = (answer) => {
        this.#answer = null;
        worker.unref();
        resolve(answer);
      };
      worker.postMessage(text);
    });
  }

  #start(): Worker {
    const url = URL.createObjectURL(new Blob([threadProgram()], { type: "text/javascript" }));
    const worker = new Worker(url, { smol: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    worker.addEventListener("message", ({ data }: MessageEvent<string>) => this.#answer?.(data));
    worker.addEventListener("error", (event) => event.preventDefault()); // The `close` event follows.
    worker.addEventListener("close", () => {
      URL.revokeObjectURL(url);
      resolve();
      this.#worker = null;
      this.#isOpen = false;
      this.#answer?.(ENDED);
    });
    return worker;
  }
}

const ENDED = "The thread that writes has ended.";
