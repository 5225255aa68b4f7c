import { defineProtocol, type Static, type Type } from "envoi";
import { UsageError } from "./arguments";

type Immutable<Value> = { readonly [Key in keyof Value]: Immutable<Value[Key]> };

/** What a schema describes, to be read and not changed. */
export type Described<Schema extends Type.TSchema> = Immutable<Static<Schema>>;

/** @param name The file, for errors. @param wanted What it should be, and what to do where it is not. @throws UsageError that says both. */
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
    throw new UsageError(`${name} is no JSON (${String(error)}); it should be ${wanted}.`, { cause: error });
  }
  // A message's payload is checked as anything else may be, and its faults are told in the same words.
  const { check } = defineProtocol("json", { check: { payload: schema as object } }).operations;
  const parsed = check?.payload.parse(value);
  if (parsed?.isOk()) return value as Described<Schema>; // The schema said so.
  const faults = parsed?.isErr() ? parsed.error() : [];
  // A choice of which nothing fits tells less than what it goes on with.
  const fault = faults.find(({ message }) => !message.endsWith(":")) ?? faults[0];
  const found = fault === undefined ? "it is something else" : `${fault.path || "it"} ${fault.message}`;
  throw new UsageError(`${name} does not fit: ${found}; it should be ${wanted}.`);
}
