import { experimental_runCodeMode as runCodeMode } from "@ai-sdk/code-mode";
import { tool } from "ai";
import { z } from "zod";
import { type CodePeer, LIMITS } from "../../code";

export async function open(): Promise<CodePeer> {
  const add = tool({
    description: "Adds 1.",
    inputSchema: z.object({ n: z.number() }),
    outputSchema: z.number(),
    execute: async ({ n }) => n + 1,
  });
  const options = { executionPolicy: { timeoutMs: LIMITS.timeout, memoryLimitBytes: LIMITS.memory } };
  return { run: async (js) => ({ value: await runCodeMode({ js, tools: { add }, options }) }), call: "tools.add" };
}
