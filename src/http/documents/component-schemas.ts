import type { JsonSchema } from "../../index";

/** The dialect of `jsonSchemaOf`, which is that of OpenAPI 3.1, too. */
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Keywords whose value has schemas by name. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose value is data. */
const DATA = new Set(["const", "enum", "default", "examples", "example"]);

type Node = Readonly<Record<string, unknown>>;

/** The schemas of an OpenAPI document, by name. */
export class ComponentSchemas {
  readonly #schemas = new Map<string, unknown>();

  constructor(given: Readonly<Record<string, JsonSchema>>) {
    for (const [name, schema] of Object.entries(given)) this.#schemas.set(name, schema);
  }

  /**
   * Adds a schema, and gives the reference to it. The definitions within become schemas of their own: many programs do not find those
   * that stand beside a `$ref`.
   */
  add(name: string, schema: JsonSchema): { readonly $ref: string } {
    const $ref = this.#claim(name);
    const { $schema = DIALECT, $defs, ...rest } = schema;
    const isOwn = $schema === DIALECT && typeof schema["$id"] !== "string"; // With an id, references go by it.
    const definitions = isOwn && isNode($defs) ? Object.entries($defs) : [];
    const places = new Map(definitions.map(([key]) => [key, this.#claim(`${name}.${key}`)]));
    const move = (reference: string): string => {
      const [, key = "", below = ""] = /^#\/\$defs\/([^/]*)(.*)$/.exec(reference) ?? [];
      const place = places.get(unescaped(key));
      if (place !== undefined) return place + below;
      return /^#(?:\/|$)/.test(reference) ? $ref + reference.slice(1) : reference; // `#name` goes where its anchor goes.
    };
    this.#put($ref, moved(isOwn ? rest : schema, move));
    for (const [key, definition] of definitions) this.#put(places.get(key) ?? "", moved(definition, move));
    return { $ref };
  }

  get all(): object {
    return Object.fromEntries(this.#schemas);
  }

  /** Takes a name that nobody has, and gives the reference to it. */
  #claim(wanted: string): string {
    const safe = wanted.replaceAll(/[^A-Za-z0-9._-]/g, "_");
    let name = safe;
    for (let count = 2; this.#schemas.has(name); count++) name = `${safe}-${count}`;
    this.#schemas.set(name, true);
    return PREFIX + name;
  }

  #put(reference: string, schema: unknown): void {
    this.#schemas.set(reference.slice(PREFIX.length), schema);
  }
}

const PREFIX = "#/components/schemas/";

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

/** A key as it was before it came into a reference (RFC 6901, section 6). */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return key;
  }
}

/** A schema whose references within itself lead to where its parts are now. */
function moved(schema: unknown, move: (reference: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((each) => moved(each, move));
  if (!isNode(schema) || typeof schema["$id"] === "string") return schema;
  return mapValues(schema, (value, keyword) => {
    if (DATA.has(keyword)) return value;
    if ((keyword === "$ref" || keyword === "$dynamicRef") && typeof value === "string") return move(value);
    return BY_NAME.has(keyword) && isNode(value) ? mapValues(value, (each) => moved(each, move)) : moved(value, move);
  });
}

const mapValues = (node: Node, change: (value: unknown, key: string) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]));
