import { defineProtocol, type System, Type } from "../../src/index";
import { answered } from "./answered";

const Computer = defineProtocol("computer", { compute: { payload: Type.Number(), reply: Type.Number() } });
const Series = defineProtocol("series", { next: {}, term: { reply: Type.Number() } });

export interface LogisticMapSizes {
  readonly series?: number;
  /** Of each series. */
  readonly terms?: number;
}

/**
 * Several series x → r x (1 - x), each with its own r and x; an actor keeps each series and asks another one for its
 * next term. It is told many times to go on and then asked for the term: as it handles one message at a time, it need
 * not stash any. The answer is the sum of the last terms, added in the order of the series, so that it is the same to
 * the last bit as in a loop.
 */
export async function logisticMap(
  system: System,
  { series = 10, terms = 10_000 }: LogisticMapSizes = {},
): Promise<number> {
  const all = Array.from({ length: series }, (_, index) => {
    const rate = 3.46 + index * 0.0025;
    const computer = system.spawn(`computer-${index}`, Computer, () => ({ compute: (x) => rate * x * (1 - x) }));
    return system.spawn(`series-${index}`, Series, (ctx) => {
      let term = (index + 1) * 0.0025;
      return {
        async next() {
          term = answered(await ctx.ask(computer, "compute", term));
        },
        term: () => term,
      };
    });
  });

  for (let i = 0; i < terms; i++) for (const each of all) each.tell("next");
  const last = await Promise.all(all.map((each) => each.ask("term")));
  return last.map(answered).reduce((sum, term) => sum + term, 0);
}
