import type { Program as Code } from "../tier";

/** The name that the behaviour has in the room of its program. */
const BEHAVIOUR = "behaviour$";
const NOWHERE = (): undefined => undefined;

/** The program that makes the behaviour, in a room where nothing was before; its value is for `faultIn`. */
export function startOf(program: Code, operations: readonly string[]): Code {
  // The source begins on a line of its own, so that its places are those of the program, one line later.
  const body = `${BEHAVIOUR} = await (async () => {
${program.body}
})();
if (typeof ${BEHAVIOUR} === "function") return [];
if (typeof ${BEHAVIOUR} !== "object" || ${BEHAVIOUR} === null) return typeof ${BEHAVIOUR};
return ${JSON.stringify(operations)}.filter((name) => typeof ${BEHAVIOUR}[name] !== "function");`;
  return { body, declares: [BEHAVIOUR], place: (line, column) => program.place(line - 1, column) };
}

/** What is wrong with what the source gave. */
export function faultIn(started: unknown, operations: readonly string[]): string | null {
  const what = `return an object with a function for each operation (${operations.join(", ")}), or one function for all`;
  if (!Array.isArray(started)) return `The program gives no behaviour (${String(started)}); ${what}.`;
  return started.length === 0 ? null : `The program has no function for ${started.join(", ")}; ${what}.`;
}

const HANDLE = `typeof ${BEHAVIOUR} === "function"
  ? ${BEHAVIOUR}(input.payload, input.operation)
  : ${BEHAVIOUR}[input.operation](input.payload)`;

/** Hands a message to the behaviour: its input is the operation and the payload, its value the reply. */
export const ASK: Code = { body: `return ${HANDLE};`, declares: [BEHAVIOUR], place: NOWHERE };

/** As ASK, of an operation that has no reply. */
export const TELL: Code = { body: `await (${HANDLE});`, declares: [BEHAVIOUR], place: NOWHERE };
