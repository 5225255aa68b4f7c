import type { Validator as TypeBoxValidator } from "typebox/schema";
import { loadCompiler } from "./compiler";
import { isEntangled, rewriteUnions, type SchemaNode, type SplitUnion, splitUnion, type Tag } from "./discriminator";
import { Explanation, type Finding, mergeExpected, nameLiteral, toFindings, toSegment } from "./issues";

/** A TypeBox schema, compiled at the first check. Its unions with a discriminator look their branch up. */
export class CompiledSchema {
  readonly #schema: SchemaNode;
  readonly #isEntangled: boolean;
  #validator: TypeBoxValidator | undefined;
  #explainer: SchemaNode | undefined;

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
    this.#explainer ??= this.#isEntangled ? this.#schema : withExplanations(this.#schema);
    return toFindings(loadCompiler().Errors(this.#explainer, value)[1]);
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
  }

  branchOf(value: unknown): CompiledSchema | undefined {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, this.#key)) return undefined;
    return this.#branches.get((value as SchemaNode)[this.#key]);
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
