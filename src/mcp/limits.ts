import { type OptionChecks, option } from "../index";
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

const CHECKS: OptionChecks<McpLimits> = {
  body: option.count,
  depth: option.whole(4, 512), // A call has four levels beside its arguments.
  bodyTime: option.duration,
  time: option.duration,
  calls: option.count,
  items: option.count,
  sessions: option.count,
  idle: option.duration,
};

/** Throws on invalid limits. */
export const checkLimits = option.group(CHECKS, "{ body: 65_536 }");

/** The limits that an owner sets, and defaults for the others. */
export function limitsOf(given: Partial<McpLimits> = {}): McpLimits {
  const set = Object.entries(given).filter(([, limit]) => limit !== undefined);
  return { ...LIMITS, ...Object.fromEntries(set) };
}
