/**
 * Keeps requests for one path in their order where one of them takes long: a write that is asked for after another one ends
 * after it, and a read sees what was written before. Requests for other paths overtake.
 */
export class Order {
  readonly #running = new Set<{ readonly paths: readonly string[]; readonly done: Promise<unknown> }>();

  /** Whether any change runs that later requests may have to wait for. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Resolves once all changes have ended that were begun before, and that touch these paths, or what is in them. */
  async before(paths: readonly string[]): Promise<void> {
    const others = [...this.#running].filter((change) => change.paths.some((a) => paths.some((b) => overlap(a, b))));
    await Promise.allSettled(others.map(({ done }) => done));
  }

  /** Lets later requests for these paths wait for a change. */
  note(paths: readonly string[], done: Promise<unknown>): void {
    const change = { paths, done };
    this.#running.add(change);
    const end = (): void => void this.#running.delete(change);
    done.then(end, end);
  }
}

/** Whether one of two whole paths is, or is in, the other one. */
export function overlap(a: string, b: string): boolean {
  if (a.length > b.length) return overlap(b, a);
  return a === "" || a === b || (b.startsWith(a) && b[a.length] === "/");
}
