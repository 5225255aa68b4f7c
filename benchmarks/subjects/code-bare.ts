import { systemClock } from "envoi";
import { CodeRefusal, type Ended, type Isolation, openTier, Sources, type Tier } from "#internals";

const never = new AbortController().signal;

/** Opens a tier as a code actor does by default. */
export const openAlone = (isolation: Isolation): Tier =>
  openTier(isolation, { size: navigator.hardwareConcurrency, maxWaiting: 1_000, clock: systemClock });

/** A tier that is handed its programs directly: no actor, no message, no check of either. */
export function openBare(tier: Tier) {
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
