// Fails with a cause that the console cannot show, and prints what the next message of another actor came back with.
import { createSystem, defineProtocol, Type } from "../../../src/index";

const Count = defineProtocol("count", { fail: {}, count: { reply: Type.Number() } });
const system = createSystem();
const handlers = {
  fail() {
    throw {
      [Symbol.for("nodejs.util.inspect.custom")]() {
        throw new Error("hostile");
      },
    };
  },
  count: () => 3,
};
const broken = system.spawn("broken", Count, () => handlers);
const sound = system.spawn("sound", Count, () => handlers);

broken.tell("fail");
const reply = sound.ask("count", { timeout: 200 });
process.on("uncaughtException", () => {});
setTimeout(() => process.exit(1), 2_000).unref(); // Where the ask never settles.
console.log((await reply).unwrapOr(-1));
