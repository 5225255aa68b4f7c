import { type AnyRef, jsonSchemaOf, operationsOf, outcomeOf, publicError, receive } from "envoi";
import type { Card, ToolResult } from "./model";

/** A tool: its card for the model, and the function that calls it. */
export interface Tool extends Card {
  call(input: unknown, signal: AbortSignal): Promise<ToolResult>;
}

/** Some operations of an actor, as tools. */
export function toolsOf(name: string, ref: AnyRef, names: readonly string[]): Tool[] {
  const operations = operationsOf(ref) ?? {};
  const described = jsonSchemaOf({ name, operations }, names);
  const door = receive(ref); // It validates what the model made up, and never throws.
  return names.map((operation) => ({
    name: `${name}_${operation}`,
    description: described[operation]?.description ?? operation,
    input: described[operation]?.input,
    async call(input, signal) {
      const reply = await door.ask(operation, input, { signal, timeout: 60_000 });
      if (reply.isErr()) return { ok: false, error: publicError(reply.error) };
      const outcome = outcomeOf(operations[operation]);
      return outcome === null
        ? { ok: true, value: reply.value }
        : outcome.read(reply.value).match<ToolResult>(
            (value) => ({ ok: true, value }),
            (error) => ({ ok: false, error }),
          );
    },
  }));
}
