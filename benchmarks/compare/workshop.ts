import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { descendants, signalAll } from "../harness/processes";

/** How long a process may take to put away what it made, once it was told to end, in milliseconds. */
const GRACE = 2_000;

type Ipc = (message: unknown) => void;
type Child = Subprocess<"ignore", "ignore" | "pipe", "pipe">;

/**
 * A temporary folder, and the processes that work in it. Once it is closed, or this process ends, neither is left: each process
 * leads a group of its own, which ends with it.
 */
export class Workshop {
  readonly folder: string;
  readonly #children = new Set<Child>();
  readonly #onAbort = (): void => {
    for (const child of this.#children) void this.end(child);
  };
  readonly #onExit = (): void => {
    for (const child of this.#children) kill(child);
    this.#remove();
  };

  /** @param signal Ends the processes once it is aborted, so that nothing waits for them. */
  constructor(readonly signal: AbortSignal) {
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), "envoi-compare-"));
    process.on("exit", this.#onExit);
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Starts Bun in a folder. With `ipc` it has a channel, and what it prints is dropped; else `stdout` is to be read. */
  start(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>, ipc?: Ipc): Child {
    this.signal.throwIfAborted();
    const child: Child = Bun.spawn([process.execPath, ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", ipc ? "ignore" : "pipe", "pipe"],
      detached: true,
      ...(ipc && { ipc }),
    });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    return child;
  }

  /** Runs Bun to its end, and throws what it printed when it failed. */
  async run(cwd: string, args: readonly string[]): Promise<void> {
    const child = this.start(cwd, args, { NO_COLOR: "1" });
    const texts = [child.stdout, child.stderr].map((stream) => (stream ? new Response(stream).text() : ""));
    const [out, complaint, status] = [...(await Promise.all(texts)), await child.exited];
    this.signal.throwIfAborted();
    if (status !== 0) throw new Error(`\`bun ${args.join(" ")}\` ended with ${status}:\n${out}${complaint}`.trimEnd());
  }

  /** Tells a process to put away what it made and to end, ends it where it does not, and what it started with it. */
  async end(child: Child): Promise<void> {
    child.kill("SIGTERM");
    const timer = setTimeout(() => kill(child), GRACE);
    await child.exited;
    clearTimeout(timer);
    signalAll([-child.pid], "SIGKILL");
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children].map((child) => this.end(child)));
    this.signal.removeEventListener("abort", this.#onAbort);
    process.off("exit", this.#onExit);
    this.#remove();
  }

  #remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function kill(child: Child): void {
  signalAll([-child.pid, ...descendants(child.pid)], "SIGKILL"); // A pool's processes may lead groups of their own.
}
