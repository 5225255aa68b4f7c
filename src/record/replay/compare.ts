import { holdsRedacted, isRedacted, withoutHashes } from "../transforms/redacted";
import { isNode, sizeOf, type Tagged, tagOf } from "./json";

/** A place at which a recorded value and a replayed one differ. */
export interface Difference {
  /** The place: `reply.items.0.name`. */
  readonly path: string;
  /** The recorded value, as it stands in the file; undefined where there was none. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** A value or a key that is compared with nothing: a path such as `reply.id`, whose parts may be `*`. */
export type Ignored = readonly string[];

/** Reads a path of `ignore`. */
export const ignoredPath = (path: string): Ignored => path.split(".");

/** The result of a comparison. */
export interface Compared {
  readonly differences: readonly Difference[];
  /** The number of values of which at least one side was redacted, so that nobody knows whether they are the same. */
  readonly unreadable: number;
}

/** The most differences that one value tells. */
const MOST = 100;

/** True for a text that a transform has put in place of another one. */
const isRedactedText = (value: unknown): boolean => typeof value === "string" && isRedacted(value);

/**
 * Compares two values in the form of the file.
 *
 * @param root names the values, as the first part of each path: `reply`.
 * @param ignored the paths that are left out.
 * @param sharesKey true when both were redacted by the same key, so that equal texts have equal hashes.
 */
export function compareValues(
  recorded: unknown,
  replayed: unknown,
  root: string,
  ignored: readonly Ignored[] = [],
  sharesKey = false,
): Compared {
  const differences: Difference[] = [];
  let unreadable = 0;
  const differ = (path: readonly string[], a: unknown, b: unknown): void => {
    if (differences.length < MOST) differences.push({ path: path.join("."), recorded: a, replayed: b });
  };
  // No recursion: a recording may be nested as deep as the reader lets it.
  const rest: [path: readonly string[], a: unknown, b: unknown][] = [[[root], recorded, replayed]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [path, a, b] = next;
    if (Object.is(a, b) || ignored.some((each) => covers(each, path))) continue;
    if (isRedactedText(a) || isRedactedText(b)) {
      if (sharesKey && isRedactedText(a) && isRedactedText(b)) differ(path, a, b);
      else unreadable++;
      continue;
    }
    if (!sharesKey && typeof a === "string" && typeof b === "string" && holdsRedacted(a)) {
      if (withoutHashes(a) === withoutHashes(b)) {
        unreadable++;
        continue;
      }
    }
    const [tagA, tagB] = [tagOf(a), tagOf(b)];
    if (tagA !== undefined || tagB !== undefined) {
      const said = sameOpaque(tagA, tagB, a, b, sharesKey);
      if (said === "unreadable") unreadable++;
      else if (said === "different") differ(path, a, b);
      continue;
    }
    if (Array.isArray(a) && Array.isArray(b)) {
      for (let index = Math.max(a.length, b.length) - 1; index >= 0; index--) {
        rest.push([[...path, String(index)], a[index], b[index]]);
      }
    } else if (isNode(a) && isNode(b)) {
      const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
      for (const key of keys.reverse())
        if (!isStack(path, key)) rest.push([[...path, key], memberOf(a, key), memberOf(b, key)]);
    } else differ(path, a, b);
  }
  return { differences, unreadable };
}

/** True when two values are the same, as far as they can be read. */
export const areSame = (recorded: unknown, replayed: unknown, sharesKey: boolean): boolean =>
  compareValues(recorded, replayed, "", [], sharesKey).differences.length === 0;

/** True for the stack of an error, which differs with each line that is added to the code. */
const isStack = (path: readonly string[], key: string): boolean =>
  key === "stack" && (path.at(-1) === "$error" || path[0] === "error");

/** A member that the object has itself: a recording may have any key. */
const memberOf = (node: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(node, key) ? node[key] : undefined;

const covers = (ignored: Ignored, path: readonly string[]): boolean =>
  ignored.length <= path.length && ignored.every((part, index) => part === "*" || part === path[index]);

/** Compares values of which at least one is written by its size and hash. */
function sameOpaque(
  a: Tagged | undefined,
  b: Tagged | undefined,
  recorded: unknown,
  replayed: unknown,
  sharesKey: boolean,
): "same" | "different" | "unreadable" {
  if (a !== undefined && b !== undefined) {
    if (a.tag !== b.tag || a.bytes !== b.bytes) return "different";
    return a.hash === b.hash ? "same" : sharesKey ? "different" : "unreadable"; // The hashes are keyed.
  }
  const [tagged, other] = a === undefined ? [b, recorded] : [a, replayed];
  return tagged?.bytes === undefined || tagged.bytes === sizeOf(other) ? "unreadable" : "different";
}

/** True when a value has a redacted text, or a redacted part of one, anywhere. */
export function isRedactedIn(value: unknown): boolean {
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string" && holdsRedacted(next)) return true;
    if (typeof next === "object" && next !== null) rest.push(...Object.values(next));
  }
  return false;
}
