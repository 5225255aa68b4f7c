/**
 * Keeps requests for one path in order when one of them takes long. A later write ends after an earlier one, and a read
 * sees all earlier writes. Requests for other paths may overtake.
 */
export class Order {
  readonly #running = new Set<{ readonly paths: readonly string[]; readonly done: Promise<unknown> }>();

  /** True while a change runs that later requests may have to wait for. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Resolves when all earlier changes of these paths, or of anything below them, have ended. */
  async before(paths: readonly string[]): Promise<void> {
    const others = [...this.#running].filter((change) => change.paths.some((a) => paths.some((b) => overlap(a, b))));
    await Promise.allSettled(others.map(({ done }) => done));
  }

  /** Makes later requests for these paths wait for a change. */
  note(paths: readonly string[], done: Promise<unknown>): void {
    const change = { paths, done };
    this.#running.add(change);
    const end = (): void => void this.#running.delete(change);
    done.then(end, end);
  }
}

/** True if the whole paths are equal or one is below the other. */
export function overlap(a: string, b: string): boolean {
  if (a.length > b.length) return overlap(b, a);
  return a === "" || a === b || (b.startsWith(a) && b[a.length] === "/");
}
