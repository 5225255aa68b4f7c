import { refuse } from "./file-error";

/** Longest path in bytes, as in Linux (PATH_MAX without its NUL). */
const LONGEST_PATH = 4_095;
/** Longest name in bytes, as in most file systems (NAME_MAX). */
const LONGEST_NAME = 255;

const SLASH = 47;
const DOT = 46;

/** A path that can be looked up below the root: not absolute, no `..`, only possible file names. */
export interface Path {
  /** The path as the caller wrote it, for errors. */
  readonly given: string;
  /** Its names, joined by single slashes. Empty for the root. */
  readonly whole: string;
  /** The index of the last name in `whole`. */
  readonly base: number;
  /** True if it ends in a slash, so only a directory can have it. */
  readonly isDirectory: boolean;
}

/** The path of the parent directory. `""` is the root. */
export const parentOf = ({ whole, base }: Path): string => (base === 0 ? "" : whole.slice(0, base - 1));

/** The last name. */
export const nameOf = ({ whole, base }: Path): string => (base === 0 ? whole : whole.slice(base));

/**
 * Reads a path. As in POSIX, `.` and doubled slashes mean nothing; `""` and `.` are the root. Names are not changed: a
 * backslash is an ordinary letter, and no Unicode form is converted.
 */
export function parsePath(given: unknown): Path {
  if (typeof given !== "string") {
    return refuse(
      "invalid-path",
      `[${typeof given}]`,
      `A path is a string, such as "src/main.ts"; got ${typeof given}.`,
    );
  }
  const { length } = given;
  if (length > LONGEST_PATH || (length * 3 > LONGEST_PATH && Buffer.byteLength(given) > LONGEST_PATH)) {
    return refuse("invalid-path", `${given.slice(0, 80).toWellFormed()}…`, `A path has at most ${LONGEST_PATH} bytes.`);
  }
  if (!given.isWellFormed()) {
    return refuse(
      "invalid-path",
      given.toWellFormed(),
      "A path is Unicode text; this one has half of a surrogate pair.",
    );
  }
  if (given.charCodeAt(0) === SLASH) {
    return refuse(
      "outside-root",
      given,
      `Write the path as it is below the root, without the first slash; got ${show(given)}.`,
    );
  }
  let start = 0; // The start of the current name.
  let base = 0; // The start of the last name. Valid only if no name was left out.
  let isClean = true;
  for (let i = 0; i <= length; i++) {
    const code = i === length ? SLASH : given.charCodeAt(i);
    if (code === 0) return refuse("invalid-path", given, `A path has no NUL; got ${show(given)}.`);
    if (code !== SLASH) continue;
    if (isMeaningful(given, start, i)) base = start;
    else isClean = false; // Also reached by a trailing slash.
    start = i + 1;
  }
  if (isClean) return { given, whole: given, base, isDirectory: false };
  const whole = given
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
  return { given, whole, base: whole.lastIndexOf("/") + 1, isDirectory: /(^|\/)\.?$/.test(given) };
}

/** True if there is a name between the two indexes. */
function isMeaningful(path: string, start: number, end: number): boolean {
  const length = end - start;
  if (length === 0) return false;
  if (path.charCodeAt(start) === DOT) {
    if (length === 1) return false;
    if (length === 2 && path.charCodeAt(start + 1) === DOT) {
      return refuse("outside-root", path, `Write the path without "..", as it is below the root; got ${show(path)}.`);
    }
  }
  if (length * 3 > LONGEST_NAME && Buffer.byteLength(path.slice(start, end)) > LONGEST_NAME) {
    return refuse("invalid-path", path, `A name has at most ${LONGEST_NAME} bytes; ${show(path)} has a longer one.`);
  }
  return true;
}

const show = (path: string): string => JSON.stringify(path);
