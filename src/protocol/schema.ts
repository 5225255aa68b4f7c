import type { Static, TSchema } from "typebox";

/** The part of the Standard Schema interface that envoi calls (https://standardschema.dev, version 1). */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a Standard Schema's `validate`: issues, or the value to use. */
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** A JSON Schema as data that JSON can hold: draft 2020-12, unless its `$schema` names another one. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** One issue of a Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema of a payload, a reply or a stream's item: one of TypeBox, or any that implements Standard Schema. */
export type Schema = (TSchema & object & NoFunction) | StandardSchemaV1;

/** Refuses functions as TypeBox schemas: `String`, or `Type.String` without its parentheses. */
interface NoFunction {
  readonly call?: "a function is no schema: write Type.String(), not String";
}

/** The type of the values that pass a schema; for a Standard Schema, its output. */
export type Infer<S> = S extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : S extends TSchema // Last: TSchema is `{}`, which anything extends.
    ? Static<S>
    : never;

/** True when a schema is validated by its own library. */
export const isStandardSchema = (schema: object): schema is StandardSchemaV1 => "~standard" in schema;

const KEYWORDS = [
  "~kind",
  "~unsafe",
  "~refine",
  "type",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "const",
  "enum",
  "$ref",
  "if",
];

/** True when a value can be a schema. A bare record of schemas cannot, though its type looks like one. */
export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  if (isStandardSchema(value)) return true;
  if (typeof value === "function" || !KEYWORDS.some((keyword) => Object.hasOwn(value, keyword))) return false;
  const type: unknown = "type" in value ? value.type : "object";
  return typeof type === "string" || Array.isArray(type);
}
