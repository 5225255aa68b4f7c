import { type Static, Type } from "../../../index";
import { written } from "./changing";
import { edits, faultOf } from "./editing";
import { Count, content, Difference, Etag, flag, Path } from "./terms";

const { ifMatch } = written;
/** Whether missing directories on the way are made; they stay where the request fails. Default: true. */
const parents = flag;

/** One of several changes. Each is of a path of its own, and of a regular file. */
export const Change = Type.Union([
  Type.Object({
    kind: Type.Literal("write"),
    path: Path,
    ...content,
    ifMatch,
    /** Whether a file that exists is replaced. Default: `"replace"`. */
    ifExists: Type.Optional(Type.Union([Type.Literal("replace"), Type.Literal("fail")])),
    parents,
  }),
  Type.Refine(
    Type.Object({ kind: Type.Literal("edit"), path: Path, edits, ifMatch }),
    (change) => faultOf(change.edits, change.ifMatch) === null,
    () =>
      'must have edits that are whole: an "oldText", or "lines" with the change\'s "ifMatch" or with what they are now as "oldText"',
  ),
  /** To a name that nothing has. */
  Type.Object({ kind: Type.Literal("move"), from: Path, to: Path, ifMatch, parents }),
  Type.Object({ kind: Type.Literal("delete"), path: Path, ifMatch }),
]);
export type Change = Static<typeof Change>;

/** What a change of several files asks for. */
export const ChangeRequest = Type.Object({
  /** At most 100, of all of which the contents together have at most the actor's `maxWriteBytes`. */
  changes: Type.Array(Change, { minItems: 1, maxItems: 100 }),
  /** Whether all are on the disk before the reply, also through a loss of power. Default: false. */
  durable: written.durable,
  /** Whether all is checked and nothing is changed; the reply is that of the change. Default: false. */
  dryRun: flag,
  /** Whether the reply has the unified diff of each file that is written, edited or deleted. Default: false. */
  diff: flag,
});
export type ChangeRequest = Static<typeof ChangeRequest>;

/** What was made of one of the paths. */
export const Changed = Type.Object({
  kind: Type.Union([Type.Literal("write"), Type.Literal("edit"), Type.Literal("move"), Type.Literal("delete")]),
  /** As it was given; of a move, where the file is now. */
  path: Path,
  /** Of what was written or edited, in bytes. */
  size: Type.Optional(Count),
  /** Of what was written or edited, for the next `ifMatch`. */
  etag: Type.Optional(Etag),
  /** Whether there was no such file before. */
  created: Type.Optional(Type.Boolean()),
  diff: Type.Optional(Difference),
});
export type Changed = Static<typeof Changed>;

/** What became of the changes, in their order. */
export const ChangeReply = Type.Object({ changes: Type.Array(Changed) });
export type ChangeReply = Static<typeof ChangeReply>;
