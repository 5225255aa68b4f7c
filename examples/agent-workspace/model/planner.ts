import { typesFor } from "envoi/tools";
import type { PlannerFor } from "../agent";
import type { PlanItem } from "../protocols";
import { stepIn } from "./answer";
import { completion } from "./completion";
import type { Endpoint } from "./endpoint";
import { messagesFor } from "./prompt";

/**
 * A planner that asks a model, and passes on what it thinks while it does.
 *
 * @param patience longest wait for the next piece of an answer, in milliseconds. Default: 60,000.
 */
export function modelPlanner(endpoint: Endpoint, patience = 60_000): PlannerFor {
  return (tools) => {
    const declarations = typesFor(tools);
    return (ctx) => ({
      async *plan(request): AsyncGenerator<PlanItem> {
        let reply = "";
        let told = 0;
        for await (const piece of completion(endpoint, messagesFor(request, declarations), patience, ctx.signal)) {
          reply += piece;
          const end = endOfThought(reply);
          if (end > told) yield { kind: "thought", text: reply.slice(told, end) };
          told = Math.max(told, end);
        }
        yield stepIn(reply);
      },
    });
  };
}

/** Where the step begins, or may begin: what comes before it is for people to read. */
function endOfThought(reply: string): number {
  if (/^\s*\{/.test(reply)) return 0;
  const fence = reply.indexOf("```");
  if (fence >= 0) return reply.slice(0, fence).trimEnd().length;
  return reply.replace(/[\s`]+$/, "").length;
}
