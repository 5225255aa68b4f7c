import { type Checks, COUNT, checkOptions, DURATION, must } from "./checks";
import type { McpLimits } from "./options";

const LIMITS: McpLimits = {
  body: 1_048_576,
  depth: 64,
  bodyTime: 10_000,
  time: 60_000,
  calls: 1_000,
  items: 1_000,
  sessions: 1_000,
  idle: 1_800_000,
};

const CHECKS: Checks<McpLimits> = {
  body: COUNT,
  depth: must(
    "is a whole number from 4 to 512", // A call has four levels beside its arguments.
    (value) => Number.isInteger(value) && (value as number) >= 4 && (value as number) <= 512, // An integer is a number.
    RangeError,
  ),
  bodyTime: DURATION,
  time: DURATION,
  calls: COUNT,
  items: COUNT,
  sessions: COUNT,
  idle: DURATION,
};

/** Throws on invalid limits. */
export const checkLimits = (value: unknown, name: string, of: string): void =>
  checkOptions(value, CHECKS, `the ${name} of ${of}`, "{ body: 65_536 }");

/** The limits that an owner sets, and defaults for the others. */
export function limitsOf(given: Partial<McpLimits> = {}): McpLimits {
  const set = Object.entries(given).filter(([, limit]) => limit !== undefined);
  return { ...LIMITS, ...Object.fromEntries(set) };
}
