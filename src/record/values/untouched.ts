import { types } from "node:util";
import { mayBeJson } from "../transforms/json-texts";
import type { Spot } from "../transforms/matcher";

/**
 * True for plain data in which no transform's path ends: all of it is written as it would be without them. False where that would take
 * more than so many steps to tell (`most`), so that no object is looked at for ever.
 */
export function isUntouched(value: unknown, spot: Spot | null, most: number): boolean {
  try {
    return stepsLeft(value, spot, most) >= 0;
  } catch {
    return false; // A getter threw, or it is nested too deep.
  }
}

/** The steps that are left; not a number where a transform may change something. */
function stepsLeft(value: unknown, spot: Spot | null, left: number): number {
  if (spot === null) return left;
  if (spot.transform !== null) return Number.NaN;
  if (typeof value === "string") return mayBeJson(value) ? Number.NaN : left - 1; // A path may lead into it.
  if (typeof value !== "object" || value === null) return left - 1;
  if (types.isProxy(value) || "toJSON" in value) return Number.NaN;
  let rest = left - 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && rest >= 0; index++) {
      rest = stepsLeft(value[index], spot.item(index), rest);
    }
    return rest;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return Number.NaN;
  for (const key in value) {
    if (!(rest >= 0)) break;
    rest = stepsLeft((value as Record<string, unknown>)[key], spot.step(key), rest);
  }
  return rest;
}
