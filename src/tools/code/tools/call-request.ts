import { DEEPEST } from "../depth";
import type { CallRequest } from "./tools-in-code";

const NO_REQUEST = "The request is none: call a tool by its methods.";

/** Reads a request, which whoever runs may have written: anything may stand there. A text says why it is none. */
export function readRequest(text: string): CallRequest | string {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return NO_REQUEST;
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) return NO_REQUEST;
  // What JSON makes has own members only, and the host's prototypes are nobody's to change.
  const { tool, operation, payload, next, close } = given as Readonly<Record<string, unknown>>;
  if (typeof tool === "string" && typeof operation === "string") {
    // A key can be written with escapes. What is neither in a text, nor nested that deeply, need not be looked for.
    const isSuspicious = text.length > 2 * DEEPEST || text.includes("__proto__") || text.includes("\\u");
    return (isSuspicious ? faultIn(payload) : null) ?? { tool, operation, payload };
  }
  if (typeof next === "number") return { next };
  return typeof close === "number" ? { close } : NO_REQUEST;
}

function faultIn(payload: unknown): string | null {
  let level: unknown[] = [payload]; // No recursion: it may be nested as deeply as JSON can be read.
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return `The payload is nested more than ${DEEPEST} deep.`;
    const inner: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      // Whoever copies it by assignment changes the prototype of the copy.
      if (Object.hasOwn(value, "__proto__")) return "The payload has a key __proto__, which no object may have.";
      for (const part of Object.values(value)) if (typeof part === "object") inner.push(part);
    }
    level = inner;
  }
  return null;
}
