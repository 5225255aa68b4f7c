import type { Workspace } from "./workspace";

/** Longest work between two pauses, in milliseconds: half of a dispatcher's turn. */
const LONGEST = 0.5;

/** Tells long work when to let timers, I/O and other actors run. */
export class Pace {
  readonly #workspace: Pick<Workspace, "clock" | "pause">;
  readonly #most: number;
  #since: number;
  #spent = 0;

  /** @param most the most work between two pauses, even if it took little time. */
  constructor(workspace: Pick<Workspace, "clock" | "pause">, most: number) {
    this.#workspace = workspace;
    this.#most = most;
    this.#since = workspace.clock.monotonicTime();
  }

  /** Notes that work was done. Returns true if a pause is due. */
  spend(work: number): boolean {
    this.#spent += work;
    return this.#spent >= this.#most || this.#workspace.clock.monotonicTime() - this.#since >= LONGEST;
  }

  /** Pauses if that is due. */
  async rest(): Promise<void> {
    if (this.spend(0)) await this.pause();
  }

  async pause(): Promise<void> {
    await this.#workspace.pause();
    this.#spent = 0;
    this.#since = this.#workspace.clock.monotonicTime();
  }
}
