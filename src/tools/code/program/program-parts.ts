import type { Program as Code } from "../tier";

/** The name of the behaviour in the program's room. */
const BEHAVIOUR = "behaviour$";
const NOWHERE = (): undefined => undefined;

/** The program that makes the behaviour in a new room. Its value is for `faultIn`. */
export function startOf(program: Code, operations: readonly string[]): Code {
  // The source begins on a line of its own: each place in it is exactly one line later.
  const body = `${BEHAVIOUR} = await (async () => {
${program.body}
})();
if (typeof ${BEHAVIOUR} === "function") return [];
if (typeof ${BEHAVIOUR} !== "object" || ${BEHAVIOUR} === null) return typeof ${BEHAVIOUR};
return ${JSON.stringify(operations)}.filter((name) => typeof ${BEHAVIOUR}[name] !== "function");`;
  return { body, declares: [BEHAVIOUR], place: (line, column) => program.place(line - 1, column) };
}

/** Returns what is wrong with the value of the source, or null. */
export function faultIn(started: unknown, operations: readonly string[]): string | null {
  const what = `return an object with a function for each operation (${operations.join(", ")}), or one function for all`;
  if (!Array.isArray(started)) return `The program gives no behaviour (${String(started)}); ${what}.`;
  return started.length === 0 ? null : `The program has no function for ${started.join(", ")}; ${what}.`;
}

const HANDLE = `typeof ${BEHAVIOUR} === "function"
  ? ${BEHAVIOUR}(input.payload, input.operation)
  : ${BEHAVIOUR}[input.operation](input.payload)`;

/** Passes a message to the behaviour. Its input is the operation and the payload, its value the reply. */
export const ASK: Code = { body: `return ${HANDLE};`, declares: [BEHAVIOUR], place: NOWHERE };

/** Like ASK, for an operation that has no reply. */
export const TELL: Code = { body: `await (${HANDLE});`, declares: [BEHAVIOUR], place: NOWHERE };
