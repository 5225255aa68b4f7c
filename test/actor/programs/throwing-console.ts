// A test set-up in which nothing may be written to the console; the actors are to go on all the same.
import { createSystem, defineProtocol, Type } from "../../../src/index";

const Fragile = defineProtocol("fragile", { bad: {}, good: { reply: Type.Number() } });
const system = createSystem();
const ref = system.spawn("fragile", Fragile, () => ({
  bad() {
    throw new Error("x");
  },
  good: () => 1,
}));
const refuse = (): never => {
  throw new Error("no console in tests");
};
console.error = refuse;
console.warn = refuse;
ref.tell("bad");
const good = await ref.ask("good", { timeout: 1_000 });
process.stdout.write(`${good.isOk() ? good.value : good.error.kind}\n`);
