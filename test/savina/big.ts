import { defineProtocol, type RefTo, refSchema, type System, Type } from "../../src/index";
import { answered } from "./answered";
import { pick, seededRandom } from "./random";

const Ping = Type.Object({ from: refSchema<{ pong: (number: number) => void }>(), number: Type.Number() });
const Worker = defineProtocol("worker", {
  start: {},
  ping: { payload: Ping },
  pong: { payload: Type.Number() },
  counts: { reply: Type.Object({ pings: Type.Number(), pongs: Type.Number(), wrong: Type.Number() }) },
});
const Sink = defineProtocol("sink", { finished: {} });

export interface BigSizes {
  readonly workers?: number;
  /** Of each worker. */
  readonly pings?: number;
  readonly seed?: number;
}

export interface BigAnswer {
  readonly pings: number;
  readonly pongs: number;
  readonly wrong: number;
}

/**
 * All to all: every actor pings one by chance, waits for its pong and pings the next, until it has had enough. All
 * pings, and all pongs, are `workers` times `pings`; a pong brings back the number of its ping.
 */
export async function big(
  system: System,
  { workers = 120, pings = 2_000, seed = 1 }: BigSizes = {},
): Promise<BigAnswer> {
  const done = Promise.withResolvers<void>();

  const sink = system.spawn("sink", Sink, () => {
    let finished = 0;
    return {
      finished() {
        if (++finished === workers) done.resolve();
      },
    };
  });

  const all: RefTo<typeof Worker>[] = [];
  for (let index = 0; index < workers; index++) {
    const worker = system.spawn(`worker-${index}`, Worker, (ctx) => {
      const random = seededRandom(seed + index);
      const counts = { pings: 0, pongs: 0, wrong: 0 };
      const ping = (): void => ctx.tell(pick(all, random), "ping", { from: ctx.self, number: counts.pongs });
      return {
        start: ping,
        ping({ from, number }) {
          counts.pings++;
          ctx.tell(from, "pong", number);
        },
        pong(number) {
          if (number !== counts.pongs) counts.wrong++;
          counts.pongs++;
          if (counts.pongs < pings) ping();
          else ctx.tell(sink, "finished");
        },
        counts: () => counts,
      };
    });
    all.push(worker);
  }

  for (const worker of all) worker.tell("start");
  await done.promise;

  const total = { pings: 0, pongs: 0, wrong: 0 };
  for (const counts of await Promise.all(all.map((worker) => worker.ask("counts")))) {
    const { pings, pongs, wrong } = answered(counts);
    total.pings += pings;
    total.pongs += pongs;
    total.wrong += wrong;
  }
  return total;
}
