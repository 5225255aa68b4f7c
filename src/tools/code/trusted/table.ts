import type { Calls } from "../tier";
import type { ToolTable } from "../tools/tools-in-code";

/** The last one that was read, which is that of all runs of an actor. */
let [text, table]: [string, ToolTable] = ["{}", {}];

/** What code may call. */
export function tableOf({ tools }: Calls): ToolTable {
  if (tools !== text) [text, table] = [tools, JSON.parse(tools) as ToolTable]; // By the definition of `Calls`.
  return table;
}
