import { createSystem } from "../../../../src/index";
import { resultOf, spawnCodeExecution } from "../../../../src/tools";
import { type CodePeer, LIMITS } from "../../code/peer";

export async function open(): Promise<CodePeer> {
  const system = createSystem();
  const actor = spawnCodeExecution(system, LIMITS);
  return {
    async run(code) {
      const ran = resultOf(await actor.ask("execute", { code }));
      if (ran.isErr()) throw new Error(ran.error.message);
      return { value: ran.value.value, logs: ran.value.logs.length };
    },
    close: () => system.shutdown(),
  };
}
