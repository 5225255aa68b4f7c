import { refuse } from "./file-error";

/** Longest path in bytes, as in Linux (PATH_MAX, with its end). */
const LONGEST_PATH = 4_095;
/** Longest name in bytes, as in most file systems (NAME_MAX). */
const LONGEST_NAME = 255;

const SLASH = 47;
const DOT = 46;

/** A path that can be looked up below the root: no `..`, no absolute path, nothing that no file can be named. */
export interface Path {
  /** As the caller wrote it: what errors show. */
  readonly given: string;
  /** Its names, with one slash between them; empty for the root. */
  readonly whole: string;
  /** Where the last name begins in `whole`. */
  readonly base: number;
  /** Whether it ends in a slash, and so can only be a directory. */
  readonly isDirectory: boolean;
}

/** Where its last name is: `""` for the root. */
export const parentOf = ({ whole, base }: Path): string => (base === 0 ? "" : whole.slice(0, base - 1));

/** Its last name. */
export const nameOf = ({ whole, base }: Path): string => (base === 0 ? whole : whole.slice(base));

/**
 * Reads a path. `.` and doubled slashes mean nothing, as in POSIX; `""` and `.` are the root. Names are taken as they
 * are: a backslash is a letter like any other, and no Unicode form is changed into another.
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
  let start = 0; // Of the present name.
  let base = 0; // Of the last name, if no name was left out.
  let isClean = true;
  for (let i = 0; i <= length; i++) {
    const code = i === length ? SLASH : given.charCodeAt(i);
    if (code === 0) return refuse("invalid-path", given, `A path has no NUL; got ${show(given)}.`);
    if (code !== SLASH) continue;
    if (isMeaningful(given, start, i)) base = start;
    else isClean = false; // A trailing slash comes here too.
    start = i + 1;
  }
  if (isClean) return { given, whole: given, base, isDirectory: false };
  const whole = given
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
  return { given, whole, base: whole.lastIndexOf("/") + 1, isDirectory: /(^|\/)\.?$/.test(given) };
}

/** Whether there is a name between the two places. */
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
