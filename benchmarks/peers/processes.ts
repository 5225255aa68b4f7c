import { join } from "node:path";
import { descendants, signalAll } from "../harness/processes";
import type { Told } from "./room";

const HOST = join(import.meta.dir, "host.ts");

const alive = new Set<Bun.Subprocess>();
let isEnding = false;

/**
 * Remembers a process, which must lead a group of its own (`detached`), until it ends; so that none is left behind. Once all
 * are to end, a new one ends at once.
 */
function adopt<Child extends Bun.Subprocess>(child: Child): Child {
  alive.add(child);
  void child.exited.then(() => alive.delete(child));
  if (isEnding) endByForce(child);
  return child;
}

/** Ends a process by force, with its group and all that it started. */
function endByForce({ pid }: Bun.Subprocess): void {
  signalAll([...descendants(pid), -pid], "SIGKILL");
}

/** Ends all that are still there, and waits until they have ended. */
export async function endAll(): Promise<void> {
  isEnding = true;
  while (alive.size > 0) {
    const all = [...alive];
    for (const child of all) endByForce(child);
    await Promise.all(all.map(({ exited }) => exited));
  }
}

/** For a process to start, or to take a turn, in milliseconds. */
export const PATIENCE = 60_000;

/** The process of a candidate, and what it tells its parent. */
export class HostProcess {
  readonly #child: Bun.Subprocess;
  readonly #told: Told[] = [];
  #wake = (): void => {};
  #hasEnded = false;

  /** @param args The room, the name of the candidate, its folder, and what it is to do; see `host.ts`. */
  constructor(...args: readonly string[]) {
    this.#child = adopt(
      Bun.spawn([process.execPath, HOST, ...args], {
        stdio: ["ignore", "ignore", "ignore"],
        detached: true, // A process group of its own: what a candidate started ends with it.
        ipc: (told: Told) => {
          this.#told.push(told);
          this.#wake();
        },
      }),
    );
    void this.#child.exited.then(() => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Sends an order; to one that has ended, none. */
  ask(order: object): void {
    if (!this.#hasEnded && this.#child.exitCode === null && this.#child.signalCode === null) this.#child.send(order);
  }

  /** What it tells next; undefined where it ended, or told nothing for so many milliseconds. */
  async next(patience = PATIENCE): Promise<Told | undefined> {
    const deadline = performance.now() + patience;
    while (this.#told.length === 0 && !this.#hasEnded) {
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#told.shift();
  }

  async end(): Promise<void> {
    endByForce(this.#child);
    await this.#child.exited;
  }
}

/** Why there is no figure in what a process told. */
export const reasonIn = (told: Told | undefined): string => (told?.kind === "failed" ? told.reason : "it told nothing");
