import { descendants, signalAll } from "../harness/processes";
import type { Told } from "./host";
import type { Turn } from "./room";

/** For a process to open its peer, or to take a turn, in milliseconds. */
const PATIENCE = 60_000;

const alive = new Set<HostProcess>();
let isEnding = false;

/** Ends all hosts, and waits until they have ended; none can be started any more. */
export async function endAll(): Promise<void> {
  isEnding = true;
  await Promise.all([...alive].map((host) => host.end()));
}

/** The process of a candidate, and what it tells its parent. */
export class HostProcess {
  readonly #child: Bun.Subprocess;
  readonly #opened: Promise<Told>;
  #hear: (told: Told) => void = () => {};

  /** @param args The path of `host.ts`, and what it takes. */
  constructor(args: readonly string[]) {
    if (isEnding) throw new Error("all processes were to end");
    this.#opened = this.#next();
    this.#child = Bun.spawn([process.execPath, ...args], {
      stdio: ["ignore", "ignore", "ignore"],
      detached: true, // A process group of its own: what a candidate started ends with it.
      ipc: (told: Told) => this.#hear(told),
    });
    alive.add(this);
    void this.#child.exited.then(() => {
      alive.delete(this);
      this.#hear({ kind: "failed", reason: "its process died" });
    });
  }

  /** What a turn gave; undefined where it gave nothing for so many milliseconds. */
  async ask(turn: Turn, patience = PATIENCE): Promise<Told | undefined> {
    const opened = await within(PATIENCE, this.#opened);
    if (opened?.kind !== "opened") return opened ?? { kind: "failed", reason: "it did not start within a minute" };
    if (!alive.has(this)) return { kind: "failed", reason: "its process died" };
    const told = this.#next();
    this.#child.send(turn);
    return within(patience, told);
  }

  /** Ends it by force, with its group and all that it started. */
  async end(): Promise<void> {
    const { pid, exited } = this.#child;
    signalAll([...descendants(pid), -pid], "SIGKILL");
    await exited;
  }

  #next(): Promise<Told> {
    const { promise, resolve } = Promise.withResolvers<Told>();
    this.#hear = resolve;
    return promise;
  }
}

async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, milliseconds);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
