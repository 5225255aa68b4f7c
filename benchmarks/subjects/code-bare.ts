import { systemClock } from "envoi";
import { CodeRefusal, type Ended, type Isolation, openTier, Sources } from "#internals";

const never = new AbortController().signal;

/** A tier that is handed its programs directly: no actor, no message, no check of either. It ends with the process. */
export function openBare(isolation: Isolation) {
  const tier = openTier(isolation, { size: navigator.hardwareConcurrency, maxWaiting: 1_000, clock: systemClock });
  const sources = new Sources();
  const run = async (code: string, input?: unknown): Promise<Ended> => {
    const read = sources.compile(code, "javascript");
    const program = read instanceof Promise ? await read : read;
    if (program instanceof CodeRefusal) throw new Error(program.error.message);
    return tier.run({
      program,
      input: input === undefined ? undefined : JSON.stringify(input),
      timeout: 5_000,
      memory: 64 * 1024 * 1024,
      maxOutput: 1024 * 1024,
      signal: never,
    });
  };
  const told = (ended: Ended): { readonly value: unknown; readonly logs: number } => {
    if (ended.kind !== "value") throw new Error(`${ended.kind}: ${ended.message}`);
    return { value: ended.value === undefined ? undefined : JSON.parse(ended.value), logs: ended.logs.length };
  };
  return { run, told };
}
