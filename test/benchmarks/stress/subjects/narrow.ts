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
  const operations = {
    take: async (number: number) => outcomeOf(await actor.ask("take", number), number, (value) => value === number),
    lie: async (number: number) => number + 1,
    fall: () => Promise.reject(new Error("fell")),
  };
  return { operations, commands: { where: () => [process.pid, folder] }, system };
};
