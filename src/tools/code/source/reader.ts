import { type ChildProgram, childProgram } from "../child-program";
import type { CodeError } from "../code-error";
import { CodeRefusal } from "../code-refusal";
import { type Errand, LEAVE, type Outcome, type Report } from "./errand";

/** Options of a `Reader`. */
export interface ReaderOptions {
  /** @internal For tests: a program that replaces the thread's own. */
  readonly program?: ChildProgram;
}

/** Most waiting sources, and their greatest total length. */
const MOST = 1_000;
const MOST_LENGTH = 8 * 1024 * 1024;

interface Task {
  readonly errand: Errand;
  readonly settle: (outcome: Outcome) => void;
  /** The number of threads that ended while reading it. */
  losses: number;
}

/**
 * A thread that reads sources, one after the other. It is started for the first source, and keeps the process alive only
 * while it reads. If the thread ends while it reads a source, another thread reads that source once more. No source is
 * known that ends a thread.
 */
export class Reader {
  readonly #program: ChildProgram;
  readonly #waiting: Task[] = [];
  #length = 0;
  #worker: Worker | null = null;
  #current: Task | null = null;
  #gone: Promise<void> = Promise.resolve();
  #isDisposed = false;

  constructor({ program = childProgram("source-worker") }: ReaderOptions) {
    this.#program = program;
  }

  /** Never rejects. */
  read(errand: Errand): Promise<Outcome> {
    if (this.#isDisposed) return Promise.resolve(stopped());
    if (this.#waiting.length >= MOST || this.#length + errand.code.length > MOST_LENGTH) {
      const message = "Too much code is to be read already; ask again later.";
      return Promise.resolve(new CodeRefusal("busy", message));
    }
    return new Promise((settle) => {
      this.#length += errand.code.length;
      this.#waiting.push({ errand, settle, losses: 0 });
      this.#next();
    });
  }

  /** Ends the current and all waiting sources as `stopped`. The thread is gone when this resolves. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const { settle } of this.#waiting.splice(0)) settle(stopped());
    this.#current?.settle(stopped());
    this.#worker?.ref(); // This method waits for its end.
    this.#worker?.postMessage(LEAVE);
    await this.#gone;
  }

  #next(): void {
    if (this.#current !== null) return;
    const task = this.#waiting.shift();
    if (task === undefined) {
      this.#worker?.unref();
      return;
    }
    this.#length -= task.errand.code.length;
    this.#current = task;
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(task.errand);
  }

  #start(): Worker {
    const worker = new Worker(urlOf(this.#program), { smol: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    worker.addEventListener("message", ({ data }: MessageEvent<Report>) => {
      const task = this.#current;
      this.#current = null;
      task?.settle("reading" in data ? data.reading : refusalOf(data.fault));
      if (!this.#isDisposed) this.#next();
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault(); // The `close` event follows, and handles it.
      worker.terminate();
    });
    worker.addEventListener("close", () => {
      resolve();
      this.#worker = null;
      if (!this.#isDisposed) this.#lost();
    });
    return worker;
  }

  #lost(): void {
    const task = this.#current;
    this.#current = null;
    if (task !== null && ++task.losses > 1) {
      task.settle(new CodeRefusal("unavailable", "What reads code ended twice over this; write it in another way."));
    } else if (task !== null) {
      this.#length += task.errand.code.length;
      this.#waiting.unshift(task);
    }
    this.#next();
  }
}

const stopped = (): CodeRefusal => new CodeRefusal("stopped", "The code actor was stopped before the code was read.");

function refusalOf({ kind, message, line, column }: CodeError): CodeRefusal {
  return new CodeRefusal(kind, message, line === undefined || column === undefined ? undefined : { line, column });
}

/** Starting a thread from a text needs a URL, which lives as long as the process. There is one per reader. */
function urlOf(program: ChildProgram): string {
  if (typeof program === "string") return program;
  return URL.createObjectURL(new Blob([program.text], { type: "text/javascript" }));
}
