import type { CallOptions, Settings } from "./settings";
import { Gap, readerOf, type SocketSource } from "./socket-reader";

/** The options of a subscription to a topic. */
export interface SubscribeOptions extends Pick<CallOptions, "signal"> {
  /** Most items that wait for a reader that is slow for a while. Further ones are left out, as `onGap` tells. Default: 1,000. */
  readonly buffer?: number;
  /**
   * Called where items may be missing before the next one, which waits for its promise: read the state anew there. With null when
   * the subscription has begun, first and again after the socket was lost: nobody knows how many came before. With the number of
   * the items that were left out, because the reader was too slow. Where it throws, the loop does. Default: none; nothing is told.
   */
  readonly onGap?: (missed: number | null) => void | Promise<void>;
}

/** Reads a topic, and subscribes again where the socket was lost. */
export function subscriptionTo(
  what: string,
  socket: Pick<SocketSource, "begin" | "cancel">,
  settings: Settings,
  { buffer = 1_000, onGap, ...options }: SubscribeOptions,
): AsyncIterableIterator<unknown, undefined> {
  const miss = (waiting: unknown[], missed: number | null): void => {
    const last = waiting.at(-1);
    const isGap = last instanceof Gap;
    if (isGap) waiting.pop();
    const isKnown = missed !== null && !(isGap && last.missed === null);
    waiting.push(new Gap(isKnown ? missed + (isGap ? (last.missed ?? 0) : 0) : null));
  };
  const source: SocketSource = {
    what,
    error: null,
    ...socket,
    take({ kind, count, items }, waiting) {
      if (kind === "subscribed") miss(waiting, null);
      if (kind === "missed" && typeof count === "number") miss(waiting, count);
      if (kind === "items" && Array.isArray(items)) {
        for (const item of items) {
          if (waiting.length < buffer) waiting.push(item);
          else miss(waiting, 1);
        }
      }
      return kind === "subscribed";
    },
    // A service that ends is unavailable: another one takes its place.
    isRepeatable: ({ kind }) => kind === "unknown" || kind === "unavailable",
    onGap,
  };
  return readerOf(source, settings, options);
}
