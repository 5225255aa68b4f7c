import { inspect, isDeepStrictEqual } from "node:util";

/** A value on one line, for an error's sentence. */
export function show(value: unknown): string {
  try {
    return inspect(value, {
      depth: 5,
      breakLength: Number.POSITIVE_INFINITY,
      maxArrayLength: 20,
      maxStringLength: 200,
    });
  } catch {
    return "a value that cannot be shown";
  }
}

/** A thrown value on one line. */
export function showThrown(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`;
  } catch {
    return "a value that cannot be shown";
  }
  return show(thrown);
}

/** Deep equality of values and of their printed form: references differ in nothing else. */
export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b) && wholeOf(a) === wholeOf(b);

const wholeOf = (value: unknown): string =>
  inspect(value, {
    depth: Number.POSITIVE_INFINITY,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Number.POSITIVE_INFINITY,
    sorted: true,
  });

/** Lines of a list in an error: the last twenty, numbered. */
export function listed(lines: readonly string[], none: string): string {
  if (lines.length === 0) return `\n  ${none}`;
  const first = Math.max(lines.length - 20, 0);
  const left = first === 0 ? "" : `\n  … ${first} before these`;
  return `${left}${lines
    .slice(first)
    .map((line, index) => `\n  ${first + index + 1}. ${line}`)
    .join("")}`;
}
