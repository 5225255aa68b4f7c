import { type Static, Type } from "../../../index";
import { Count, flag, Positive, path } from "./terms";

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
    /** Only files whose path below the directory matches, such as `**\/*.ts`. Default: all. */
    glob: Type.Optional(Type.String()),
    /** Most lines. Default: 1,000, and 10,000 at most. */
    maxResults: Type.Optional(Positive),
  }),
  (request) => (request.text === undefined) !== (request.pattern === undefined),
  () => 'must have one of "text" and "pattern"',
);
export type SearchRequest = Static<typeof SearchRequest>;

/** A line that matches, in the order of the paths; or the last item, which says what was looked at. */
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
