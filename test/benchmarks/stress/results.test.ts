import { expect, test } from "bun:test";
import { FAULTS } from "../../../benchmarks/stress/faults/faults";
import { figuresOf, parseStress, serialiseStress } from "../../../benchmarks/stress/results";
import { stressTargets } from "../../../benchmarks/targets";
import { results } from "./sample";

test("what is written can be read, and is the same", () => {
  expect(parseStress(serialiseStress(results))).toEqual(results);
});

test("figures are written with five digits, and counts whole", () => {
  const { scenarios } = parseStress(
    serialiseStress({
      ...results,
      seconds: 12.3456789,
      scenarios: [{ ...results.scenarios[0], messages: 1_234_567 } as never],
    }),
  );
  expect(serialiseStress({ ...results, seconds: 12.3456789 })).toContain('"seconds":12.346,');
  expect(scenarios[0]?.messages).toBe(1_234_567);
});

test("results that do not fit say where, and to run it again", () => {
  const text = JSON.stringify({ ...results, capacity: { ...results.capacity, held: "fast" } });
  expect(() => parseStress(text, "stress.json")).toThrow(
    /stress\.json does not fit: \/capacity\/held .*run `bun run stress` again/,
  );
});

test("each target is of a row and a figure that a full run has", () => {
  const [fault] = results.faults;
  if (fault === undefined) throw new Error("there is one");
  const faults = FAULTS.map(({ name }) => ({ ...fault, name }));
  const had = figuresOf({ ...results, faults }).map(({ row, figure }) => `${row}: ${figure}`);
  for (const { row, figure } of stressTargets) expect(had).toContain(`${row}: ${figure}`);
  expect(new Set(had).size).toBe(had.length);
});
