import { Glob } from "bun";
import { faultOf } from "./glob";
import type { Effort, Steps } from "./steps";
import type { Workspace } from "./workspace";

/** Largest `.gitignore` that is read, in bytes. A larger one is skipped. */
const MOST_BYTES = 64 * 1024;
/** Most patterns of one file, and of all files on the way to a directory. Further ones are skipped. */
const MOST_PATTERNS = 1_000;
const MOST_IN_FORCE = 4_000;
/** Longest pattern, in UTF-16 code units. A longer one is skipped. */
const LONGEST_PATTERN = 1_000;
/** The cost of reading a pattern, beside its letters, and of matching one letter, usually and at worst. In bytes searched. */
const PATTERN = 2_048;
const LETTER = 64;
const USUAL = 8;
const EQUAL = 32;
/** The cost of opening a directory on the way. */
const PLACE = 8_192;
/** A pattern with up to this many `*` backtracks little. */
const FEW_STARS = 2;

/** Character classes such as `[[:digit:]]`, by name, as a glob writes them. */
const CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  blank: " \t",
  digit: "0-9",
  lower: "a-z",
  space: " \t\r\n\v\f",
  upper: "A-Z",
  xdigit: "0-9A-Fa-f",
};

/** One pattern of a `.gitignore`. */
interface Pattern {
  readonly isNegated: boolean;
  readonly isOfDirectories: boolean;
  /** True if the pattern applies to the path below the directory of its file, false if to the name alone. */
  readonly isOfPaths: boolean;
  /** The literal text of a pattern without wildcards. */
  readonly text: string | null;
  readonly glob: Glob | null;
  /** The cost of each letter that it is matched against. */
  readonly letterCost: number;
}

/**
 * The `.gitignore` files that apply in one directory: its own, and those of the directories above it. The nearest file
 * with a matching pattern decides. As in git, an ignored directory is never entered, so no pattern can show anything in
 * it. `.git` is always ignored.
 *
 * These files are input, written by anyone who may write below the root. The field's library turns patterns into
 * regular expressions that backtrack: two `**\/` in one pattern take it 1.4 s on a path of 2,000 bytes, and three took
 * over a minute. Here a pattern is a native glob within the bounds of `faultOf`. A pattern beyond them ignores nothing.
 */
export class Ignores {
  readonly #parent: Ignores | null;
  readonly #patterns: readonly Pattern[];
  /** The offset in a path from which the patterns apply. */
  readonly #from: number;
  readonly #inForce: number;

  private constructor(parent: Ignores | null, from: number, patterns: readonly Pattern[]) {
    this.#parent = parent;
    this.#patterns = patterns;
    this.#from = from;
    this.#inForce = patterns.length + (parent === null ? 0 : parent.#inForce);
  }

  /** The start: no file has been read. */
  static readonly none = new Ignores(null, 0, []);

