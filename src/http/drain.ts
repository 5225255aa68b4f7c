import type { Clock, Logger } from "../index";
import type { Part } from "./contract";

/** Milliseconds that a part has to end its streams once their time is over. */
const GRACE = 1_000;

/** Lets the streams of parts end within a time, tells them when it is over, and then waits for what else runs. */
export async function drainParts(
  parts: readonly Part[],
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  timeout: number,
  andThen: () => Promise<void>,
): Promise<void> {
  const end = new AbortController();
  let giveUp = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  let timer = clock.setTimer(() => {
    end.abort();
    timer = clock.setTimer(giveUp, GRACE);
  }, timeout);
  const ended = Promise.allSettled(parts.map(async (part) => part.drain?.(end.signal)));
  const results = await Promise.race([ended, late]);
  if (results === undefined) log.warn("A part of the gateway did not end its streams in time.");
  for (const result of results ?? []) {
    if (result.status === "rejected") log.error("A part of the gateway did not drain.", { cause: result.reason });
  }
  await Promise.race([andThen(), late]);
  timer.cancel();
}
