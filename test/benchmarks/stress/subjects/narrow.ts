import { createSystem, defineProtocol, Type } from "envoi";
import { type Open, outcomeOf } from "../../../../benchmarks/stress/subject";

const Narrow = defineProtocol("narrow", { take: { payload: Type.Number(), reply: Type.Number() } });

/** Under load in tests: an actor that takes 2 ms for each message, with room for 20. @param name `broken` cannot be opened. */
export const open: Open = (name, folder) => {
  if (name === "broken") throw new Error("the disk is full of bees");
  const system = createSystem({ logger: { warn() {}, error() {} } });
  const take = (number: number) => {
    const end = performance.now() + 2;
    while (performance.now() < end);
    return number;
  };
  const actor = system.spawn("narrow", Narrow, () => ({ take }), { capacity: 20, overflow: "reject" });
  return {
    operations: {
      take: async (number) => outcomeOf(await actor.ask("take", number), number, (value) => value === number),
      lie: async (number) => number + 1,
      async fall() {
        throw new Error("fell");
      },
    },
    commands: { folder: () => folder },
    audit: () => system.router.audit(),
    close: () => system.shutdown(),
  };
};
