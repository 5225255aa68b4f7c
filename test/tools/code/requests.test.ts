import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { operationsOf } from "../../../src";
import { CodeError } from "../../../src/tools";
import type { CodeExecutionRef } from "../../../src/tools/code/protocol";
import { runs } from "../../property/runs";
import { inspectionOf, tiers, withCode } from "./tiers";

const KINDS: ReadonlySet<string> = new Set(CodeError.properties.kind.anyOf.map((each) => each.const));

const garbage = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown[]>(undefined, null, [], {}, "__proto__", { length: 9 }, 1n, Symbol("s"), () => 1, new Map()),
);
/** Code that is trusted, too. */
const code = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom("1", "input", "x", "throw input", "const a = input; a", "console.log(input)"),
  },
  { weight: 4, arbitrary: fc.constantFrom("let = 1", "", "}", "\0", "`", "return", "await 1; input.a.b", "1n", "/*") },
  { weight: 1, arbitrary: fc.stringMatching(/^[0-9()[\]{};+ ]{0,20}$/) },
);
const fields: Record<string, fc.Arbitrary<unknown>> = {
  code,
  language: fc.constantFrom("javascript", "typescript"),
  input: fc.oneof(fc.jsonValue(), garbage),
  timeout: fc.constantFrom(200, 2 ** 31, 2 ** 53 - 1),
  memory: fc.constantFrom(1, 16 * 1024 * 1024, 2 ** 53 - 1),
  isolation: fc.constantFrom("sandbox", "process", "trusted"),
  program: fc.oneof(fc.string(), fc.constantFrom("__proto__", "toString")),
  session: fc.oneof(fc.string(), fc.constantFrom("__proto__", "")),
};
/** Each is now and then something else. */
const mixed = Object.fromEntries(
  Object.entries(fields).map(([name, arbitrary]) => [
    name,
    fc.oneof({ weight: 60, arbitrary }, { weight: 1, arbitrary: garbage }),
  ]),
);
const OPERATIONS: Record<string, { readonly always: string[]; readonly maybe: string[] }> = {
  execute: { always: ["code"], maybe: ["language", "input", "timeout", "memory", "isolation"] },
  executeStream: { always: ["code"], maybe: ["language", "input", "timeout", "isolation", "session"] },
  check: { always: ["code"], maybe: ["language"] },
  compile: { always: ["code"], maybe: ["language"] },
  run: { always: ["program"], maybe: ["input", "timeout", "memory", "isolation", "session"] },
  endSession: { always: ["session"], maybe: [] },
};
const request = fc.constantFrom(...Object.keys(OPERATIONS)).chain((operation) => {
  const { always = [], maybe = [] } = OPERATIONS[operation] ?? {};
  const parts = Object.fromEntries([...always, ...maybe].map((name) => [name, mixed[name] ?? garbage]));
  const own = fc.record(parts, { requiredKeys: always });
  return fc.record({
    operation: fc.constant(operation),
    payload: fc.oneof({ weight: 12, arbitrary: own }, { weight: 1, arbitrary: garbage }),
  });
});

/** The outcome of an ask or a stream. Fails unless the replies fit the protocol. */
async function told(ref: CodeExecutionRef, name: string, payload: unknown): Promise<string> {
  const operation = operationsOf(ref)?.[name];
  if (operation?.isStream === true) {
    try {
      let last: unknown;
      for await (const item of ref.stream(name as "executeStream", payload as { code: string })) {
        expect(operation.item.parse(item).isOk()).toBe(true);
        last = item;
      }
      expect(last).toMatchObject({ kind: "end" });
      return "told";
    } catch (thrown) {
      expect(thrown).toMatchObject({ kind: "invalid-payload" });
      return "invalid";
    }
  }
  // As those ask who do not heed the types.
  const answer = await ref.ask(name as "execute", payload as { code: string });
  if (answer.isErr()) {
    expect(answer.error.kind).toBe("invalid-payload");
    return "invalid";
  }
  expect([answer.value, operation?.reply.parse(answer.value).isOk()]).toEqual([answer.value, true]);
  if (!answer.value.ok) expect(KINDS).toContain(answer.value.error.kind);
  return "told";
}

describe.each(tiers)("requests of any shape, to $isolation", ({ isolation }) => {
  test("each is told what the protocol says, or that it is no request, and nothing is left open", async () => {
    const seen: Record<string, number> = {};
    await withCode({ isolation, timeout: 500, maxOutput: 10_000 }, async (_, ref) => {
      await fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 10 }), async (batch) => {
          const all = await Promise.all(batch.map(({ operation, payload }) => told(ref, operation, payload)));
          for (const each of all) seen[each] = (seen[each] ?? 0) + 1;
        }),
        runs(60),
      );
      const { tiers: open, held } = await inspectionOf(ref);
      expect([held, ...open.flatMap(({ running, waiting }) => [running, waiting])].every((n) => n === 0)).toBe(true);
    });
    // Both were met.
    expect(seen["told"]).toBeGreaterThan(50);
    expect(seen["invalid"]).toBeGreaterThan(10);
  }, 120_000);
});
