import type { SessionEvent } from "envoi/http";
import type { ToolResult, Turn } from "./model";
import type { Happening } from "./protocols";

/** The work on one message of a person. */
export class Run {
  /** What the model is sent of it. */
  readonly turns: Turn[];
  /** Steps that were done: their results are known. */
  steps = 0;
  /** The call of a step without a result. */
  #call: { readonly name: string; readonly input: unknown } | null = null;

  constructor(text: string) {
    this.turns = [{ role: "person", text }];
  }

  /** Takes in what happened. A step whose result is missing counts as not begun: it is done again. */
  note(happening: Happening): void {
    if (happening.kind === "call") this.#call = { name: happening.tool, input: happening.input };
    else if (happening.kind === "answer") this.turns.push({ role: "agent", text: happening.text });
    else if (happening.kind === "result" && this.#call !== null) {
      const { ok, result } = happening;
      const told: ToolResult = ok ? { ok, value: result } : { ok, error: result };
      this.turns.push({ role: "tool", ...this.#call, result: told });
      this.#call = null;
      this.steps = happening.step;
    }
  }
}

/** The runs of a session as its log tells them, by the id of the event that each began with. */
export function runsIn(events: Iterable<SessionEvent>): Map<number, Run> {
  const runs = new Map<number, Run>();
  /** By the number of the message: one that goes on with a run is a message of its own. */
  const byMessage = new Map<number, Run>();
  for (const { id, message, event, data } of events) {
    if (event === "request") {
      const { operation, payload } = data as Request; // It was validated when it came.
      const run = operation === "work" ? new Run(payload.text ?? "") : runs.get(payload.request ?? 0);
      if (operation === "work" && run !== undefined) runs.set(id, run);
      if (run !== undefined) byMessage.set(message, run);
    } else if (event === "item") {
      byMessage.get(message)?.note(data as Happening); // An item of the agent's stream.
    }
  }
  return runs;
}

interface Request {
  readonly operation: string;
  readonly payload: { readonly text?: string; readonly request?: number };
}
