import { CodemodeSandbox } from "@earendil-works/pi-codemode";
import { type CodePeer, LIMITS } from "../../code";

export async function open(): Promise<CodePeer> {
  const sandbox = new CodemodeSandbox({
    timeoutMs: LIMITS.timeout,
    memoryLimitBytes: LIMITS.memory,
    tools: [{ name: "add", execute: (args) => (args as { n: number }).n + 1 }],
  });
  return {
    async run(code) {
      const result = await sandbox.execute(code);
      if (!result.ok) throw new Error(result.error.message);
      return { value: result.value, logs: result.output.length };
    },
    call: "tools.add",
  };
}
