import type { Factory, SignaturesOf, Topic } from "envoi";
import type { Level, Stock } from "./protocols";

/** Most items, so that strangers cannot fill the memory. */
const MOST = 10_000;

/** Keeps the stock in memory, and publishes each change: **replace this by your own**. */
export const createStock =
  (changes: Topic<Level>): Factory<SignaturesOf<typeof Stock>> =>
  () => {
    const levels = new Map<string, number>();
    const set = (item: string, left: number): Level => {
      levels.set(item, left);
      changes.publish({ item, left });
      return { item, left };
    };
    return {
      add({ item, count }) {
        if (!levels.has(item) && levels.size >= MOST) return { refused: "There is no room for another item." };
        return set(item, (levels.get(item) ?? 0) + count);
      },
      take({ item, count }) {
        const left = (levels.get(item) ?? 0) - count;
        return left < 0 ? { refused: `There are fewer than ${count} of ${item}.` } : set(item, left);
      },
      levels: () => [...levels].map(([item, left]) => ({ item, left })),
    };
  };
