import type { Subprocess } from "bun";
import { span } from "./estimate";
import { type Effort, FailedRow, type Failure, failureOf, measureRow, smokeRow } from "./measure";
import { descendants, endDescendants, signalAll } from "./processes";
import type { RowResult } from "./results";
import { RefusedRow } from "./sampling";
import type { Suite } from "./suite";
import { threadTime } from "./timer";

/** Of a process that died, the end of what it said, in characters. */
const LAST_WORDS = 2_000;
/** How long it may take to put away what it made, in milliseconds. */
const GRACE = 2_000;

interface Order {
  readonly row: string;
  /** How long to measure it; left out where a few calls of it are enough. */
  readonly effort?: Effort;
}

type Answer = { readonly result?: RowResult } | { readonly failed: Failure };

type Child = Subprocess<"ignore", "ignore", "pipe">;

/**
 * A process in which the rows of one suite are measured: what the compiler learnt from other suites, and what they left on the heap,
 * has no part in them. After a row that fails, the next one has another.
 */
export class SuiteProcess {
  #child: Child | undefined;
  #row = "";
  #onAnswer: (answer: Answer) => void = () => {};

  /** @param file The module that exports the suite. */
  constructor(private readonly file: string) {}

  /**
   * @param patience How many seconds the row has: one that never ends is given up then, and its process with it.
   * @throws FailedRow as the row failed there.
   */
  async measure(row: string, effort: Effort, patience: number): Promise<RowResult> {
    const result = await this.#ask({ row, effort }, patience);
    if (result === undefined) throw new Error("a row that was measured has a result");
    return result;
  }

  /** The same of a few calls of a row, of which nothing is told but that it does its work. */
  async smoke(row: string, patience: number): Promise<void> {
    await this.#ask({ row }, patience);
  }

  async #ask(order: Order, patience: number): Promise<RowResult | undefined> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#onAnswer = resolve;
    this.#row = order.row;
    this.#child ??= this.#start();
    this.#child.send(order);
    const timer = setTimeout(() => this.#giveUp(`it was given up after ${span(patience)}`), 1_000 * patience);
    const answer = await promise;
    clearTimeout(timer);
    if ("failed" in answer) {
      await this.end(); // What the row left behind goes with its process.
      this.#child = undefined;
      throw new FailedRow(answer.failed);
    }
    return answer.result;
  }

  #fail(why: string, words = ""): void {
    this.#onAnswer({ failed: { why, told: `Row "${this.#row}" failed: ${why}${words ? `: ${words}` : "."}` } });
  }

  #giveUp(why: string): void {
    this.#fail(why);
    const child = this.#child;
    this.#child = undefined;
    if (child) signalAll([child.pid, ...descendants(child.pid)], "SIGKILL");
  }

  #start(): Child {
    const child: Child = Bun.spawn([process.execPath, import.meta.path, this.file], {
      stdio: ["ignore", "ignore", "pipe"],
      ipc: (answer: Answer) => this.#onAnswer(answer),
    });
    void Promise.all([child.stderr.text(), child.exited]).then(([text]) => {
      if (this.#child !== child) return; // It was given up, and another may be at work.
      this.#child = undefined;
      this.#fail(`its process ended (${child.signalCode ?? child.exitCode})`, text.trim().slice(-LAST_WORDS));
    });
    return child;
  }

  /** Lets it put away what it made, and ends it where it does not. */
  async end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.disconnect();
    const timer = setTimeout(() => signalAll([child.pid, ...descendants(child.pid)], "SIGKILL"), GRACE);
    await child.exited;
    clearTimeout(timer);
  }
}

/**
 * Milliseconds in which a thread without work uses less of a processor than a share; a row has some of them to come to rest. The share is
 * small, as a thread with work may get no more of a machine that is busy with others.
 */
const REST = { window: 20, windows: 10, share: 0.1 };

/**
 * Waits until nothing of a row is at work in this thread any more.
 *
 * @throws RefusedRow when it goes on: it would be measured with the next row.
 */
async function comeToRest(row: string): Promise<void> {
  for (let i = 0; i < REST.windows; i++) {
    const [wall, used] = [performance.now(), threadTime()];
    await Bun.sleep(REST.window);
    if (threadTime() - used < REST.share * (performance.now() - wall)) return;
  }
  throw new RefusedRow(row, "it left work behind, which goes on once the row is over");
}

if (import.meta.main) {
  // To leave by the door: what is to go with the process, such as its folders, goes.
  const leave = () => {
    endDescendants("SIGTERM");
    process.exit(0);
  };
  for (const event of ["SIGINT", "SIGTERM", "disconnect"]) process.on(event, leave);
  const loading: Promise<{ readonly suite: Suite }> = import(process.argv[2] ?? "");
  process.on("message", async ({ row: name, effort }: Order) => {
    let answer: Answer;
    try {
      const row = (await loading).suite.rows.find((each) => each.name === name);
      if (row === undefined) throw new Error("it is not there in a process of its own");
      answer = effort === undefined ? await smokeRow(row).then(() => ({})) : { result: await measureRow(row, effort) };
      await comeToRest(name);
    } catch (error) {
      answer = { failed: failureOf(name, error) };
    }
    process.send?.(answer);
  });
}
