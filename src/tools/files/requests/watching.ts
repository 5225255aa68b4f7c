import { type Static, Type } from "../../../index";
import { flag, path } from "./terms";

/** A watch request. */
export const WatchRequest = Type.Object({
  /** The directory. Default: the root. */
  path,
  /** True also watches everything in its directories. Default: true. */
  recursive: flag,
  /** Reports only matching paths below the directory, such as `**\/*.ts`. Default: all. */
  glob: Type.Optional(Type.String()),
});
export type WatchRequest = Static<typeof WatchRequest>;

/**
 * An event of a path. `ready` comes first. `overflow` means that events of a directory are missing: list it again.
 * Several unread changes of a path are one event. A rename is reported as a deletion and a creation, and for a
 * directory so is everything in it. Replacing a file, as each write of this actor does, is a change. When the watched
 * directory itself is deleted, moved or replaced, that is reported as deleted, and the stream ends with `not-found`.
 */
export const WatchItem = Type.Object({
  kind: Type.Union([
    Type.Literal("ready"),
    Type.Literal("created"),
    Type.Literal("changed"),
    Type.Literal("deleted"),
    Type.Literal("overflow"),
  ]),
  /** The path below the root. */
  path: Type.String(),
});
export type WatchItem = Static<typeof WatchItem>;
