import * as v from "valibot";

type Schema = Readonly<Record<string, unknown>>;
type Made = v.GenericSchema;
const schemaIn = (value: unknown): Schema => (typeof value === "object" && value !== null ? { ...value } : {});

/** A schema of JSON as one of valibot, for the keywords that the messages have. */
export function convert(schema: Schema): Made {
  const { type, enum: values, const: literal, items, required, properties } = schema;
  if (literal !== undefined) return v.literal(literal as string);
  if (Array.isArray(type)) return v.union(type.map((each) => convert({ ...schema, type: each })));
  if (type === "null") return v.null();
  if (Array.isArray(values)) return v.picklist(values.filter((value) => value !== null));
  const own = entriesOf(properties, required);
  if (Array.isArray(schema["anyOf"])) return union(schema["anyOf"].map((each) => merged(own, each)));
  if (type === "string") return v.string();
  if (type === "boolean") return v.boolean();
  if (type === "number") return v.number();
  if (type === "integer") return v.pipe(v.number(), v.integer(), v.minValue(Number(schema["minimum"] ?? -(2 ** 53))));
  if (type === "array") return v.array(convert(schemaIn(items)));
  if (type !== "object") return v.unknown();
  return properties === undefined
    ? v.record(v.string(), convert(schemaIn(schema["additionalProperties"])))
    : v.looseObject(own);
}

type Entries = Record<string, Made>;
const entriesOf = (properties: unknown, required: unknown): Entries =>
  Object.fromEntries(
    Object.entries(schemaIn(properties)).map(([name, part]) => {
      const made = convert(schemaIn(part));
      return [name, Array.isArray(required) && required.includes(name) ? made : v.optional(made)];
    }),
  );

function merged(own: Entries, branch: Schema): { made: Made; entries: Entries | undefined } {
  const { type, properties, required } = branch;
  if (type !== "object" || properties === undefined || "anyOf" in branch)
    return { made: convert(branch), entries: undefined };
  const entries = { ...own, ...entriesOf(properties, required) };
  return { made: v.looseObject(entries), entries };
}

function union(branches: ReturnType<typeof merged>[]): Made {
  const keys = Object.keys(branches[0]?.entries ?? {});
  const key = keys.find((each) => branches.every(({ entries }) => entries?.[each]?.type === "literal"));
  const all = branches.map(({ made }) => made);
  return key === undefined ? v.union(all) : v.variant(key, all as never); // Each is an object with that literal.
}
