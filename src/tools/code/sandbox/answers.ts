import type { Order } from "../pool/channel";
import { stateOf } from "../repeat";
import { REFUSALS } from "../tools/call-refusals";
import { answerUrl } from "./globals/url";
import type { QuickJS, Told } from "./quickjs";
import type { Timers } from "./timers";

/** The natives (see `Natives`) that need nothing of a run but its timers. */
export type Helper = "setTimer" | "clearTimer" | "askUrl" | "random";

/** Most random bytes per call, as in Web Crypto. Checked here, because code may have changed how the prelude measures. */
const MOST_RANDOM = 65_536;

/** Runs such a native, and returns its result to the prelude. */
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

/** In hexadecimal digits; undefined for an invalid count or too many bytes. */
function randomBytes(count: number): string | undefined {
  if (!Number.isInteger(count) || count < 0 || count > MOST_RANDOM) return undefined;
  return crypto.getRandomValues(Buffer.alloc(count)).toString("hex");
}

/** The number of a refused call: 0 or below, the negative index of its answer in `REFUSALS`. */
export const refused = (why: keyof typeof REFUSALS): number => -Object.keys(REFUSALS).indexOf(why);

/** Applies the seed and the time of an order to its run. */
export function repeat({ seed, now }: Order, quickjs: QuickJS): void {
  if (seed !== undefined) quickjs.seed(new Uint8Array(BigUint64Array.of(stateOf(seed)).buffer));
  setTime(now);
}

const time = Date.now;

/** Stops `Date` at a time, or lets it go on. The sandbox asks this process for the time. */
export function setTime(now?: number): void {
  Date.now = now === undefined ? time : () => now;
}
