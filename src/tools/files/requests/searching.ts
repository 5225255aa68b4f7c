import { type Static, Type } from "../../../index";
import { Count, flag, Globs, Positive, path, requestOf } from "./terms";

const Context = Type.Optional(Type.Integer({ minimum: 0, maximum: 20 }));

/** A search request. */
export const SearchRequest = Type.Refine(
  requestOf({
    /** A directory or a file. Default: the root. */
    path,
    /** An exact text, case-sensitive. Give either this or `pattern`. */
    text: Type.Optional(Type.String({ minLength: 1 })),
    /**
     * A regular expression of JavaScript. It is matched line by line in linear time, so it has no references to groups,
     * no lookahead and no lookbehind.
     */
    pattern: Type.Optional(Type.String({ minLength: 1 })),
    /** True ignores case. Default: false. */
    ignoreCase: flag,
    /**
     * One glob, or up to 20. Only files with a matching path below the directory are searched, such as `**\/*.ts`.
     * Default: all.
     */
    glob: Type.Optional(Globs),
    /**
     * One glob, or up to 20. Matching paths are left out; a directory, such as `**\/dist`, with everything in it.
     * Default: none.
     */
    exclude: Type.Optional(Globs),
    /**
     * True leaves out `.git` and everything that the `.gitignore` files below the root ignore, as in git. Files of more
     * than 64 KB, and patterns after a file's 1,000th, are skipped. Default: false.
     */
    gitignore: flag,
    /**
     * The items: each matching line, each file with a match, or each such file with its number of matching lines.
     * Default: `"lines"`.
     */
    output: Type.Optional(Type.Union([Type.Literal("lines"), Type.Literal("files"), Type.Literal("counts")])),
    /** With `output: "lines"`: the lines of context before and after a match, at most 20 each. Default: 0. */
    before: Context,
    after: Context,
    /** Most items, up to 10,000. Default: 1,000. */
    maxResults: Type.Optional(Positive),
  }),
  (request) => (request.text === undefined) !== (request.pattern === undefined),
  () => 'must have either "text" or "pattern", and not both',
);
export type SearchRequest = Static<typeof SearchRequest>;

/** A matching line or file, in the order of the paths, or the summary as the last item. */
export const SearchItem = Type.Union([
  Type.Object({
    kind: Type.Literal("match"),
    /** The path below the root. */
    path: Type.String(),
    line: Positive,
    /** The start of its first match, from 1, in letters as JavaScript counts them. */
    column: Positive,
    /** The line, or 200 characters of it around the match. */
    excerpt: Type.String(),
    /** The lines before it, the nearest last, and after it, at most 200 characters of each. Left out unless requested. */
    before: Type.Optional(Type.Array(Type.String())),
    after: Type.Optional(Type.Array(Type.String())),
  }),
  Type.Object({
    /** With `output: "files"`: a file with a matching line. */
    kind: Type.Literal("file"),
    path: Type.String(),
  }),
  Type.Object({
    /** With `output: "counts"`: a file with matching lines, and their number. */
    kind: Type.Literal("count"),
    path: Type.String(),
    lines: Positive,
  }),
  Type.Object({
    kind: Type.Literal("end"),
    /** Files searched. */
    files: Count,
    /** Files not searched: larger than the actor reads, not text, or unreadable. */
    skipped: Count,
    /** True if `maxResults` or the actor's `maxEntries` ended the search, so there may be more. */
    isCut: Type.Boolean(),
  }),
]);
export type SearchItem = Static<typeof SearchItem>;
