import { defineProtocol, type System, Type } from "../../src/index";
import { answered } from "./answered";

const Counter = defineProtocol("counter", { increment: {}, total: { reply: Type.Number() } });
const Producer = defineProtocol("producer", { produce: { payload: Type.Number(), reply: Type.Number() } });

/**
 * A producer tells a counter to count, many times, and then asks it for the total. Messages of one sender keep their
 * order, so the total holds all of them.
 */
export async function counting(
  system: System,
  { messages = 1_000_000 }: { readonly messages?: number } = {},
): Promise<number> {
  const counter = system.spawn("counter", Counter, () => {
    let total = 0;
    return {
      increment() {
        total++;
      },
      total: () => total,
    };
  });

  const producer = system.spawn("producer", Producer, (ctx) => ({
    async produce(count) {
      for (let i = 0; i < count; i++) ctx.tell(counter, "increment");
      return answered(await ctx.ask(counter, "total"));
    },
  }));

  return answered(await producer.ask("produce", messages));
}
