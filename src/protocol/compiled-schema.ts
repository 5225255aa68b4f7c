import type { Validator as TypeBoxValidator } from "typebox/schema";
import { loadCompiler } from "./compiler";
import {
  copyWith,
  isEntangled,
  isNode,
  nodeIn,
  rewriteUnions,
  type SchemaNode,
  type SplitUnion,
  splitUnion,
  type Tag,
} from "./discriminator";
import { Explanation, type Finding, MAX_ISSUES, mergeExpected, nameLiteral, toFindings, toSegment } from "./issues";

/** A TypeBox schema, compiled at the first check. Its unions with a discriminator look their branch up. */
export class CompiledSchema {
  readonly #schema: SchemaNode;
  readonly #isEntangled: boolean;
  #validator: TypeBoxValidator | undefined;
  #explainer: SchemaNode | undefined;
  #parts: Parts | undefined;

  constructor(schema: SchemaNode) {
    this.#schema = schema;
    this.#isEntangled = isEntangled(schema);
  }

  check(value: unknown): boolean {
    this.#validator ??= loadCompiler().Compile(
      this.#isEntangled ? this.#schema : withDispatch(this.#schema),
    ) as TypeBoxValidator;
    return this.#validator.Check(value);
  }

  /** Finds what is wrong with a value that `check` refused. */
  explain(value: unknown): readonly Finding[] {
    if (this.#isEntangled || !isLarge(value)) return this.explainAll(value);
    this.#parts ??= new Parts(this.#schema);
    return this.#parts.explain(value) ?? this.explainAll(value);
  }

  /** The same, by a walk through the whole value. */
  explainAll(value: unknown): readonly Finding[] {
    this.#explainer ??= this.#isEntangled ? this.#schema : withExplanations(this.#schema);
    return toFindings(loadCompiler().Errors(this.#explainer, value)[1]);
  }
}

/** The length from which an array is looked through by the compiled check. */
const LARGE = 64;

/** True for a value that has a long array in it, near its top: a value from within may be a circle. */
const isLarge = (value: unknown, depth = 4): boolean =>
  typeof value === "object" &&
  value !== null &&
  ((Array.isArray(value) && value.length > LARGE) ||
    (depth > 0 && Object.values(value).some((part) => isLarge(part, depth - 1))));

/**
 * Explains a large value part by part: TypeBox's errors walk through the whole of it, which took 200 ms for 500 KB whose last item was wrong.
 * The compiled check of the parts finds those to walk through.
 */
class Parts {
  readonly #items: CompiledSchema | undefined;
  readonly #properties: ReadonlyMap<string, CompiledSchema>;
  /** The schema without its parts. */
  readonly #rest: CompiledSchema;

  constructor(schema: SchemaNode) {
    const { type, items, properties } = schema;
    this.#items = type === "array" && isNode(items) ? new CompiledSchema(items) : undefined;
    const structured = Object.entries(type === "object" && isNode(properties) ? properties : {}).flatMap(
      ([name, property]) =>
        isNode(property) && (property.type === "array" || property.type === "object")
          ? [[name, new CompiledSchema(property)] as const]
          : [],
    );
    this.#properties = new Map(structured);
    const changes = {
      ...(this.#items !== undefined && { items: {} }),
      ...(structured.length > 0 && {
        properties: { ...nodeIn(properties), ...Object.fromEntries(structured.map(([name]) => [name, {}])) },
      }),
    };
    this.#rest = new CompiledSchema(copyWith(schema, changes));
  }

  /** Undefined for a value that has no such parts. */
  explain(value: unknown): readonly Finding[] | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    const findings: Finding[] = [];
    const look = (part: unknown, schema: CompiledSchema, name: PropertyKey): void => {
      if (schema.check(part)) return;
      const path = toSegment(name);
      for (const finding of schema.explain(part)) findings.push({ ...finding, path: path + finding.path });
    };
    if (Array.isArray(value)) {
      if (this.#items === undefined) return undefined;
      for (const [index, item] of value.entries()) {
        if (findings.length >= MAX_ISSUES) break;
        look(item, this.#items, index);
      }
    } else {
      if (this.#properties.size === 0) return undefined;
      for (const [name, schema] of this.#properties) {
        if (Object.hasOwn(value, name)) look((value as SchemaNode)[name], schema, name);
      }
    }
    return [...(this.#rest.check(value) ? [] : this.#rest.explainAll(value)), ...findings];
  }
}

const withDispatch = (schema: SchemaNode): SchemaNode =>
  rewriteUnions(schema, (branches, keyword) => {
    const flat = keyword === "anyOf" ? flatten(branches) : branches;
    const split = splitUnion(flat);
    return split === undefined ? branches : [{ "~refine": [new TaggedBranches(split)] }, ...split.rest];
  }) as SchemaNode; // The copy of a node is a node.

const withExplanations = (schema: SchemaNode): SchemaNode =>
  rewriteUnions(schema, (branches, keyword) => [{ "~refine": [new Alternatives(branches, keyword)] }]) as SchemaNode;

/** Makes the branches of nested unions branches of the outer one. */
const flatten = (branches: readonly unknown[]): readonly unknown[] =>
  branches.flatMap((branch) => {
    const isPlain = typeof branch === "object" && branch !== null && Object.keys(branch).join() === "anyOf";
    if (!isPlain || "~refine" in branch) return [branch];
    return flatten((branch as { anyOf: readonly unknown[] }).anyOf);
  });

/** A TypeBox refinement that holds when the branch named by the tag holds. */
class TaggedBranches {
  readonly #key: string;
  readonly #branches: ReadonlyMap<unknown, CompiledSchema>;
  /** Those of texts. To find a text that was just parsed among properties takes 6 ns, and in a Map 22. */
  readonly #byText: { readonly [tag: string]: CompiledSchema | undefined };

  constructor({ key, tagged }: SplitUnion) {
    const compiled = new Map<SchemaNode, CompiledSchema>();
    const branches = new Map<Tag, CompiledSchema>();
    for (const [tag, schema] of tagged) {
      const branch = compiled.get(schema) ?? new CompiledSchema(schema);
      compiled.set(schema, branch);
      branches.set(tag, branch);
    }
    this.#key = key;
    this.#branches = branches;
    const texts = [...branches].filter((branch): branch is [string, CompiledSchema] => typeof branch[0] === "string");
    this.#byText = Object.assign(Object.create(null), Object.fromEntries(texts));
  }

  branchOf(value: unknown): CompiledSchema | undefined {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, this.#key)) return undefined;
    const tag = (value as SchemaNode)[this.#key];
    return typeof tag === "string" ? this.#byText[tag] : this.#branches.get(tag);
  }

  check(value: unknown): boolean {
    return this.branchOf(value)?.check(value) ?? false;
  }

  error(): string {
    return "must fit one of the alternatives"; // Never shown: explanations come from Alternatives.
  }

  explain(value: unknown): readonly Finding[] {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return [{ path: "", expected: ["an object"] }];
    const branch = this.branchOf(value);
    if (branch !== undefined) return branch.explain(value);
    return [{ path: toSegment(this.#key), expected: [...this.#branches.keys()].map(nameLiteral) }];
  }
}

/** A TypeBox refinement that replaces a whole union and explains what the nearest branch finds wrong. */
class Alternatives {
  readonly #union: CompiledSchema;
  readonly #tagged: TaggedBranches | undefined;
  readonly #rest: readonly CompiledSchema[];
  readonly #isExclusive: boolean;

  constructor(branches: readonly unknown[], keyword: "anyOf" | "oneOf") {
    const flat = keyword === "anyOf" ? flatten(branches) : branches;
    const split = splitUnion(flat);
    this.#union = new CompiledSchema({ [keyword]: branches });
    this.#tagged = split && new TaggedBranches(split);
    // allOf turns `true` and `false` into schemas too.
    this.#rest = (split?.rest ?? flat).map((branch) => new CompiledSchema({ allOf: [branch] }));
    this.#isExclusive = keyword === "oneOf";
  }

  check(value: unknown): boolean {
    return this.#union.check(value);
  }

  error(value: unknown): string {
    // TypeBox declares a text, but passes the message on unchanged, whatever it is; toFindings takes it out again.
    return new Explanation(this.#explain(value)) as unknown as string;
  }

  #explain(value: unknown): readonly Finding[] {
    const chosen = this.#tagged?.branchOf(value);
    const others = this.#rest.map((branch) => branch.explain(value));
    if (this.#isExclusive && others.some((findings) => findings.length === 0)) {
      return [{ path: "", message: "must fit only one of the alternatives" }];
    }
    if (chosen !== undefined) return chosen.explain(value);
    const all = this.#tagged === undefined ? others : [this.#tagged.explain(value), ...others];
    const near = all.filter((findings) => !findings.some(isWrongKind));
    const nearest = near.toSorted((a, b) => a.length - b.length)[0];
    if (nearest === undefined) return mergeExpected(all.flatMap((findings) => findings.filter(isWrongKind)));
    if (near.length === 1) return nearest;
    return [{ path: "", message: `must fit one of ${all.length} alternatives; the nearest finds this:` }, ...nearest];
  }
}

const isWrongKind = (finding: Finding): boolean => finding.path === "" && finding.expected !== undefined;
