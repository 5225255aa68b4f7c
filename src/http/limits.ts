import type { Limits } from "./contract";
import { type Checks, COUNT, DURATION, must } from "./options";

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
export const LIMIT_CHECKS: Checks<Partial<Limits>> = {
  body: COUNT,
  depth: must(
    "is a whole number from 1 to 512, the deepest that a message may be",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 512, // An integer is a number.
    RangeError,
  ),
  bodyTime: DURATION,
  time: DURATION,
  streams: COUNT,
  sockets: COUNT,
  requests: must(
    "is a whole number from 1, or Infinity",
    (value) => value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) >= 1), // An integer is a number.
    RangeError,
  ),
};
