import { Glob } from "bun";
import { refuse } from "./file-error";

/** Longest glob, in UTF-16 code units. */
const LONGEST_GLOB = 1_000;
/** Most braces that the matcher looks into; what has more matches nothing. */
const MOST_BRACES = 10;

/** Whether a path below a directory matches. */
export type Matcher = (path: string) => boolean;

/** What is wrong with a glob, as the end of a sentence; null where nothing is. */
export function faultOf(glob: unknown): string | null {
  if (typeof glob !== "string" || glob === "") return "is a text, such as **/*.ts";
  if (glob.length > LONGEST_GLOB) return `has at most ${LONGEST_GLOB} characters`;
  if ((glob.match(/\{/g)?.length ?? 0) > MOST_BRACES) return `has at most ${MOST_BRACES} braces`;
  if (/^\.?\/|\/$/.test(glob)) return `is matched against paths such as src/main.ts: write ${show(bare(glob))}`;
  return null;
}

/** Reads the glob of a request; `given` is the path that it goes with. */
export function matcherOf(glob: unknown, given: string): Matcher {
  const fault = faultOf(glob);
  if (fault !== null) return refuse("invalid-path", given, `A glob ${fault}; got ${show(glob)}.`);
  const compiled = new Glob(glob as string); // `faultOf` has looked.
  return (path) => compiled.match(path);
}

const bare = (glob: string): string => glob.replace(/^(\.?\/)+/, "").replace(/\/+$/, "/**");
const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
};
