import type { TProperties, TSchema } from "typebox";
import { type Static, Type } from "../../../index";
import { outcomeSchema } from "../../reply";
import { FileError } from "../file-error";

export const Count = Type.Integer({ minimum: 0 });
export const Positive = Type.Integer({ minimum: 1 });
export const flag = Type.Optional(Type.Boolean());
export const Path = Type.String({
  description: "Below the root, with slashes: src/main.ts. The root itself is an empty text or a dot.",
});
export const path = Type.Optional(Path);
export const Globs = Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 20 })]);
export const Bytes = Type.Refine(
  Type.Unsafe<Uint8Array>({}),
  (value) => value instanceof Uint8Array,
  () => "must be a string or a Uint8Array", // Shown for content, where it stands for both alternatives.
);

/** A name without what is often written in another way: `dry_run`, `dryrun` and `DryRun` are `dryRun`. */
const fold = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

/**
 * The object of a request. A property that is one of its own in another spelling is refused: ignored, a `dry_run` would
 * make the change, and an `if_match` would overwrite what others wrote. Other unknown properties are ignored, such as
 * the remarks of an agent or the options of a later version.
 */
export const requestOf = <Properties extends TProperties>(properties: Properties) => {
  const spelled = new Map(Object.keys(properties).map((name) => [fold(name), name]));
  /** A property of another spelling, and its own name. */
  const misspelt = (request: object): readonly [string, string] | undefined => {
    for (const given of Object.keys(request)) {
      if (given in properties) continue;
      const name = spelled.get(fold(given));
      if (name !== undefined) return [given, name];
    }
    return undefined;
  };
  return Type.Refine(
    Type.Object(properties),
    (request) => misspelt(request as object) === undefined, // The fields were checked before.
    (request) => {
      const [given, name] = misspelt(request as object) ?? [];
      return `must have ${JSON.stringify(name)} instead of ${JSON.stringify(given)}`;
    },
  );
};

/** A reply: the value, or the error. `resultOf` turns it into a Result. */
export const outcome = <Value extends TSchema>(value: Value) => outcomeSchema(value, FileError);

export const Kind = Type.Union([
  Type.Literal("file"),
  Type.Literal("directory"),
  Type.Literal("link", { description: "A symbolic link, which is shown and never followed." }),
  Type.Literal("other", { description: "A FIFO, a socket or a device." }),
]);

export const Encoding = Type.Union([
  Type.Literal("utf8"),
  Type.Literal("base64"),
  Type.Literal("bytes", { "x-json": false }), // Its reply is nothing that JSON holds.
]);
export const Content = Type.Union([Type.String(), Bytes]);
export const content = {
  content: Content,
  /** The encoding of content given as a string. Default: `"utf8"`. */
  encoding: Type.Optional(Type.Union([Type.Literal("utf8"), Type.Literal("base64")])),
};
export const Etag = Type.String({
  description: "Stands for the content of a file: two files of one etag have the same bytes.",
});

/** The difference that a change makes to the lines of a file. */
export const Difference = Type.Object({
  /**
   * The unified diff with three lines of context, in the form that git and patch take. Empty if nothing changes. Left
   * out if a version is not UTF-8, if the diff would exceed 131,072 letters, or if the first and the last change are
   * more than 50,000 lines apart.
   */
  text: Type.Optional(Type.String()),
  /** Lines removed and added. Upper bounds if the text is left out. A changed line counts as both. */
  removed: Count,
  added: Count,
});
export type Difference = Static<typeof Difference>;
