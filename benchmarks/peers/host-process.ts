import { adopt, endByForce } from "./children";

/** The process of a candidate, and what it tells its parent. */
export class HostProcess<Told> {
  readonly #child: Bun.Subprocess;
  readonly #told: Told[] = [];
  #wake = (): void => {};
  #hasEnded = false;

  constructor(module: string, ...args: readonly string[]) {
    this.#child = adopt(
      Bun.spawn([process.execPath, module, ...args], {
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
  async next(patience: number): Promise<Told | undefined> {
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
