import type { CodeError } from "../../../../src/tools/code/code-error";
import { CodeRefusal } from "../../../../src/tools/code/code-refusal";
import type { Language } from "../../../../src/tools/code/language";
import { Sources } from "../../../../src/tools/code/source/sources";
import type { Program } from "../../../../src/tools/code/tier";

const sources = new Sources();

/** The program of a source, which is one. */
export async function programOf(code: string, language: Language = "javascript", isSession = false): Promise<Program> {
  const program = await sources.compile(code, language, { isSession });
  if (program instanceof CodeRefusal) throw new Error(program.error.message);
  return program;
}

/** The fault of a source. */
export async function faultOf(code: string, language: Language = "javascript", isSession = false): Promise<CodeError> {
  const program = await sources.compile(code, language, { isSession });
  if (program instanceof CodeRefusal) return program.error;
  throw new Error(`It is code: ${program.body}`);
}

type Body = (input?: unknown, tools?: unknown, progress?: unknown, console?: unknown) => Promise<unknown>;
const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Body; // By the language.

/** Runs a source once, in this realm. */
export async function run(code: string, language: Language = "javascript", ...given: unknown[]): Promise<unknown> {
  const { body } = await programOf(code, language);
  return new AsyncFunction("input", "tools", "progress", "console", body)(...given);
}

/** A place where sources run one after the other, and find what those before them declared. */
export function session(language: Language = "javascript"): (code: string, input?: unknown) => Promise<unknown> {
  const scope: Record<string, unknown> = Object.create(null);
  return async (code, input) => {
    const { body, declares } = await programOf(code, language, true);
    for (const name of declares) if (!(name in scope)) scope[name] = undefined;
    const make = new Function("scope", `with (scope) { return async function (input, tools, progress) {\n${body}\n} }`);
    const program = make(scope) as Body; // As it is written there.
    return program(input);
  };
}

/** The value of work, or its error. */
export async function outcomeOf(work: () => unknown): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    return { thrown: String(error) };
  }
}
