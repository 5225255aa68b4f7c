import { defineProtocol, type System, Type } from "../../src/index";

const Worker = defineProtocol("worker", { work: { payload: Type.Number() } });
const Tally = Type.Object({ handled: Type.Number(), outOfOrder: Type.Number() });
const Collector = defineProtocol("collector", { finished: { payload: Tally } });

export interface ForkJoinThroughputAnswer {
  readonly handled: number;
  readonly outOfOrder: number;
}

/**
 * Numbered messages are dealt to many workers in turn. Each worker gets its own in order, and reports once it has had
 * the last: together they handle `workers` times `messages`.
 */
export async function forkJoinThroughput(
  system: System,
  { workers = 60, messages = 10_000 }: { readonly workers?: number; readonly messages?: number } = {},
): Promise<ForkJoinThroughputAnswer> {
  const done = Promise.withResolvers<ForkJoinThroughputAnswer>();

  const collector = system.spawn("collector", Collector, () => {
    const total = { handled: 0, outOfOrder: 0 };
    let finished = 0;
    return {
      finished({ handled, outOfOrder }) {
        total.handled += handled;
        total.outOfOrder += outOfOrder;
        if (++finished === workers) done.resolve(total);
      },
    };
  });

  const crew = Array.from({ length: workers }, (_, index) =>
    system.spawn(`worker-${index}`, Worker, (ctx) => {
      let handled = 0;
      let outOfOrder = 0;
      return {
        work(number) {
          if (number !== handled) outOfOrder++;
          handled++;
          if (handled === messages) ctx.tell(collector, "finished", { handled, outOfOrder });
        },
      };
    }),
  );

  for (let number = 0; number < messages; number++) for (const worker of crew) worker.tell("work", number);
  return done.promise;
}
