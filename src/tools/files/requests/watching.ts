import { type Static, Type } from "../../../index";
import { flag, path } from "./terms";

/** What a watch asks for. */
export const WatchRequest = Type.Object({
  /** The directory. Default: the root. */
  path,
  /** Whether what is in its directories is watched too. Default: true. */
  recursive: flag,
  /** Only what matches, by its path below the directory, such as `**\/*.ts`. Default: all. */
  glob: Type.Optional(Type.String()),
});
export type WatchRequest = Static<typeof WatchRequest>;

/**
 * What happened to a path; `ready` comes first, and `overflow` says that more happened in a directory than is told: list it
 * again. Several changes that are not read yet are one. What is renamed is deleted and created, a directory with all
 * that is in it; what replaces another file, as each write of this actor does, changes it. Where the directory itself
 * is deleted, moved or replaced, that is told as deleted and the stream ends with `not-found`.
 */
export const WatchItem = Type.Object({
  kind: Type.Union([
    Type.Literal("ready"),
    Type.Literal("created"),
    Type.Literal("changed"),
    Type.Literal("deleted"),
    Type.Literal("overflow"),
  ]),
  /** Below the root. */
  path: Type.String(),
});
export type WatchItem = Static<typeof WatchItem>;
