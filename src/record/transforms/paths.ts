import { nearestName, quote } from "../../index";

/** The parts of a line that hold values. */
export const PARTS = ["payload", "reply", "item", "error", "metadata"] as const;

/** The part of a line that a value stands in. */
export type Part = (typeof PARTS)[number];

/** One step of a path: a key, a pattern of keys, any key, or any number of them. */
export type Step = { readonly kind: "key"; readonly key: string } | { readonly kind: "any" | "deep" } | Pattern;

interface Pattern {
  readonly kind: "pattern";
  readonly pattern: string;
}

const TOKENS = /\.?\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\]"']*))\]|\.?([^.[\]]+)/y;

/**
 * Reads a path: `payload.user.email`, `item[*].token`, `*.headers["x-key"]`, `**.secret`. It begins with a part, with `*` for each of them,
 * or with `**`.
 *
 * @throws TypeError when it is no path.
 */
export function parsePath(path: string): readonly Step[] {
  const steps: Step[] = [];
  TOKENS.lastIndex = 0;
  while (typeof path === "string" && TOKENS.lastIndex < path.length) {
    const at = TOKENS.lastIndex;
    const found = TOKENS.exec(path);
    if (found === null || (at === 0 && path.startsWith("."))) return refuse(path);
    const [, double, single, bracket, plain] = found;
    const quoted = double ?? single;
    if (quoted !== undefined) steps.push({ kind: "key", key: quoted.replace(/\\(.)/g, "$1") });
    else steps.push(stepOf(bracket ?? plain ?? ""));
  }
  if (steps.length === 0) return refuse(path);
  const [first] = steps as [Step];
  if (!PARTS.some((part) => isMet(first, part))) refusePart(path, first);
  return steps;
}

/** @throws TypeError that says what to write in place of a path that begins with no part. */
function refusePart(path: string, first: Step): never {
  const name = "key" in first ? first.key : "";
  const meant = nearestName(name, PARTS);
  const rest = path.startsWith(name) ? path.slice(name.length) : "";
  const better = meant === undefined ? `*.${path}" or "**.${path}` : `${meant}${rest}`;
  throw new TypeError(
    `A path of a transform begins with ${PARTS.join(", ")}, * (each of these) or ** (anywhere below); got ${quote(path)}: write "${better}".`,
  );
}

function stepOf(text: string): Step {
  if (text === "**") return { kind: "deep" };
  if (text === "*" || text === "") return { kind: "any" };
  return text.includes("*") ? { kind: "pattern", pattern: text } : { kind: "key", key: text };
}

function refuse(path: unknown): never {
  throw new TypeError(
    `A path of a transform names what is in a value, such as "payload.user.email", "*.headers.*" or "**.secret"; got ${quote(path)}.`,
  );
}

/** True when a text fits a pattern, in which each `*` stands for any characters. Takes no more than text times pattern. */
export function fits(pattern: string, text: string): boolean {
  const pieces = pattern.split("*");
  const [first = ""] = pieces;
  if (pieces.length === 1) return text === pattern;
  const last = pieces.at(-1) as string;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

/** True when a path goes on from a step to a key. */
export function isMet(step: Step, key: string): boolean {
  switch (step.kind) {
    case "key":
      return step.key === key;
    case "pattern":
      return fits(step.pattern, key);
    default:
      return true;
  }
}