  /**
   * The rules for the directory `prefix`, which is open as `at`. `prefix` is `""` for the root and otherwise ends in a
   * slash. A file that is not served, for example because of `deny`, has no effect.
   */
  *in(workspace: Workspace, at: number, prefix: string, effort: Effort): Steps<Ignores> {
    const text = readIgnoreFile(workspace, at, prefix);
    if (text === null) return this;
    const patterns: Pattern[] = [];
    const most = Math.min(MOST_PATTERNS, MOST_IN_FORCE - this.#inForce);
    for (const line of text.split("\n")) {
      if (patterns.length >= most) break;
      const pattern = patternOf(line);
      if (pattern !== null) patterns.push(pattern);
      if (effort.spend(PATTERN + line.length * LETTER)) yield;
    }
    return patterns.length === 0 ? this : new Ignores(this, prefix.length, patterns);
  }

  /** True if the entry of this path below the root, and of this name, is left out. */
  *leavesOut(whole: string, name: string, isDirectory: boolean, effort: Effort): Steps<boolean> {
    if (name === ".git") return true;
    for (let file: Ignores | null = this; file !== null; file = file.#parent) {
      const below = whole.slice(file.#from);
      for (let i = file.#patterns.length - 1; i >= 0; i--) {
        const pattern = file.#patterns[i];
        if (pattern === undefined || (pattern.isOfDirectories && !isDirectory)) continue;
        const against = pattern.isOfPaths ? below : name;
        const matches = pattern.glob === null ? pattern.text === against : pattern.glob.match(against);
        if (effort.spend(EQUAL + pattern.letterCost * against.length)) yield;
        if (matches) return !pattern.isNegated;
      }
    }
    return false;
  }
}

/**
 * The rules of the directories above the directory `prefix`, whose own file is not read. Each is opened through the one
 * before: without `openat2`, a path of 500 names takes as many system calls.
 */
export function* ignoresAbove(workspace: Workspace, prefix: string, effort: Effort): Steps<Ignores> {
  const { root } = workspace;
  const names = prefix.split("/").slice(0, -1);
  let ignores = Ignores.none;
  let above = "";
  let at = root.top;
  try {
    for (const name of names) {
      const { turn } = workspace;
      ignores = yield* ignores.in(workspace, at, above, effort);
      if (effort.spend(PLACE)) yield;
      above += `${name}/`;
      const isOpen = workspace.turn === turn; // It may have been moved during a pause.
      const next = isOpen ? root.openAt(at, name, "place") : root.open(above.slice(0, -1), "place");
      workspace.leave(at);
      at = next;
      if (at < 0) break; // The directory is gone, and everything in it.
    }
  } finally {
    if (at >= 0) workspace.leave(at);
  }
  return ignores;
}

function readIgnoreFile(workspace: Workspace, at: number, prefix: string): string | null {
  const { root, status, scratch, rules, limits } = workspace;
  if (!rules.serves(`${prefix}.gitignore`)) return null;
  const file = root.openAt(at, ".gitignore", "read");
  if (file < 0) return null;
  try {
    if (root.stat(file, status) < 0 || status.kind !== "file" || status.size > MOST_BYTES) return null;
    if (status.links > 1 && !limits.hardLinks) return null;
    const length = root.read(file, scratch, MOST_BYTES, 0);
    return length <= 0 ? null : scratch.toString("utf8", 0, length).replace(/^\ufeff/, "");
  } finally {
    root.close(file);
  }
}

/** Reads one line by the rules of gitignore(5). Null for a line that ignores nothing. */
function patternOf(line: string): Pattern | null {
  if (line.length > LONGEST_PATTERN || line.startsWith("#")) return null;
  let text = withoutBlanks(line.endsWith("\r") ? line.slice(0, -1) : line);
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const isOfDirectories = text.endsWith("/");
  if (isOfDirectories) text = text.slice(0, -1);
  const isOfPaths = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  if (text === "") return null;
  const about = { isNegated, isOfDirectories, isOfPaths };
  if (!/[\\*?[]/.test(text)) return { ...about, text, glob: null, letterCost: 1 };
  const source = globOf(text);
  if (source === null || faultOf(source) !== null) return null;
  const stars = source.split("*").length - 1;
  return { ...about, text: null, glob: new Glob(source), letterCost: stars > FEW_STARS ? LETTER : USUAL };
}

/** Cuts off trailing blanks, except one after a backslash. A regular expression would backtrack at each run of blanks. */
function withoutBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end--;
  if (end === line.length) return line;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === "\\") backslashes++;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

/**
 * The glob of a pattern. Braces are plain letters in it, several stars within a name are one, and a negated class
 * excludes the slash. Null for a class without an end, which matches nothing.
 */
function globOf(text: string): string | null {
  const parts = partsOf(text);
  if (parts === null) return null;
  return parts
    .map((part, i) => {
      if (part.startsWith("*")) {
        const isWholeName = (i === 0 || parts[i - 1] === "/") && (i === parts.length - 1 || parts[i + 1] === "/");
        return part.length > 1 && isWholeName ? "**" : "*";
      }
      if (part.length > 1 && part.startsWith("[")) {
        return classOf(part.replace(/\[:([a-z]+):\]/g, (_, name: string) => CLASSES[name] ?? ""));
      }
      return part === "{" || part === "}" || (part === "!" && i === 0) ? `\\${part}` : part;
    })
    .join("");
}

/**
 * Splits into letters, classes and runs of stars. A regular expression read from each `[` to the end: 24 ms for a line
 * of them.
 */
function partsOf(text: string): string[] | null {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const letter = text[at];
    let end = at + 1;
    if (letter === "\\") end++;
    else if (letter === "[") end = endOfClass(text, at);
    else if (letter === "*") while (text[end] === "*") end++;
    if (end < 0) return null;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

const NAMED = /\[:[a-z]+:\]/y;

/** The index of a class's end, or below zero if there is none. */
function endOfClass(text: string, start: number): number {
  const first = start + (/[!^]/.test(text[start + 1] ?? "") ? 2 : 1);
  for (let at = first; at < text.length; ) {
    if (text[at] === "]" && at > first) return at + 1;
    NAMED.lastIndex = at;
    if (text[at] === "[" && NAMED.test(text)) at = NAMED.lastIndex;
    else at += text[at] === "\\" ? 2 : 1;
  }
  return -1;
}

/**
 * A class, with a slash added if it is negated. The slash must not become part of a range, and a leading `]` must stay
 * first.
 */
function classOf(part: string): string {
  if (!/^\[[!^]/.test(part)) return part;
  const inside = part.slice(2, -1);
  if (!/^[\]-]/.test(inside)) return `[!/${inside}]`;
  return `[!${inside.length > 1 && inside.endsWith("-") ? `${inside.slice(0, -1)}/-` : `${inside}/`}]`;
}
