import { consoleOf } from "../console";
import { tableText } from "../console-table";
import { REFUSALS } from "../tools/call-refusals";
import { toolsInCode } from "../tools/tools-in-code";
import { display } from "./display";
import { Image } from "./image";
import { prelude } from "./prelude";
import type { Place, QuickJS } from "./quickjs";
import type { Snapshot } from "./snapshot";
import { surroundings } from "./surroundings";

/** Bytes. With more, recursion would overflow the process's own stack, and the error could not tell the place in the code. */
export const STACK = 256 * 1024;
/** The natives in the order of their numbers: see `Natives`. */
export const NATIVES = [
  "write",
  "progress",
  "call",
  "setTimer",
  "clearTimer",
  "load",
  "askUrl",
  "random",
  "fail",
] as const;

/** Evaluates the prelude in a new context, and takes the snapshot. */
export function snapshotOf(quickjs: QuickJS): Snapshot {
  quickjs.makeContext(STACK);
  const given = [JSON.stringify(Object.values(REFUSALS)), display, toolsInCode, consoleOf, tableText, surroundings];
  const names = NATIVES.join(", ");
  const made = quickjs.evaluate(`(${names}) => (${prelude})({ ${names} }, ${given.join(", ")})`, "prelude.js");
  const natives = NATIVES.map((name, index) => quickjs.makeFunction(name, index + 1));
  const parts = quickjs.call(made.value, ...natives);
  if (made.thrown !== 0 || parts.thrown !== 0) throw new Error("The prelude failed.");
  const part = (index: number): Place => quickjs.itemOf(parts.value, index);
  const [begin, serialize, describe, answer, fire, rethrow] = [part(0), part(1), part(2), part(3), part(4), part(5)];
  return {
    layout: quickjs.layout,
    parts: { begin, serialize, describe, answer, fire, rethrow },
    image: Image.of(quickjs.memory),
  };
}
