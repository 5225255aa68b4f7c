import { type Static, Type } from "../../../index";
import { WriteReply, written } from "./changing";
import { Count, Difference, flag, Path, Positive } from "./terms";

/** One replacement in a file: of a text, or of lines. */
const Edit = Type.Object({
  /**
   * A text that occurs once. Line ends may be `\n` whatever those of the file are. With `lines` it is what these lines are now,
   * with or without the last line end: other lines are refused as `no-match`.
   */
  oldText: Type.Optional(Type.String({ minLength: 1 })),
  /** What comes instead. With `lines`: lines, of which the last one gets its line end where it has none; `""` deletes. */
  newText: Type.String(),
  /** Whether each occurrence is replaced, from the first one on, and none within another. Default: false, it occurs once. */
  replaceAll: flag,
  /**
   * The lines that are replaced, counted from 1 in the file as it was before the request, the last one included. An empty range
   * inserts before `from`: `{ from: 3, to: 2 }` between the lines 2 and 3. It needs the request's `ifMatch`, or `oldText`.
   */
  lines: Type.Optional(Type.Object({ from: Positive, to: Count })),
});
export type Edit = Static<typeof Edit>;

/**
 * At most 1,000, all of them made or none. Ranges of lines are replaced first, and must not overlap. Then texts are, in their
 * order; each sees what those before it made.
 */
export const edits = Type.Array(Edit, { minItems: 1, maxItems: 1_000 });

/** What is wrong with edits as such; null where nothing is. */
export function faultOf(edits: readonly Edit[], ifMatch: string | undefined): string | null {
  for (const [index, { oldText, lines, replaceAll }] of edits.entries()) {
    const which = `"edits" at ${index}`;
    if (lines === undefined) {
      if (oldText === undefined) return `must have "oldText" or "lines" in ${which}`;
      continue;
    }
    if (replaceAll !== undefined) return `must have "replaceAll" without "lines" in ${which}`;
    if (lines.to < lines.from - 1)
      return `must have lines from 3 to 2 for a place between them, and no less, in ${which}`;
    if (lines.to < lines.from && oldText !== undefined) return `must have no "oldText" for an empty range in ${which}`;
    if (oldText === undefined && ifMatch === undefined) {
      return `must have "ifMatch", or what the lines are as "oldText", since lines move, in ${which}`;
    }
  }
  return null;
}

const EditFields = Type.Object({
  path: Path,
  edits,
  ...written,
  /** Whether all is checked and nothing is changed; the reply is that of the change. Default: false. */
  dryRun: flag,
  /** Whether the reply has the unified diff of the change. Default: false. */
  diff: flag,
});

/** What an edit asks for: to replace texts or lines of a file. */
export const EditRequest = Type.Refine(
  EditFields,
  ({ edits, ifMatch }) => faultOf(edits, ifMatch) === null,
  // It has the fields, since those are checked first.
  (request) => faultOf((request as EditRequest).edits, (request as EditRequest).ifMatch) ?? "",
);
export type EditRequest = Static<typeof EditFields>;

/** What was made of the file. */
export const EditReply = Type.Object({ ...WriteReply.properties, diff: Type.Optional(Difference) });
export type EditReply = Static<typeof EditReply>;
