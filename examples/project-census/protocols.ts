import { defineProtocol, type Ref, type SignaturesOf, type Static, Type } from "envoi";
import type { FileSystem } from "envoi/tools";

type FileSignatures = SignaturesOf<typeof FileSystem>;

/** A file actor, as far as somebody needs it: the compiler sees to it that the walker reads nothing. */
export type Files<Operation extends keyof FileSignatures> = Ref<Pick<FileSignatures, Operation>>;

const Count = Type.Integer({ minimum: 0 });

/** Words, each once, with how often each occurs. */
export const WordCounts = Type.Array(Type.Tuple([Type.String(), Count]));

/** What the walker or a reader was refused, and the error that came instead: a file error, or that of an ask. */
export const Unreadable = Type.Object({
  kind: Type.Union([Type.Literal("file"), Type.Literal("folder")]),
  path: Type.String(),
  error: Type.Object({ kind: Type.String(), message: Type.String() }),
});
export type Unreadable = Static<typeof Unreadable>;

/** What is counted and not opened. */
export const Oddity = Type.Union([Type.Literal("skippedFolders"), Type.Literal("links"), Type.Literal("specialFiles")]);
export type Oddity = Static<typeof Oddity>;

/** What a census says; part of what `--json` prints. */
export const Census = Type.Object({
  totals: Type.Object({
    files: Count,
    textFiles: Count,
    lines: Count,
    bytes: Count,
    words: Count,
    distinctWords: Count,
    folders: Count,
  }),
  languages: Type.Array(Type.Object({ language: Type.String(), files: Count, lines: Count, bytes: Count })),
  longestFiles: Type.Array(Type.Object({ path: Type.String(), lines: Count, bytes: Count })),
  frequentWords: Type.Array(Type.Object({ word: Type.String(), count: Count })),
  found: Type.Object({
    emptyFiles: Count,
    binaryFiles: Count,
    binaryBytes: Count,
    links: Count,
    specialFiles: Count,
    vanished: Count,
    unreadableFiles: Count,
    unreadableFolders: Count,
    unreadableNames: Count,
    skippedFolders: Count,
  }),
  errors: Type.Array(
    Type.Object({
      /** With `names`, the path is that of their folder. */
      kind: Type.Union([Type.Literal("file"), Type.Literal("folder"), Type.Literal("names")]),
      path: Type.String(),
      reason: Type.String(),
    }),
  ),
  /** How many words and errors came after their lists were full. */
  notListed: Type.Object({ words: Count, errors: Count }),
});
export type Census = Static<typeof Census>;

/** Finds the files. */
export const Walker = defineProtocol("walker", {
  /** The next file, as a path below the root; null after the last. */
  next: { reply: Type.Union([Type.String(), Type.Null()]) },
});

/** Reads files. */
export const Reader = defineProtocol("reader", {
  /** Reads the file at a path, and replies once the aggregator has what was in it. */
  read: { payload: Type.String() },
});

/** Keeps the counts. */
export const Aggregator = defineProtocol("aggregator", {
  /** A folder that was listed, and how many of its names no path can say. */
  folder: { payload: Type.Object({ path: Type.String(), leftOut: Count }) },
  oddity: { payload: Oddity },
  unreadable: { payload: Unreadable },
  binary: { payload: Type.Object({ bytes: Count }) },
  /** What was in the next bytes of a text. */
  words: { payload: Type.Object({ words: WordCounts, bytes: Count }) },
  /** A text that has been read: all its words have come before. */
  text: { payload: Type.Object({ path: Type.String(), lines: Count, bytes: Count }) },
  progress: { reply: Type.Object({ files: Count, bytes: Count }) },
  census: { reply: Census },
});
