import { type Static, Type } from "../../../index";
import { Count, flag, Globs, Positive, path } from "./terms";

const Context = Type.Optional(Type.Integer({ minimum: 0, maximum: 20 }));

/** What a search looks for, and where. */
export const SearchRequest = Type.Refine(
  Type.Object({
    /** The directory, or one file. Default: the root. */
    path,
    /** An exact text, of the case that it has… */
    text: Type.Optional(Type.String({ minLength: 1 })),
    /**
     * …or a regular expression of JavaScript's; one of the two. It is matched line by line, in a time that grows with the text and
     * no faster, and so has no references to groups, and does not look ahead or behind.
     */
    pattern: Type.Optional(Type.String({ minLength: 1 })),
    /** Whether a letter stands for its other case too. Default: false. */
    ignoreCase: flag,
    /** Only files whose path below the directory matches this, such as `**\/*.ts`, or one of these, at most 20. Default: all. */
    glob: Type.Optional(Globs),
    /** What matches this, or one of these, is left out; of a directory, such as `**\/dist`, with all that is in it. Default: nothing. */
    exclude: Type.Optional(Globs),
    /**
     * Whether `.git` is left out, and what the `.gitignore` files below the root ignore, as git reads them. A file of more than
     * 64 KB and what is after its 1,000th pattern are passed over. Default: false.
     */
    gitignore: flag,
    /** What the items are: each line that matches; each file that has one; or each such file with their count. Default: `"lines"`. */
    output: Type.Optional(Type.Union([Type.Literal("lines"), Type.Literal("files"), Type.Literal("counts")])),
    /** With `output: "lines"`: how many lines before a match, and after it, come with it; at most 20 each. Default: 0. */
    before: Context,
    after: Context,
    /** Most items. Default: 1,000, and 10,000 at most. */
    maxResults: Type.Optional(Positive),
  }),
  (request) => (request.text === undefined) !== (request.pattern === undefined),
  () => 'must have either "text" or "pattern", and not both',
);
export type SearchRequest = Static<typeof SearchRequest>;

/** A line or a file that matches, in the order of the paths; or the last item, which says what was looked at. */
export const SearchItem = Type.Union([
  Type.Object({
    kind: Type.Literal("match"),
    /** Below the root. */
    path: Type.String(),
    line: Positive,
    /** Where its first match begins, from 1, in letters as JavaScript counts them. */
    column: Positive,
    /** The line, or 200 characters of it around the match. */
    excerpt: Type.String(),
    /** The lines before it, the nearest one last, and those after it; at most 200 characters of each. Left out where none were asked for. */
    before: Type.Optional(Type.Array(Type.String())),
    after: Type.Optional(Type.Array(Type.String())),
  }),
  Type.Object({
    /** With `output: "files"`: a file in which a line matches. */
    kind: Type.Literal("file"),
    path: Type.String(),
  }),
  Type.Object({
    /** With `output: "counts"`: a file in which lines match, and how many. */
    kind: Type.Literal("count"),
    path: Type.String(),
    lines: Positive,
  }),
  Type.Object({
    kind: Type.Literal("end"),
    /** Files that were searched. */
    files: Count,
    /** Files that were not: larger than the actor reads, no text, or not readable. */
    skipped: Count,
    /** Whether there may be more: it ended because of `maxResults`, or of the actor's `maxEntries`. */
    isCut: Type.Boolean(),
  }),
]);
export type SearchItem = Static<typeof SearchItem>;
