import type { Handler } from "./types";

/** Actors that the checks are about, each made anew; a worker makes them by their names. */
export const kinds = {
  echo: (): Handler => (message) => message,

  /** Works a while when told to, and tells how many it worked at at once, at most. */
  slow: (): Handler => {
    let working = 0;
    let most = 0;
    return async (message) => {
      if (message !== "work") return most;
      most = Math.max(most, ++working);
      await Bun.sleep(20);
      working--;
      return most;
    };
  },

  /** Does not answer. */
  mute: (): Handler => () => new Promise(() => {}),

  /** Throws when told to. */
  frail: (): Handler => (message) => {
    if (message === "fail") throw new Error("as it was told to");
    return message;
  },

  /** Tells whether it runs where the process began. */
  thread: (): Handler => () => Bun.isMainThread,
} as const;

export type Kind = keyof typeof kinds;
