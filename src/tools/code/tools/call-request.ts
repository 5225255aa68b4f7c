import { DEEPEST } from "../depth";
import type { CallRequest } from "./tools-in-code";

const NO_REQUEST = "The request is none: call a tool by its methods.";

/** Reads a request. Code may have written any text there. Returns a sentence if the request is not valid. */
export function readRequest(text: string): CallRequest | string {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return NO_REQUEST;
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) return NO_REQUEST;
  // These are own members: JSON.parse makes no others, and nothing may change the host's prototypes.
  const { tool, operation, payload, next, close } = given as Readonly<Record<string, unknown>>;
  if (typeof tool === "string" && typeof operation === "string") {
    // Most payloads need no search: they are too short to be too deep, and have no `__proto__`, not even in escapes.
    const isSuspicious = text.length > 2 * DEEPEST || text.includes("__proto__") || text.includes("\\u");
    return (isSuspicious ? faultIn(payload) : null) ?? { tool, operation, payload };
  }
  if (typeof next === "number") return { next };
  return typeof close === "number" ? { close } : NO_REQUEST;
}

function faultIn(payload: unknown): string | null {
  let level: unknown[] = [payload]; // No recursion: the payload may be as deep as JSON.parse allows.
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return `The payload is nested more than ${DEEPEST} deep.`;
    const inner: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      // A copy by assignment would change the prototype of the copy.
      if (Object.hasOwn(value, "__proto__")) return "The payload has a key __proto__, which no object may have.";
      for (const part of Object.values(value)) if (typeof part === "object") inner.push(part);
    }
    level = inner;
  }
  return null;
}
