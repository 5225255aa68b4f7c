import { isOfEntry } from "../transforms/entries";
import { mayHoldSecret } from "../transforms/marks";
import { suspicionOf } from "../transforms/names";

/** A key of an object, as it is written. */
export interface KeyText {
  /** In quotes, with its colon. A key that begins with `$`, and `__proto__`, have one `$` more: those with one are tags. */
  readonly text: string;
  /** True for a key that says nothing of its value, and is written as it is. */
  readonly isOrdinary: boolean;
  /** True for a key whose value may have its name beside it, such as `value`. */
  readonly isOfEntry: boolean;
}

/** Keys that are remembered, and the longest one. */
const MOST = 4_096;
const LONGEST = 64;
const known = new Map<string, KeyText>();

/** The text of a key. Keys come again and again: remembered, one takes a tenth of the time. */
export function keyText(key: string): KeyText {
  const remembered = known.get(key);
  if (remembered !== undefined) return remembered;
  const isTag = key.startsWith("$") || key === "__proto__"; // A reader refuses __proto__ as a key.
  const text = `${JSON.stringify(isTag ? `$${key}` : key)}:`;
  const isOrdinary = !isTag && key.length <= LONGEST && suspicionOf(key) === null && !mayHoldSecret(key);
  const learnt = { text, isOrdinary, isOfEntry: isOfEntry(key) };
  if (key.length <= LONGEST) {
    if (known.size >= MOST) known.clear();
    known.set(key, learnt);
  }
  return learnt;
}
