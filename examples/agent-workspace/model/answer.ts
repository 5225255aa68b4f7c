import { Value } from "typebox/value";
import { type PlanItem, STEPS, type Step } from "../protocols";

const NAMES = Object.keys(STEPS);

/** The step in a model's answer, or what is wrong with it, said so that the model can do better. */
export function stepIn(reply: string): Exclude<PlanItem, { kind: "thought" }> {
  const nonsense = (fault: string) => ({ kind: "nonsense" as const, reply, fault });
  const fence = reply.indexOf("```json");
  const text = fence < 0 ? reply : reply.slice(fence);
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (from < 0 || to < from)
    return nonsense("There is no step in your answer: end it with a ```json block that holds one.");
  let proposal: unknown;
  try {
    proposal = JSON.parse(text.slice(from, to + 1));
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return nonsense(`The step is no JSON (${reason}): write one object, with \\n for each new line in a text.`);
  }
  const name = typeof proposal === "object" && proposal !== null && "do" in proposal ? proposal.do : undefined;
  if (typeof name !== "string" || !Object.hasOwn(STEPS, name)) {
    return nonsense(`"do" of a step is one of ${NAMES.join(", ")}; got ${JSON.stringify(name)}.`);
  }
  const schema = STEPS[name as keyof typeof STEPS]; // It has it, as was looked for.
  const [issue] = Value.Errors(schema, proposal);
  if (issue !== undefined)
    return nonsense(`The step "${name}" does not fit: ${issue.instancePath || "it"} ${issue.message}.`);
  // What the schema does not know is left out.
  return { kind: "step", step: Value.Clean(schema, proposal) as Step }; // It has just been held to it.
}
