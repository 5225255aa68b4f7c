import type { Site } from "../contract";
import { PAUSE, type Slow } from "../disconnects";
import { refuse } from "../problem";

/**
 * Waits for what a function of the owner decides of a request, for as long as an ask may take: a function that never answers would hold each
 * request for ever, also those of clients that have left. A timer is only set for what has taken a while.
 *
 * @param late gives what counts after that time.
 */
export function decided<Value, Late>(
  { disconnects, clock, limits, log }: Pick<Site, "disconnects" | "clock" | "limits" | "log">,
  told: Promise<Value>,
  by: "authenticate" | "authorize",
  late: () => Late,
): Promise<Value | Late> {
  return new Promise((resolve, reject) => {
    let timer: { cancel(): void } | undefined;
    const wait: Slow = {
      before: null,
      after: null,
      grown() {
        const left = Math.max(limits.time - PAUSE, 0);
        timer = clock.setTimer(() => {
          log.error(`${by} decided nothing within ${limits.time} ms: its request was refused.`);
          resolve(late());
        }, left);
      },
    };
    const end = (): void => {
      disconnects.drop(wait);
      timer?.cancel();
    };
    disconnects.add(wait);
    told.then(
      (value) => {
        end();
        resolve(value);
      },
      (thrown) => {
        end();
        reject(thrown);
      },
    );
  });
}

/** The refusal of a request of which nothing was decided in time. */
export const refuseLate = (): Response =>
  refuse("unavailable", "The service could not decide in time whether the caller may: try again later.");
