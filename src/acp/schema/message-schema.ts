import { defineProtocol, type JsonSchema, type StandardSchemaV1 } from "../../index";
import { schemas } from "./official";
import { MISFIT, salvage } from "./salvage";
import type { Messages, SessionUpdate } from "./types";

/** A Standard Schema that also gives itself as JSON Schema. */
export interface MessageSchema<Message> extends StandardSchemaV1<Message> {
  readonly "~standard": StandardSchemaV1<Message>["~standard"] & {
    readonly jsonSchema: { readonly input: () => JsonSchema; readonly output: () => JsonSchema };
  };
}

/**
 * The schema of a message of the protocol, by the name of its definition. A message that fits is returned as it is. For another one, the
 * result is a copy without the wrong optional parts, if the official schema asks to leave them out.
 *
 * @example
 * messageSchema("PromptRequest")["~standard"].validate({ sessionId: "1", prompt: [] });
 */
export const messageSchema = <Name extends keyof Messages>(name: Name): MessageSchema<Messages[Name]> =>
  schemaOf(() => schemaNamed(name));

/**
 * The schema of a response. Both official SDKs answer with null if a handler returns nothing. Null stands for an empty object if the
 * response requires no property.
 */
export function replySchema<Name extends keyof Messages>(name: Name): MessageSchema<Messages[Name]> {
  const { validate, ...standard } = schemaOf<Messages[Name]>(() => schemaNamed(name))["~standard"];
  return {
    "~standard": {
      ...standard,
      validate: (value) => validate(value === null && !needsParts(schemaNamed(name)) ? {} : value),
    },
  };
}

const needsParts = ({ required }: JsonSchema): boolean => Array.isArray(required) && required.length > 0;

/** The params of a request without the id of their session, for a reference that stands for that session. */
type WithoutSession<Params> = Params extends unknown ? Omit<Params, "sessionId"> : never;

/** The schema of the params of a request, without the id of their session. */
export function paramsSchema<Name extends keyof Messages>(name: Name): MessageSchema<WithoutSession<Messages[Name]>> {
  return schemaOf(() => {
    const { properties, required, ...schema } = schemaNamed(name);
    const { sessionId: _, ...others } = properties as Readonly<Record<string, unknown>>; // Every message is an object.
    const needed = (required as readonly string[]).filter((property) => property !== "sessionId"); // It names a session.
    return { ...schema, properties: others, required: needed };
  });
}

/** The schema of the update in `session/update`. */
export const updateSchema: MessageSchema<SessionUpdate> = schemaOf(() =>
  partOf(schemaNamed("SessionNotification"), "update"),
);

/**
 * The schema of an item of a turn: an update, or the response that ends it, which has no `sessionUpdate`.
 *
 * @param name the definition of the response.
 */
export function itemSchema<Name extends keyof Messages>(name: Name): MessageSchema<SessionUpdate | Messages[Name]> {
  const response = replySchema(name)["~standard"];
  const either = (): JsonSchema => ({
    anyOf: [updateSchema["~standard"].jsonSchema.output(), response.jsonSchema.output()],
  });
  const isUpdate = (value: unknown): boolean => typeof value === "object" && value !== null && "sessionUpdate" in value;
  return {
    "~standard": {
      version: 1,
      vendor: "acp",
      validate: (value) => (isUpdate(value) ? updateSchema["~standard"].validate(value) : response.validate(value)),
      jsonSchema: { input: either, output: either },
    },
  };
}

function schemaNamed(name: string): JsonSchema {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`The Agent Client Protocol has no message ${name}.`);
  return schema;
}

function partOf(schema: JsonSchema, property: string): JsonSchema {
  const properties = schema["properties"] as Readonly<Record<string, JsonSchema>>; // Every message is an object.
  const part = properties[property];
  if (part === undefined) throw new Error(`A message of the Agent Client Protocol has no ${property}.`);
  return part;
}

const NOTHING = { issues: [{ message: "must be an object" }] };

/**
 * Messages of one kind that are interpreted (`salvage`) before its check is compiled. Loading the compiler and compiling the first two
 * checks took half of the time from the start of an agent to its first answer.
 */
const INTERPRETED = 8;

/** Makes a schema that is looked up when it is first needed. scripts/acp-types.ts made the type `Message` from the same schema. */
function schemaOf<Message>(find: () => JsonSchema): MessageSchema<Message> {
  let found: JsonSchema | undefined;
  const schema = (): JsonSchema => {
    found ??= find();
    return found;
  };
  let check: ReturnType<typeof checkOf> | undefined;
  // The compiled check of the core: a protocol of one operation has it.
  const compiled = (): ReturnType<typeof checkOf> => {
    check ??= checkOf(schema());
    return check;
  };
  let interpreted = 0;
  const validate: StandardSchemaV1<Message>["~standard"]["validate"] = (value) => {
    if (value === undefined) return NOTHING; // Compiles nothing: a peer tries each of its methods so when it is made.
    if (interpreted < INTERPRETED) interpreted++;
    else if (compiled().parse(value).isOk()) return { value: value as Message }; // The type is made from the schema that it fits.
    const salvaged = salvage(schema(), value);
    if (salvaged !== MISFIT) return { value: salvaged as Message }; // Likewise.
    return {
      get issues() {
        const explain = compiled()
          .parse(value)
          .match(
            () => [],
            (issues) => issues(),
          );
        return explain.map(({ path, message }) => ({ path: segmentsOf(path), message }));
      },
    };
  };
  const jsonSchema = { input: schema, output: schema };
  return { "~standard": { version: 1, vendor: "acp", validate, jsonSchema } };
}

function checkOf(schema: JsonSchema) {
  const { check } = defineProtocol("acp", { check: { payload: schema } }).operations;
  if (check === undefined) throw new Error("A protocol has lost its operation."); // It has just been given.
  return check.payload;
}

/** The segments of a JSON Pointer. */
const segmentsOf = (path: string): readonly string[] =>
  path
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
