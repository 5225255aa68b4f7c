import { createSystem, defineProtocol, Type } from "envoi";
import { type Isolation, resultOf, spawnCodeExecution } from "envoi/tools";
import { type CodePeer, LIMITS } from "../../code";

const Adder = defineProtocol("adder", { add: { payload: Type.Object({ n: Type.Number() }), reply: Type.Number() } });

export async function open(_root = "", isolation: Isolation = "sandbox"): Promise<CodePeer> {
  const system = createSystem();
  const adder = system.spawn("adder", Adder, () => ({ add: ({ n }) => n + 1 }));
  const actor = spawnCodeExecution(system, { ...LIMITS, isolation, tools: { adder } });
  return {
    async run(code) {
      const ran = resultOf(await actor.ask("execute", { code }));
      if (ran.isErr()) throw new Error(ran.error.message);
      return { value: ran.value.value, logs: ran.value.logs.length };
    },
    call: "tools.adder.add",
  };
}
