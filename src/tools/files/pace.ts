import type { Workspace } from "./workspace";

/** Longest work between two pauses, in milliseconds: half of a turn of the dispatcher. */
const LONGEST = 0.5;

/** Tells work that takes long when to let timers, I/O and other actors go on. */
export class Pace {
  readonly #workspace: Pick<Workspace, "clock" | "pause">;
  readonly #most: number;
  #since: number;
  #spent = 0;

  /** @param most what may be spent between two pauses, however little time that takes. */
  constructor(workspace: Pick<Workspace, "clock" | "pause">, most: number) {
    this.#workspace = workspace;
    this.#most = most;
    this.#since = workspace.clock.monotonicTime();
  }

  /** Notes that work was done; whether a pause is due. */
  spend(work: number): boolean {
    this.#spent += work;
    return this.#spent >= this.#most || this.#workspace.clock.monotonicTime() - this.#since >= LONGEST;
  }

  async pause(): Promise<void> {
    await this.#workspace.pause();
    this.#spent = 0;
    this.#since = this.#workspace.clock.monotonicTime();
  }
}
