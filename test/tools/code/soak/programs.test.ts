import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../property/runs";
import { isOffered } from "../process/kit";
import { type Outcome, tiers, withCode } from "../tiers";
import { program } from "./grammar";

const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<unknown>; // By the language.
const PROGRAMS = 8;
/** Milliseconds for all of them, on a machine that has much else to do. */
const MOST = 200_000;

/** The outcome of a program: its value as JSON, or the name of its error. */
type Told = string;

const thrown = (name: unknown): Told => `threw ${String(name)}`;
const faulty = "no JSON";

async function here(body: string): Promise<Told> {
  let value: unknown;
  try {
    value = await new AsyncFunction(body)();
  } catch (error) {
    return thrown(error instanceof Error ? error.name : undefined);
  }
  try {
    return JSON.stringify(value);
  } catch {
    return faulty;
  }
}

function told(outcome: Outcome): Told {
  if (outcome.ok) return JSON.stringify(outcome.value.value);
  const { kind, name, message } = outcome.error;
  if (kind === "unserializable-value") return faulty;
  return kind === "runtime-error" ? thrown(name) : `${kind}: ${message}`;
}

const offered = tiers.filter(({ isolation }) => isolation !== "process" || isOffered);

test("Programs mean the same in each tier as in Bun itself", async () => {
  const seen = { values: 0, thrown: 0 };
  await withCode({ isolation: "trusted", concurrency: 2 }, async (execute) => {
    const property = fc.asyncProperty(fc.array(program, { minLength: 1, maxLength: PROGRAMS }), async (bodies) => {
      const expected = await Promise.all(bodies.map(here));
      for (const each of expected) seen[each.startsWith("threw") ? "thrown" : "values"]++;
      for (const { isolation } of offered) {
        if (isolation !== "process") {
          const all = await Promise.all(bodies.map((code) => execute(code, { isolation })));
          expect([isolation, all.map(told)]).toEqual([isolation, expected]);
          continue;
        }
        // Each of its runs takes a process: they go together.
        const each = bodies.map((body) => `async () => {${body}\n}`);
        const code = `const told = [];
          for (const body of [${each.join(",\n")}]) {
            let value;
            try { value = await body() } catch (e) { told.push("threw " + String(e instanceof Error ? e.name : undefined)); continue }
            try { told.push(JSON.stringify(value)) } catch { told.push(${JSON.stringify(faulty)}) }
          }
          return told`;
        const outcome = await execute(code, { isolation });
        expect([isolation, outcome.ok ? outcome.value.value : told(outcome)]).toEqual([isolation, expected]);
      }
    });
    await fc.assert(property, { ...runs(10), interruptAfterTimeLimit: MOST });
  });
  // Both were met; how often is by chance: some ten times among the programs of ten runs, and once only five.
  expect(Math.min(seen.values, seen.thrown)).toBeGreaterThan(0);
}, 280_000);
