import { REFUSALS } from "../tools/call-refusals";
import { answerUrl } from "./globals/url";
import type { Told } from "./quickjs";
import type { Timers } from "./timers";

/** Functions of the process that need nothing of the run but its timers: see `Natives`. */
export type Helper = "setTimer" | "clearTimer" | "askUrl" | "random";

/** What such a function gives the prelude. */
export function help(native: Helper, text: string, timers: Timers): Told {
  switch (native) {
    case "setTimer":
      return timers.set(Number(text.slice(4)), text.startsWith("each"), performance.now());
    case "clearTimer":
      timers.clear(Number(text));
      return 0;
    case "askUrl":
      return answerUrl(text);
    default:
      return crypto.getRandomValues(Buffer.alloc(Number(text))).toString("hex");
  }
}

/** The number of a call that is answered here: not above 0, and by it the answer is found. */
export const refused = (why: keyof typeof REFUSALS): number => -Object.keys(REFUSALS).indexOf(why);
