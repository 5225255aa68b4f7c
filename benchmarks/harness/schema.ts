import type { Static, Type } from "envoi";
import { Errors } from "typebox/schema";

/** A type with all that is in it made readonly. */
export type Immutable<Value> = { readonly [Key in keyof Value]: Immutable<Value[Key]> };

/** What a schema describes, to be read and not changed. */
export type Described<Schema extends Type.TSchema> = Immutable<Static<Schema>>;

/**
 * Reads JSON that a schema describes.
 *
 * @param name What the error calls it: its file.
 * @param wanted What it should be, and what to do where it is not, as the end of a sentence.
 * @throws Error that says where it does not fit, and what is wanted.
 */
export function parseJson<Schema extends Type.TSchema>(
  schema: Schema,
  text: string,
  name: string,
  wanted: string,
): Described<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is no JSON (${String(error)}); it should be ${wanted}.`, { cause: error });
  }
  const [fits, errors] = Errors(schema, value);
  if (fits) return value as Described<Schema>; // The schema said so.
  throw new Error(`${name} does not fit: ${describe(errors)}; it should be ${wanted}.`);
}

type Fault = ReturnType<typeof Errors>[1][number];

/** The one fault that tells most: of a union, none of a branch that another kind of thing is described by. */
function describe(faults: readonly Fault[]): string {
  const strangers = faults.flatMap(({ keyword, schemaPath }) =>
    keyword === "const" && schemaPath.includes("/properties/")
      ? [schemaPath.slice(0, schemaPath.lastIndexOf("/properties/"))]
      : [],
  );
  const isOfStranger = ({ schemaPath }: Fault) =>
    strangers.some((branch) => schemaPath === branch || schemaPath.startsWith(`${branch}/`));
  const own = faults.filter((fault) => !isOfStranger(fault));
  const depth = ({ instancePath, keyword }: Fault) => instancePath.split("/").length - (keyword === "anyOf" ? 0.5 : 0);
  const [deepest] = [...(own.length > 0 ? own : faults)].sort((a, b) => depth(b) - depth(a));
  return deepest === undefined ? "it is something else" : `${deepest.instancePath || "it"} ${deepest.message}`;
}
