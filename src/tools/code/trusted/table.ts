import type { Calls } from "../tier";
import type { ToolTable } from "../tools/tools-in-code";

/** The table that was parsed last. All runs of an actor have the same one. */
let [text, table]: [string, ToolTable] = ["{}", {}];

/** Returns the operations that code may call. */
export function tableOf({ tools }: Calls): ToolTable {
  if (tools !== text) [text, table] = [tools, JSON.parse(tools) as ToolTable]; // By the definition of `Calls`.
  return table;
}
