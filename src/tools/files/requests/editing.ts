import { type Static, Type } from "../../../index";
import { WriteReply, written } from "./changing";
import { Count, Difference, flag, Path, Positive, requestOf } from "./terms";

/** One replacement in a file, of a text or of lines. */
const Edit = requestOf({
  /**
   * A text that occurs once. Its line ends may be `\n`, whatever the file has. With `lines`, it is the expected present
   * text of these lines, with or without the last line end. Other lines are refused as `no-match`.
   */
  oldText: Type.Optional(Type.String({ minLength: 1 })),
  /** The new text. With `lines`, a missing last line end is added, and `""` deletes the lines. */
  newText: Type.String(),
  /** True replaces every occurrence, from the first on, without overlaps. Default: false, the text must occur once. */
  replaceAll: flag,
  /**
   * The lines to replace, counted from 1 in the file before the request, including the last. An empty range inserts
   * before `from`: `{ from: 3, to: 2 }` inserts between lines 2 and 3. It needs the request's `ifMatch`, or `oldText`.
   */
  lines: Type.Optional(Type.Object({ from: Positive, to: Count })),
});
export type Edit = Static<typeof Edit>;

/**
 * At most 1,000 edits, all made or none. Ranges of lines are replaced first, and must not overlap. Then texts are
 * replaced in order, each in the result of those before.
 */
export const edits = Type.Array(Edit, { minItems: 1, maxItems: 1_000 });

/** The fault of edits by themselves. Null if there is none. */
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

const EditFields = requestOf({
  path: Path,
  edits,
  ...written,
  /** True checks everything and changes nothing. The reply is that of the change. Default: false. */
  dryRun: flag,
  /** True adds the unified diff to the reply. Default: false. */
  diff: flag,
});

/** An edit request: replaces texts or lines of a file. */
export const EditRequest = Type.Refine(
  EditFields,
  ({ edits, ifMatch }) => faultOf(edits, ifMatch) === null,
  // The fields were checked before.
  (request) => faultOf((request as EditRequest).edits, (request as EditRequest).ifMatch) ?? "",
);
export type EditRequest = Static<typeof EditFields>;

/** The reply to an edit. */
export const EditReply = Type.Object({ ...WriteReply.properties, diff: Type.Optional(Difference) });
export type EditReply = Static<typeof EditReply>;
