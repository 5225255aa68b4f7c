// Asks with long timeouts, which are all answered, are all that it does.
import { address, createMessage, createSystem, defineProtocol, Type } from "../../../src/index";
import { failUnlessExited } from "./exits-late";

failUnlessExited(4_000);
const Sum = defineProtocol("sum", {
  add: { payload: Type.Number(), reply: Type.Number() },
  addLater: { payload: Type.Number(), reply: Type.Number() },
});
const system = createSystem();
const sum = system.spawn("sum", Sum, () => ({
  add: (n) => n + 1,
  async addLater(n) {
    await new Promise((resolve) => setTimeout(resolve, n % 100 === 0 ? 1 : 0));
    return n + 1;
  },
}));
system.router.register(address("echo"), (message) => message.payload);
const controller = new AbortController();
const asks = [];
for (let i = 0; i < 9_980; i++) {
  asks.push(i % 2 === 0 ? sum.ask("add", i, { timeout: 60_000 }) : sum.ask("add", i, { signal: controller.signal }));
}
for (let i = 0; i < 10; i++) asks.push(sum.ask("addLater", i, { timeout: 60_000 }));
for (let i = 0; i < 10; i++) {
  asks.push(system.router.ask(createMessage(address("echo"), "say", i), { timeout: 60_000 }));
}
const answers = await Promise.all(asks);
console.log(`${answers.filter((answer) => answer.isOk()).length} answered`);
