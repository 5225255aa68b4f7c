import { type OptionChecks, option } from "../index";
import type { Limits } from "./contract";

/** The limits of a gateway whose owner sets none. */
const LIMITS: Limits = {
  body: 1_048_576,
  depth: 64,
  bodyTime: 10_000,
  time: 30_000,
  streams: 100,
  sockets: 100,
  requests: Number.POSITIVE_INFINITY,
};

/** The limits that an owner sets, and the others as they are. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const set = Object.entries(given).filter(([, limit]) => limit !== undefined);
  return { ...LIMITS, ...Object.fromEntries(set) };
}

/** The checks of limits. */
export const LIMIT_CHECKS: OptionChecks<Partial<Limits>> = {
  body: option.count,
  depth: option.whole(1, 512, ", the deepest that a message may be"),
  bodyTime: option.duration,
  time: option.duration,
  streams: option.count,
  sockets: option.count,
  requests: option.bound,
};
