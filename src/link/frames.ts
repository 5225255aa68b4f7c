import { type Address, type Outgoing, readJson, writeJson } from "../index";

// The frames of a link. One text holds all frames that left in a turn: a JSON array of arrays, so that it is parsed once. A frame
// begins with its code. Members are numbers wherever they can be: 0 stands for no limit of time and for no metadata.

/**
 * The first member of a frame. The comments show what follows; a member with a question mark may be absent. A target is a number that was opened, or the
 * array of the id of an address and perhaps the version of the protocol by which it is called.
 */
export const Code = {
  /** target, type, time left, metadata, payload? */
  tell: 1,
  /** id, target, type, time left, metadata, credit, payload? – as all messages whose senders wait. */
  ask: 2,
  /** An ask whose asker listens to progress. */
  askWithProgress: 3,
  offer: 4,
  stream: 5,
  /** target, id of the address, 1 if the address came in a payload, version of its protocol?: from now on, the number stands for the address. */
  open: 6,
  /** target */
  release: 7,
  /** id */
  cancel: 8,
  /** id, count */
  credit: 9,
  /** id, payload? */
  reply: 10,
  /** id, kind, detail? */
  failure: 11,
  /** id, items…; none stands for one that is undefined. */
  items: 12,
  /** id, done, total, note */
  progress: 13,
  /** target, 1 if it is unreachable, because the side beyond the sender that had it is gone, detail?: its actor has stopped. */
  stopped: 14,
  /** version, version: what the receiver of the frame calls, and what its sender serves. */
  versions: 15,
  /** paths, as the first frame of a text: the payload of the last one has null where the bytes beside the text belong, in order. */
  bytes: 16,
  /** number: its receiver sends it back by `read`. */
  mark: 17,
  /** number: all that came before the mark has been read. */
  read: 18,
} as const;

/** The code of a message whose sender waits. */
export function codeOf({ pattern, wantsProgress }: Outgoing): number {
  if (pattern === "stream") return Code.stream;
  if (pattern === "tell") return Code.offer;
  return wantsProgress ? Code.askWithProgress : Code.ask;
}

/** Deepest nesting of a text: that of a payload which may leave (`writeJson`), and of what is around it. */
export const MAX_DEPTH = 512 + 3;

/**
 * Most characters of a text: more that leaves in one turn goes in several. The other side then reads the first while the next is written: of 1,000 tells
 * at once to a thread, each took 0.93 µs, and 1.06 µs where one text had all of them.
 */
export const MAX_TEXT = 16_384;

// A reference in a payload is written as an address whose first segment says whose it is: the sender's own actor (`@(i/render)`), or one of
// the receiver's (`@(u/render)`), which comes home. A text that was no reference has none of the two, and becomes none.
const MINE = "@(i/";
const YOURS = "@(u/";

export const asMine = (at: Address): string => MINE + at.slice("@(".length);
export const asYours = (at: Address): string => YOURS + at.slice("@(".length);

/** The address, as its side knows it, that was written by one of the two functions above; undefined for any other text. */
export function readPlace(text: string): { readonly at: Address; readonly isTheirs: boolean } | undefined {
  const isTheirs = text.startsWith(MINE);
  if (!isTheirs && !text.startsWith(YOURS)) return undefined;
  return { at: `@(${text.slice(MINE.length, -1)})`, isTheirs };
}

/** Milliseconds as they travel: 0 for no limit. */
export const timeText = (left: number): number =>
  left === Number.POSITIVE_INFINITY ? 0 : Math.max(1, Math.ceil(left));

/** Writes a part of a frame, or says why it cannot travel. The other side takes no text with a key `__proto__`, and ends the connection. */
export function writePart(
  value: unknown,
  replace?: (object: object) => unknown,
): { readonly text: string } | { readonly path: string; readonly message: string } {
  const written = writeJson(value, replace);
  if (written.isErr()) return written.error;
  const text = written.value;
  // The word may stand in a text, where it does no harm. One character is looked for first, which is found quicker.
  if (!text.includes("_") || !text.includes("__proto__") || readJson(text, { depth: MAX_DEPTH }).isOk())
    return { text };
  return { path: "", message: "It has a key __proto__, which the other side refuses; leave it out." };
}
