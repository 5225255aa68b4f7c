import { defineProtocol, type RefTo, refSchema, type System, Type } from "../../src/index";
import { answered } from "./answered";

const Producer = defineProtocol("producer", { produce: {} });
const Consumer = defineProtocol("consumer", {
  consume: { payload: Type.Number() },
  consumed: { reply: Type.Object({ items: Type.Number(), sum: Type.Number() }) },
});
const Buffer = defineProtocol("buffer", {
  hasWork: { payload: refSchema(Producer) },
  item: { payload: Type.Number() },
  finished: {},
  isFree: { payload: refSchema(Consumer) },
});

export interface BoundedBufferSizes {
  readonly producers?: number;
  readonly consumers?: number;
  /** Of each producer. */
  readonly items?: number;
  readonly capacity?: number;
}

export interface BoundedBufferAnswer {
  readonly items: number;
  readonly sum: number;
  readonly overflows: number;
}

/**
 * Producers and consumers around a buffer of fixed size, which an actor looks after: producers wait while it is full,
 * consumers while it is empty. Items are numbered from 0 to n - 1; each is consumed once, so they add up to n (n - 1) /
 * 2.
 */
export async function boundedBuffer(
  system: System,
  { producers = 40, consumers = 40, items = 1_000, capacity = 50 }: BoundedBufferSizes = {},
): Promise<BoundedBufferAnswer> {
  const done = Promise.withResolvers<number>();

  const buffer = system.spawn("buffer", Buffer, (ctx) => {
    const stored: number[] = [];
    const free: RefTo<typeof Consumer>[] = [];
    const eager: RefTo<typeof Producer>[] = [];
    let promised = 0; // Places kept for what producers were told to make.
    let finished = 0;
    let overflows = 0;

    const admit = (): void => {
      while (stored.length + promised < capacity) {
        const producer = eager.shift();
        if (producer === undefined) return;
        promised++;
        ctx.tell(producer, "produce");
      }
    };
    const endWhenEmpty = (): void => {
      if (finished === producers && stored.length === 0 && free.length === consumers) done.resolve(overflows);
    };

    return {
      hasWork(producer) {
        eager.push(producer);
        admit();
      },
      item(item) {
        promised--;
        const consumer = free.shift();
        if (consumer === undefined) stored.push(item);
        else ctx.tell(consumer, "consume", item);
        if (stored.length > capacity) overflows++;
        admit();
      },
      isFree(consumer) {
        const item = stored.shift();
        if (item === undefined) free.push(consumer);
        else ctx.tell(consumer, "consume", item);
        admit();
        endWhenEmpty();
      },
      finished() {
        finished++;
        endWhenEmpty();
      },
    };
  });

  for (let index = 0; index < producers; index++) {
    const producer = system.spawn(`producer-${index}`, Producer, (ctx) => {
      let made = 0;
      return {
        produce() {
          ctx.tell(buffer, "item", index * items + made);
          made++;
          if (made < items) ctx.tell(buffer, "hasWork", ctx.self);
          else ctx.tell(buffer, "finished");
        },
      };
    });
    buffer.tell("hasWork", producer);
  }

  const crew = Array.from({ length: consumers }, (_, index) =>
    system.spawn(`consumer-${index}`, Consumer, (ctx) => {
      const consumed = { items: 0, sum: 0 };
      return {
        consume(item) {
          consumed.items++;
          consumed.sum += item;
          ctx.tell(buffer, "isFree", ctx.self);
        },
        consumed: () => consumed,
      };
    }),
  );
  for (const consumer of crew) buffer.tell("isFree", consumer);

  const total = { items: 0, sum: 0, overflows: await done.promise };
  for (const consumed of await Promise.all(crew.map((consumer) => consumer.ask("consumed")))) {
    const { items, sum } = answered(consumed);
    total.items += items;
    total.sum += sum;
  }
  return total;
}
