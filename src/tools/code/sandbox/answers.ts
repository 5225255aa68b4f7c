import type { Order } from "../pool/channel";
import { stateOf } from "../repeat";
import { REFUSALS } from "../tools/call-refusals";
import { answerUrl } from "./globals/url";
import type { QuickJS, Told } from "./quickjs";
import type { Timers } from "./timers";

/** Functions of the process that need nothing of the run but its timers: see `Natives`. */
export type Helper = "setTimer" | "clearTimer" | "askUrl" | "random";

/** Most random bytes at once, as Web Crypto has it. Code may have changed what the prelude measures a list by. */
const MOST_RANDOM = 65_536;

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
      return randomBytes(Number(text));
  }
}

/** In hexadecimal digits; none where there are too many. */
function randomBytes(count: number): string | undefined {
  if (!Number.isInteger(count) || count < 0 || count > MOST_RANDOM) return undefined;
  return crypto.getRandomValues(Buffer.alloc(count)).toString("hex");
}

/** The number of a call that is answered here: not above 0, and by it the answer is found. */
export const refused = (why: keyof typeof REFUSALS): number => -Object.keys(REFUSALS).indexOf(why);

/** Gives a run the seed and the time that it was asked for with. */
export function repeat({ seed, now }: Order, quickjs: QuickJS): void {
  if (seed !== undefined) quickjs.seed(new Uint8Array(BigUint64Array.of(stateOf(seed)).buffer));
  setTime(now);
}

const time = Date.now;

/** Has `Date` stand still in the sandbox, which asks this process for the time, or go on. */
export function setTime(now?: number): void {
  Date.now = now === undefined ? time : () => now;
}
