import { Glob } from "bun";
import { refuse } from "./file-error";

/** Longest glob, in UTF-16 code units. */
const LONGEST_GLOB = 1_000;
/**
 * Longest glob with `*` or `{`, and most of these signs in it. A match tries again from each place of the path. Within
 * these bounds it takes up to 2 ms on a path of 4,000 bytes built for it, without them 27 ms. Usual matches take less
 * than 1 µs.
 */
const LONGEST_WILD = 250;
const MOST_STARS = 32;
const MOST_BRACES = 10;
/** Most texts that the braces of a glob may stand for. */
const MOST_ALTERNATIVES = 1_000;
/**
 * Requires that every `[` is closed and every backslash has a letter after it. A glob that is cut short would match
 * nothing, and so close nothing.
 */
const WHOLE = /^(?:\\.|[^\\[]|\[[!^]?(?:\\.|[^\\])(?:\\.|[^\\\]])*\])*$/su;

/** True for a path, below a directory, that matches. */
export type Matcher = (path: string) => boolean;

/** The fault of a glob, as the rest of a sentence. Null if there is none. */
export function faultOf(glob: unknown): string | null {
  if (typeof glob !== "string" || glob === "") return "is a text, such as **/*.ts";
  if (glob.length > LONGEST_GLOB) return `has at most ${LONGEST_GLOB} characters`;
  if (/^\.?\/|\/$/.test(glob)) return `is matched against paths below a directory: write ${shorten(bare(glob))}`;
  if (!WHOLE.test(glob)) return "has a ] for each [, and a character after each \\";
  if (!glob.isWellFormed() || glob.includes("\0")) return "is Unicode text without NUL, as names are";
  return faultOfSize(glob) ?? faultOfAlternatives(alternativesOf(glob));
}

function faultOfSize(glob: string): string | null {
  const stars = count(glob, "*");
  const braces = count(glob, "{");
  if (stars + braces === 0) return null;
  if (glob.length > LONGEST_WILD) return `has at most ${LONGEST_WILD} characters where it has * or {; write several`;
  if (stars > MOST_STARS) return `has at most ${MOST_STARS} *`;
  return braces > MOST_BRACES ? `has at most ${MOST_BRACES} {` : null;
}

const count = (text: string, letter: string): number => text.split(letter).length - 1;

/** Refuses a glob if a part of it can match no path: its author meant something else. */
function faultOfAlternatives(ends: ReadonlySet<State> | string): string | null {
  if (typeof ends === "string") return ends;
  for (const end of ends) {
    if (end === EMPTY) continue;
    const dead = deadIn(afterName(end));
    if (dead === undefined) continue;
    return dead === ""
      ? "has one / between two names, and none at an end, also with each part of its {}"
      : `has no name ${JSON.stringify(dead)}, since no path has one`;
  }
  return [...ends].some((end) => end !== EMPTY) ? null : "is a text, such as **/*.ts";
}

/**
 * A summary of a text that braces stand for, built letter by letter: the current name (an index of `NAMES`), plus four
 * times the first impossible name (0 for none), plus 16 once there was a letter. A list of the texts themselves took 8
 * ms for one glob.
 */
type State = number;
const EMPTY: State = 0;
const OTHER = 3;
const BEGUN = 16;
/** Names that no path has. */
const DEAD = ["", ".", ".."] as const;

const nameIn = (state: State): number => state & 3;
const deadIn = (state: State): string | undefined => DEAD[((state >> 2) & 3) - 1];

/** Ends the current name. */
function afterName(state: State): State {
  const name = nameIn(state);
  const isFirst = (state & 12) === 0 && name !== OTHER;
  return (state & ~3) | (isFirst ? (name + 1) << 2 : 0);
}

function afterLetter(state: State, letter: string): State {
  if (letter === "/") return afterName(state) | BEGUN;
  const name = letter === "." ? Math.min(nameIn(state) + 1, OTHER) : OTHER;
  return (state & ~3) | name | BEGUN;
}

/** The possible ends of all texts that the braces stand for, or the fault of the braces. */
function alternativesOf(glob: string): ReadonlySet<State> | string {
  // The open braces. Each has the ends of the text before it, with their number, and the ends of its complete alternatives.
  const open: { readonly before: ReadonlySet<State>; readonly count: number; done: Set<State>; texts: number }[] = [];
  let present: ReadonlySet<State> = new Set([EMPTY]);
  let count = 1;
  for (const [token] of glob.matchAll(/\\.|\[[!^]?(?:\\.|[^\\])(?:\\.|[^\\\]])*\]|./gsu)) {
    const level = open.at(-1);
    if (token === "{") {
      open.push({ before: present, count, done: new Set(), texts: 0 });
      count = 1;
    } else if (level !== undefined && (token === "," || token === "}")) {
      for (const end of present) level.done.add(end);
      level.texts += count;
      present = level.before;
      count = 1;
      if (token === "}") {
        open.pop();
        count = level.count * level.texts;
        if (count > MOST_ALTERNATIVES) {
          return `stands for at most ${MOST_ALTERNATIVES} texts by its {}; write several`;
        }
        present = level.done;
      }
    } else {
      const letter = token.length > 1 ? "x" : token; // A class or an escaped letter is neither a slash nor a dot.
      const next = new Set<State>();
      for (const state of present) next.add(afterLetter(state, letter));
      present = next;
    }
  }
  return open.length > 0 ? "has a } for each {" : present;
}

/** Reads the glob of a request. `given` is the request's path, for errors. */
export function matcherOf(glob: unknown, given: string): Matcher {
  const fault = faultOf(glob);
  if (fault !== null) return refuse("invalid-path", given, `A glob ${fault}; got ${shorten(glob)}.`);
  const compiled = new Glob(glob as string); // `faultOf` has checked that it is a string.
  return (path) => compiled.match(path);
}

const bare = (glob: string): string => glob.replace(/^(\.?\/)+/, "").replace(/\/+$/, "/**");

/** Shortens a value for an error. */
export function shorten(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : Bun.inspect(value, { depth: 1, compact: true });
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
