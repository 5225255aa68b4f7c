import { err, ok, type Result } from "neverthrow";
import type { Issue } from "../message/delivery-error";
import { sentenceOf } from "../message/sentence-of";
import { withhold } from "../message/withhold";
import { CompiledSchema } from "./compiled-schema";
import type { SchemaNode } from "./discriminator";
import { clip, fromStandardIssues, toIssues } from "./issues";
import { isStandardSchema, type Schema, type StandardIssue, type StandardSchemaV1 } from "./schema";

/** The result of `parse`: the value to use, or a function that finds the issues at its first call. */
export type Parsed = Result<unknown, () => readonly Issue[]>;

/**
 * Checks values against one schema, compiled at the first `parse`. Without a schema only `undefined` and `null` pass.
 *
 * ```ts
 * const validator = new Validator(Type.Object({ n: Type.Number() }));
 * validator.parse({ n: 1 });                                  // Ok, of the same object
 * validator.parse({ n: "1" }).mapErr((issues) => issues());   // Err([{ path: "/n", message: "must be a number" }])
 * ```
 */
export class Validator {
  /** Undefined when only `undefined` and `null` pass. */
  readonly schema: Schema | undefined;
  #parser: ((value: unknown) => Parsed) | undefined;

  constructor(schema?: Schema) {
    this.schema = schema;
  }

  /** True once a value was parsed, and so the schema compiled. */
  get isCompiled(): boolean {
    return this.#parser !== undefined;
  }

  /**
   * Gives the value to use, which a Standard Schema may have transformed, or at most eight issues. Never throws: a
   * schema that throws, or cannot be compiled, refuses the value.
   */
  parse(value: unknown): Parsed {
    try {
      this.#parser ??= makeParser(this.schema);
      return this.#parser(value);
    } catch (thrown) {
      return err(once(() => refusal(thrown)));
    }
  }
}

function makeParser(schema: Schema | undefined): (value: unknown) => Parsed {
  if (schema === undefined) return parseNothing;
  if (isStandardSchema(schema)) return (value) => parseStandard(schema, value);
  // defineProtocol checked it: anything but a Standard Schema is a JSON Schema.
  const compiled = new CompiledSchema(schema as SchemaNode);
  return (value) => (compiled.check(value) ? ok(value) : err(explainer(compiled, value)));
}

const TAKES_NOTHING: readonly Issue[] = [{ path: "", message: "must be left out: the operation takes no payload" }];

// JSON and other transports turn a missing payload into null.
const parseNothing = (value: unknown): Parsed =>
  value === undefined || value === null ? ok(undefined) : err(() => TAKES_NOTHING);

const ASYNCHRONOUS: readonly Issue[] = [
  withhold({
    path: "",
    message: "cannot be checked: the schema validates asynchronously, and envoi needs a synchronous one",
  }),
];

function parseStandard(schema: StandardSchemaV1, value: unknown): Parsed {
  const result = schema["~standard"].validate(value);
  if ("then" in result) {
    Promise.resolve(result).catch(() => {}); // Its outcome is ignored, and a rejection must not be reported.
    return err(() => ASYNCHRONOUS);
  }
  // A failure may find its issues when they are read: what is refused and not explained is cheap then.
  if (!("value" in result)) return err(once(() => tellStandard(result)));
  return result.issues ? err(once(() => tellStandard(result))) : ok(result.value);
}

function tellStandard({ issues = [] }: { readonly issues?: readonly StandardIssue[] | undefined }): readonly Issue[] {
  try {
    return fromStandardIssues(issues);
  } catch (thrown) {
    return refusal(thrown);
  }
}

/** Explains once. A function of its own: `once` would make a second one for each value that is refused. */
function explainer(compiled: CompiledSchema, value: unknown): () => readonly Issue[] {
  let found: readonly Issue[] | undefined;
  return () => {
    found ??= explain(compiled, value);
    return found;
  };
}

function explain(compiled: CompiledSchema, value: unknown): readonly Issue[] {
  try {
    const issues = toIssues(compiled.explain(value));
    return issues.length > 0 ? issues : [{ path: "", message: "does not fit its schema" }];
  } catch (thrown) {
    return refusal(thrown);
  }
}

const refusal = (thrown: unknown): readonly Issue[] => [
  withhold({ path: "", message: clip(`cannot be checked: ${sentenceOf(thrown)}`) }),
];

function once<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}
