import type { Subprocess } from "bun";
import { span } from "./format";
import { descendants, endDescendants, signalAll } from "./processes";

const GRACE = 2_000; // Milliseconds for a process to put away what it made.
const LAST = 100; // Milliseconds in which what it said last comes.
const LAST_WORDS = 500; // Of a process that died, the end of what it said, in characters.

export interface Fault {
  /** The name of the error; `late` where the process was given up, and `gone` where it died. */
  readonly kind: string;
  readonly why: string;
  /** The same with what helps to find the cause: the stack, or the last words of the process. */
  readonly told: string;
}

export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof OrderError) return thrown.fault;
  // What went wrong first says why; the teardown after it may fail of that.
  if (thrown instanceof SuppressedError) return faultOf(thrown.suppressed);
  const [kind, why] = thrown instanceof Error ? [thrown.name, thrown.message] : ["thrown", String(thrown)];
  return { kind, why, told: Bun.inspect(thrown) };
}

export class OrderError extends Error {
  constructor(readonly fault: Fault) {
    super(fault.why);
    this.name = "OrderError";
  }
}

type Answer<Value> = { readonly value: Value } | { readonly fault: Fault };

interface WorkerOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** Whether it leads a group of its own, so that a terminal's Ctrl-C reaches it by the signal alone. Default: false. */
  readonly detached?: boolean;
  /** Default: its last words are told when it dies. */
  readonly stderr?: "pipe" | "ignore";
}

/** A process that follows one order at a time, and answers each. The program in it calls `follow`. */
export class WorkerProcess<Order, Value> {
  readonly #child: Subprocess<"ignore", "ignore", "pipe" | "ignore">;
  readonly #options: WorkerOptions;
  #answered = Promise.withResolvers<Answer<Value>>();
  #end: Fault | undefined;

  constructor(command: readonly string[], options: WorkerOptions = {}) {
    const { stderr = "pipe", ...spawning } = options;
    options.signal?.throwIfAborted();
    this.#options = options;
    this.#child = Bun.spawn([process.execPath, ...command], {
      ...spawning,
      stdio: ["ignore", "ignore", stderr],
      ipc: (answer: Answer<Value>) => this.#answered.resolve(answer),
    });
    void this.#watch();
  }

  async #watch(): Promise<void> {
    const { exited, stderr } = this.#child;
    const said = stderr?.text();
    await exited;
    // What it started may live on, and hold its output open.
    const text = (await Promise.race([said, Bun.sleep(LAST)])) ?? "";
    const why = `its process ended (${this.#child.signalCode ?? this.#child.exitCode})`;
    const words = text.trim().slice(-LAST_WORDS);
    this.#fail({ kind: "gone", why, told: words ? `${why}: ${words}` : `${why}.` });
  }

  #fail(fault: Fault): void {
    this.#end ??= fault;
    this.#answered.resolve({ fault });
  }

  /** @throws OrderError when it was not followed within so many milliseconds, or the signal's reason once that is aborted. */
  async ask(order: Order, patience: number): Promise<Value> {
    this.#options.signal?.throwIfAborted();
    if (this.#end !== undefined) throw new OrderError(this.#end);
    this.#answered = Promise.withResolvers();
    try {
      this.#child.send(order);
    } catch {} // It has ended, which is told in a moment.
    const timer = setTimeout(() => {
      const why = `it was given up after ${span(patience / 1_000)}`;
      void this.end(); // First, since one that failed is not told to end.
      this.#fail({ kind: "late", why, told: `${why}.` });
    }, patience);
    const answer = await this.#answered.promise;
    clearTimeout(timer);
    this.#options.signal?.throwIfAborted();
    if ("fault" in answer) throw new OrderError(answer.fault);
    return answer.value;
  }

  async end(): Promise<void> {
    if (this.#end === undefined) this.#child.disconnect();
    const timer = setTimeout(() => this.kill(), GRACE);
    await this.#child.exited;
    clearTimeout(timer);
  }

  async kill(): Promise<void> {
    const { pid, exited } = this.#child;
    signalAll([...descendants(pid), this.#options.detached ? -pid : pid], "SIGKILL");
    await exited;
  }
}

/** Follows the orders of the process that started this one, until it is to end. */
export function follow<Order>(obey: (order: Order) => Promise<unknown>, putAway = async (): Promise<void> => {}): void {
  // To leave by the door: what is to go with the process, such as its folders, goes.
  const leave = () =>
    putAway().finally(() => {
      endDescendants("SIGTERM");
      process.exit(0);
    });
  for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.on(event, leave);
  process.on("message", async (order: Order) => {
    const answer = await obey(order).then(
      (value) => ({ value }),
      (thrown: unknown) => ({ fault: faultOf(thrown) }),
    );
    process.send?.(answer);
  });
}
