import type { TreeRow } from "../shapes";
import { Series } from "./sparkline";

/** The last numbers of one line of the tree. */
export interface History {
  readonly rate: Series;
  readonly queued: Series;
}

/** Lines that are remembered, beside those that are shown. */
const MOST = 1_000;

/** Remembers the numbers of the lines that were shown. */
export class Histories {
  readonly #all = new Map<string, History>();

  of(key: string): History {
    let history = this.#all.get(key);
    if (history === undefined) {
      history = { rate: new Series(), queued: new Series() };
      this.#all.set(key, history);
    }
    return history;
  }

  add(rows: readonly TreeRow[]): void {
    for (const { key, numbers } of rows) {
      if (numbers === undefined) continue;
      const history = this.of(key);
      history.rate.add(numbers.rate);
      history.queued.add(numbers.queued);
      this.#all.delete(key); // The latest ones are the last.
      this.#all.set(key, history);
    }
    for (const key of this.#all.keys()) {
      if (this.#all.size <= MOST) return;
      this.#all.delete(key);
    }
  }
}
