import { disk, makeFolder } from "../harness/places";
import { Generator, type Mix, type Request } from "./generator";
import type { Window } from "./results";
import type { Call, Look, Said } from "./subject";

/** What is to bear a load. */
export interface LoadOptions {
  /** The module that opens it; it exports an `Open` as `open`. */
  readonly subject: URL;
  /** Which one the module opens. Default: none. */
  readonly name?: string;
  /** Milliseconds until a request without an answer is given up. Default: 1,000. */
  readonly patience?: number;
  /** Ends the load when aborted: all that waits for it rejects. */
  readonly signal: AbortSignal;
}

/**
 * So many requests may be on their way to the process under load, about as many as it handles in a turn of its event loop. Others
 * wait here, where they can be given up: a process that takes in more than it handles does nothing else, and answers nobody.
 */
const ON_THE_WAY = 1_000;
/** For messages whose askers gave up to be done with, and for a process to end, in milliseconds. */
const PATIENCE = 10_000;

/** Load on an open schedule, from this process on a subject in a process of its own. */
export class Load implements AsyncDisposable {
  readonly #process;
  readonly #signal: AbortSignal;
  readonly #generator: Generator;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #timer: Timer;
  readonly #remove: () => void;
  /** Rejects once the process has ended. */
  readonly #gone = Promise.withResolvers<never>();
  #waiting: (readonly Request[])[] = [];
  #onTheWay = 0;
  #called = 0;
  #ended: Promise<void> | undefined;

  /** @throws Error in the words of the subject when it cannot be opened. */
  static async start(options: LoadOptions): Promise<Load> {
    options.signal.throwIfAborted();
    const load = new Load(options);
    try {
      await load.look();
      return load;
    } catch (thrown) {
      await load.stop();
      throw thrown;
    }
  }

  private constructor({ subject, name = "", patience = 1_000, signal }: LoadOptions) {
    const { path, remove } = makeFolder(disk, "envoi-stress-");
    this.#remove = remove;
    this.#signal = signal;
    this.#process = Bun.spawn({
      cmd: [process.execPath, Bun.fileURLToPath(new URL("subject.ts", import.meta.url)), subject.href, name, path],
      stdio: ["ignore", "ignore", "inherit"],
      serialization: "json",
      ipc: (said: Said) => this.#hear(said),
      onExit: () => this.#hangUp(),
    });
    this.#gone.promise.catch(() => {}); // All that waits for the process tells it.
    const send = (requests: readonly Request[]) => {
      this.#waiting.push(requests);
      this.#send();
    };
    this.#generator = new Generator({ patience, send });
    this.#timer = setInterval(() => this.#generator.tick(), 1);
    signal.addEventListener("abort", this.stop);
  }

  /** The process under load. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Goes on at once with another rate, in requests a second, and by default with the same mix. */
  change(rate: number, mix?: Mix): void {
    this.#generator.change(rate, mix);
  }

  /** The figures of the requests that are due in the next so many milliseconds, once all of these are answered or given up. */
  async window(milliseconds: number): Promise<Window> {
    const seeing = Promise.race([this.#generator.window(milliseconds), this.#gone.promise]);
    const later = Bun.sleep(milliseconds).then(() => this.look());
    const [seen, before, after] = await Promise.all([seeing, this.look(), later]);
    const subject = (after.processor - before.processor) / (after.at - before.at);
    return { ...seen, subject, rss: after.rss };
  }

  /** Sends no more, and resolves once nothing is open and no message waits or runs. @throws Error when some do after ten seconds. */
  async rest(): Promise<void> {
    this.change(0);
    for (const end = performance.now() + PATIENCE; ; await Bun.sleep(10)) {
      const { queued, running } = (await this.look()).audit;
      if (this.#generator.open + queued + running === 0) return;
      if (performance.now() > end) {
        throw new Error(`${queued} messages wait and ${running} run, though nothing is asked.`);
      }
    }
  }

  look(): Promise<Look> {
    return this.call("look");
  }

  /** Runs a command of the subject, or `heap`: its live heap in bytes after a forced collection, which stalls it for that time. */
  call<Value>(name: string): Promise<Value> {
    const waiting = Promise.withResolvers<unknown>();
    const call = this.#called++;
    this.#calls.set(call, waiting);
    if (this.#ended === undefined) this.#process.send({ call, name } satisfies Call);
    // The caller knows what the command gives.
    return Promise.race([waiting.promise as Promise<Value>, this.#gone.promise]);
  }

  /** Ends the process under load, and removes what it kept. */
  readonly stop = (): Promise<void> => {
    this.#ended ??= this.#end();
    return this.#ended;
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #end(): Promise<void> {
    this.#hangUp();
    this.#process.disconnect();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), PATIENCE);
    await this.#process.exited;
    clearTimeout(timer);
    this.#remove();
  }

  #hangUp(): void {
    clearInterval(this.#timer);
    this.#signal.removeEventListener("abort", this.stop);
    this.#gone.reject(new Error("The load has ended, and so has the process that bore it."));
  }

  #hear(said: Said): void {
    if ("answers" in said) {
      for (let i = 0; i < said.answers.length; i += 2) {
        const [id, outcome] = [Number(said.answers[i]), said.answers[i + 1]];
        this.#generator.settle(id, outcome === id ? undefined : typeof outcome === "string" ? outcome : "wrong");
      }
      this.#onTheWay -= said.taken;
      this.#send();
    } else {
      if (said.error === undefined) this.#calls.get(said.call)?.resolve(said.value);
      else this.#calls.get(said.call)?.reject(new Error(said.error));
      this.#calls.delete(said.call);
    }
  }

  /** Sends what it may; requests that were given up meanwhile are left out. */
  #send(): void {
    while (this.#onTheWay < ON_THE_WAY && this.#waiting.length > 0) {
      const open = (this.#waiting.shift() ?? []).filter(([id]) => this.#generator.isOpen(id));
      if (open.length === 0) continue;
      this.#onTheWay += open.length;
      this.#process.send(open);
    }
  }
}
