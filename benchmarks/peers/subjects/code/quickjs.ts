import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import { loadQuickJs } from "@sebastianwessel/quickjs";
import { type CodePeer, LIMITS } from "../../code";

export async function open(): Promise<CodePeer> {
  const { runSandboxed } = await loadQuickJs(variant);
  const env = { add: async ({ n }: { n: number }) => n + 1 };
  return {
    async run(code) {
      let logs = 0;
      const log = () => {
        logs++;
      };
      const module = `const tools = env;\nexport default await (async () => {\n${code}\n})()`;
      const result = await runSandboxed(({ evalCode }) => evalCode(module), {
        executionTimeout: LIMITS.timeout,
        memoryLimit: LIMITS.memory,
        env,
        console: { log },
      });
      if (!result.ok) throw new Error(result.error.message);
      return { value: result.data, logs };
    },
    call: "tools.add",
  };
}
