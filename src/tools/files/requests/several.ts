import { type Static, Type } from "../../../index";
import { written } from "./changing";
import { edits, faultOf } from "./editing";
import { Count, content, Difference, Etag, flag, Path, requestOf } from "./terms";

const { ifMatch } = written;
/** True makes missing directories on the way. They stay if the request fails. Default: true. */
const parents = flag;

/** One of several changes. Each has a path of its own, of a regular file. */
export const Change = Type.Union([
  requestOf({
    kind: Type.Literal("write"),
    path: Path,
    ...content,
    ifMatch,
    /** Replace or refuse an existing file. Default: `"replace"`. */
    ifExists: Type.Optional(Type.Union([Type.Literal("replace"), Type.Literal("fail")])),
    parents,
  }),
  Type.Refine(
    requestOf({ kind: Type.Literal("edit"), path: Path, edits, ifMatch }),
    (change) => faultOf(change.edits, change.ifMatch) === null,
    () =>
      'must have edits that are whole: an "oldText", or "lines" with the change\'s "ifMatch" or with what they are now as "oldText"',
  ),
  /** The new name must be free. */
  requestOf({ kind: Type.Literal("move"), from: Path, to: Path, ifMatch, parents }),
  requestOf({ kind: Type.Literal("delete"), path: Path, ifMatch }),
]);
export type Change = Static<typeof Change>;

/** A request to change several files. */
export const ChangeRequest = requestOf({
  /** At most 100. The actor's `maxWriteBytes` bounds all their contents together. */
  changes: Type.Array(Change, { minItems: 1, maxItems: 100 }),
  /** True replies only once all are on the disk, safe from a loss of power. Default: false. */
  durable: written.durable,
  /** True checks everything and changes nothing. The reply is that of the change. Default: false. */
  dryRun: flag,
  /** True adds the unified diff of each written, edited or deleted file to the reply. Default: false. */
  diff: flag,
});
export type ChangeRequest = Static<typeof ChangeRequest>;

/** The result for one of the paths. */
export const Changed = Type.Object({
  kind: Type.Union([Type.Literal("write"), Type.Literal("edit"), Type.Literal("move"), Type.Literal("delete")]),
  /** The path as given. For a move, the new path. */
  path: Path,
  /** The size in bytes after a write or an edit. */
  size: Type.Optional(Count),
  /** The etag after a write or an edit, for the next `ifMatch`. */
  etag: Type.Optional(Etag),
  /** True if the file is new. */
  created: Type.Optional(Type.Boolean()),
  diff: Type.Optional(Difference),
});
export type Changed = Static<typeof Changed>;

/** The results of the changes, in order. */
export const ChangeReply = Type.Object({ changes: Type.Array(Changed) });
export type ChangeReply = Static<typeof ChangeReply>;
