import { defineProtocol, type Factory, type RefTo, type SignaturesOf } from "envoi";
import { agentText, type PermissionOption, type SessionUpdate, sessionOperations, type Turn } from "envoi/acp";
import { toolsFor } from "envoi/tools";
import { decide } from "./decide";
import type { Tasks } from "./tasks";

/** A session: the conversation of one editor with the agent. */
export const Session = defineProtocol("session", { prompt: sessionOperations.prompt });

const OPTIONS: readonly PermissionOption[] = [
  { optionId: "yes", name: "Remove it", kind: "allow_once" },
  { optionId: "no", name: "Keep it", kind: "reject_once" },
];

/** A prompt's items go to the editor in order. When the user cancels, `ctx.signal` aborts, and the editor gets no more items. */
export const sessionOf =
  (tasks: RefTo<typeof Tasks>): Factory<SignaturesOf<typeof Session>> =>
  (ctx) => {
    const tools = toolsFor({ tasks }, { format: "openai" });
    let calls = 0;

    /** A person answers, so the ask has no timeout. */
    async function isAllowed({ client, sessionId }: Turn, toolCallId: string, title: string): Promise<boolean> {
      const request = { sessionId, toolCall: { toolCallId, title }, options: OPTIONS };
      const told = await ctx.ask(client.ref, "requestPermission", request, { timeout: Number.POSITIVE_INFINITY });
      return told.isOk() && told.value.outcome.outcome === "selected" && told.value.outcome.optionId === "yes";
    }

    return {
      async *prompt(turn): AsyncGenerator<SessionUpdate> {
        const text = turn.prompt.map((block) => (block.type === "text" ? block.text : "")).join("\n");
        const move = decide(text);
        if ("answer" in move) return yield agentText(move.answer);
        const { tool, title, input } = move;
        const toolCallId = `call-${++calls}`;
        yield { sessionUpdate: "tool_call", toolCallId, title, status: "pending", rawInput: input };
        if (tool === "tasks_remove" && !(await isAllowed(turn, toolCallId, title))) {
          yield { sessionUpdate: "tool_call_update", toolCallId, status: "failed" };
          return yield agentText("Nothing was removed.");
        }
        const called = await tools.callTool(tool, input, { signal: ctx.signal });
        yield { sessionUpdate: "tool_call_update", toolCallId, status: called.isOk() ? "completed" : "failed" };
        yield agentText(called.isOk() ? JSON.stringify(called.value) : called.error.message);
      },
    };
  };
