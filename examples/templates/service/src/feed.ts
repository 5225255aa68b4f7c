import type { Factory, SignaturesOf } from "envoi";
import type { Feed, Level } from "./protocols";

/**
 * Tells each reader all levels, and then each change. A reader that is slow gets the newest level of each item: nothing piles up. Spawn it with a
 * concurrency of one more than it has readers, because it publishes while it streams.
 */
export const createFeed: Factory<SignaturesOf<typeof Feed>> = (ctx) => {
  const levels = new Map<string, Level>();
  const readers = new Set<(level: Level) => void>();
  return {
    publish(level) {
      levels.set(level.item, level);
      for (const tell of readers) tell(level);
    },
    async *changes() {
      const { signal } = ctx;
      const waiting = new Map(levels);
      let wake = () => {};
      const tell = (level: Level) => {
        waiting.set(level.item, level);
        wake();
      };
      readers.add(tell);
      ctx.onAbort(() => wake()); // The reader has left, or the service ends.
      try {
        while (!signal.aborted) {
          for (const [item, level] of waiting) {
            waiting.delete(item);
            yield level; // More may come meanwhile: the loop goes on with it.
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        readers.delete(tell);
      }
    },
  };
};
