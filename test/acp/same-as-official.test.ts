import { describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { defineProtocol } from "../../src";
import { messageSchema } from "../../src/acp/schema/message-schema";
import { schemas } from "../../src/acp/schema/official";
import { salvage } from "../../src/acp/schema/salvage";
import type { Messages } from "../../src/acp/schema/types";
import { runs } from "../property/runs";

// Our schemas accept the same messages as the official SDK: messages of all kinds, some of them mutilated.

/** The schemas of the official SDK, which it does not export. */
const sdk = dirname(Bun.resolveSync("@agentclientprotocol/sdk/schema/v1/schema.json", import.meta.dir));
const official: Readonly<Record<string, { safeParse(value: unknown): { readonly success: boolean } } | undefined>> =
  await import(join(sdk, "../../dist/v1/schema/zod.gen.js"));

type Node = Readonly<Record<string, unknown>>;
const nodeOf = (value: unknown): Node => (typeof value === "object" && value !== null ? { ...value } : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const text = fc.string({ maxLength: 4 });
const odd = fc.constantFrom<unknown>(null, true, 0, -1, 1.5, "", "text", [], [null], {}, { type: "text" }, 2 ** 60);

/** Values that fit a schema, with parts of it left out at will. */
function fitting(schema: unknown): fc.Arbitrary<unknown> {
  const {
    type,
    const: literal,
    enum: values,
    anyOf,
    items,
    properties,
    required,
    additionalProperties,
    minimum,
  } = nodeOf(schema);
  if (literal !== undefined) return fc.constant(literal);
  if (Array.isArray(values)) return fc.constantFrom<unknown>(...values);
  const kinds = Array.isArray(type) ? type : [type];
  const whole = fc.oneof(
    ...kinds.map((kind): fc.Arbitrary<unknown> => {
      if (kind === "string") return text;
      if (kind === "integer") return fc.integer({ min: Number(minimum ?? -5), max: 300 });
      if (kind === "number") return fc.double({ noNaN: true, noDefaultInfinity: true });
      if (kind === "boolean") return fc.boolean();
      if (kind === "null") return fc.constant(null);
      if (kind === "array") return fc.array(fitting(items), { maxLength: 2 });
      if (kind !== "object" || (properties === undefined && additionalProperties !== undefined)) {
        return kind === "object" ? fc.dictionary(text, fitting(additionalProperties), { maxKeys: 2 }) : odd;
      }
      const known = Object.entries(nodeOf(properties)).map(([name, part]) => [name, fitting(part)] as const);
      return fc.record(Object.fromEntries(known), { requiredKeys: listOf(required).map(String) });
    }),
  );
  if (!Array.isArray(anyOf)) return whole;
  const branch = fc.oneof(...anyOf.map(fitting));
  if (type === undefined) return branch;
  return fc.tuple(whole, branch).map(([one, other]) => ({ ...nodeOf(one), ...nodeOf(other) }));
}

/** Replaces a part of a value, or leaves it out. The steps say which. */
function mutilate(value: unknown, steps: readonly number[], by: unknown): unknown {
  const [step, ...others] = steps;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const entries = Object.entries(value);
  const [name] = entries[step % Math.max(entries.length, 1)] ?? [];
  if (name === undefined) return by;
  const copy: Record<string, unknown> = { ...value };
  if (others.length === 0 && step % 5 === 0) delete copy[name];
  else copy[name] = mutilate(copy[name], others, by);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

const steps = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 5 });

/** An elicitation may be about a request with the id null, as the schema says. The SDK takes none. */
const OTHERWISE = "CreateElicitationRequest";

describe("as for the official SDK", () => {
  // The types are made from the same schema, so its names are those of the messages.
  for (const name of Object.keys(schemas) as (keyof Messages)[]) {
    test(`a ${name} fits or does not, and what is handed on fits as it is`, () => {
      const { validate } = messageSchema(name)["~standard"];
      const parse = (value: unknown): unknown => {
        const result = validate(value);
        return "value" in result ? result.value : undefined;
      };
      const { it } = defineProtocol("one", { it: { payload: schemas[name] ?? {} } }).operations;
      const fits = (value: unknown): boolean | undefined => it?.payload.parse(value).isOk();
      const arbitrary = fc
        .tuple(fitting(schemas[name]), fc.option(fc.tuple(steps, odd)))
        .map(([value, change]) => JSON.parse(JSON.stringify(change === null ? value : mutilate(value, ...change))));
      const theirs = official[`z${name}`];
      expect(theirs).toBeDefined();
      fc.assert(
        fc.property(arbitrary, (value) => {
          const handed = parse(value);
          // The first messages of a kind are interpreted, the later ones go by the compiled check: both say the same.
          expect([value, salvage(schemas[name], value) === value]).toEqual([value, fits(value)]);
          if (name !== OTHERWISE)
            expect([value, handed !== undefined]).toEqual([value, theirs?.safeParse(value).success]);
          if (handed !== undefined) expect(parse(handed)).toBe(handed);
        }),
        runs(60),
      );
    });
  }
});
