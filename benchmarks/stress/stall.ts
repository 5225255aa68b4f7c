import type { Load } from "./load";
import type { Stall } from "./results";

/** How long the process under load does nothing, in milliseconds. */
const STALLED = 200;
/** Each way of load lasts ten times as long. */
const LASTS = STALLED * 10;

/** Has the process under load stall once under load on an open schedule, and once in a closed loop. */
export async function compareStalls(load: Load, rate: number, operation = "ask"): Promise<Stall> {
  const stall = async () => {
    await Bun.sleep(LASTS / 4);
    await load.command("stall", STALLED);
  };
  await load.change({ rate, mix: { [operation]: 1 } });
  const [open] = await Promise.all([load.window(LASTS), stall()]);
  await load.rest();
  const [closed] = await Promise.all([load.closed(operation, LASTS), stall()]);
  return { milliseconds: STALLED, rate, open: open.all.latency, closed: closed.latency };
}
