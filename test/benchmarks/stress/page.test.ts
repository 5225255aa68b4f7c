import { expect, test } from "bun:test";
import { FAULTS } from "../../../benchmarks/stress/faults";
import { renderStress } from "../../../benchmarks/stress/page";
import { figuresOf, parseStress, serialiseStress } from "../../../benchmarks/stress/results";
import { stressTargets } from "../../../benchmarks/targets/stress";
import { results, window } from "./sample";

const page = renderStress(results);

test("each breaking point is told, with its load and floor, and its steps in the order of their load", () => {
  const [, part = ""] = page.split("### Messaging only\n\n");
  expect(part).toStartWith(
    "**It bore 100,000/s, and broke at 110,000/s**: 33 % of the requests went wrong, most of them: ask mailbox-full. The load is asks of one actor through the router. 110,000/s that no actor answers came back within 4 ms (p99).",
  );
  const [head, , ...rows] = part.slice(part.indexOf("| load |")).split("\n");
  expect(head).toContain("| p99 | p99.9 | went wrong | late by (p99) | generator | process | RSS |");
  expect(rows.slice(0, 3).map((line) => line.split(" | ").slice(0, 2))).toEqual([
    ["| 100,000/s", "held"],
    ["| 105,000/s", "void"],
    ["| 110,000/s", "broke"],
  ]);
  expect(rows[2]).toContain("| 33.3 % (ask mailbox-full 10,000) | 1.1 ms | 20 % | 90 % | 100 MB |");
  expect(page).toContain(
    "at 165,000/s, 40,000 of 60,000 requests were answered in time; 412 ms after the load fell, the figures were as before.",
  );
});

test("each fault is told, with what happened, its bystander and the account of its messages", () => {
  const part = page.slice(page.indexOf("### Processes killed"));
  expect(part).toContain(
    "412 ms after the end of it, the figures were as before (processes killed: 10; runs lost: 3). An actor that has nothing to do with it answered 95 in 100 asks within 1.5 ms meanwhile, and within 1.5 ms before. Of 100,000 messages in all, 81,000 were handled, 0 failed and 19,000 became dead letters.",
  );
  expect(part).toContain("| 1,000/s | meanwhile |");
});

test("what did not hold stands out, and percentiles that so few requests cannot tell are left out", () => {
  const few = window(200, { p99: null, p999: null });
  const faults = results.faults.map((fault) => ({ ...fault, after: few, failed: ["3 × ask timeout."] }));
  const ladders = results.ladders.map((each) => ({ ...each, overload: { ...each.overload, failed: ["It leaks."] } }));
  const text = renderStress({ ...results, faults, ladders });
  for (const sentence of ["**3 × ask timeout.**", "**It leaks.**"]) expect(text).toContain(sentence);
  expect(text).toContain("| 200/s | after | 800 µs | 2 ms | – | – | 0 % |");
});

test("what is written can be read and is the same; other results say where they do not fit, and to run it again", () => {
  expect(parseStress(serialiseStress(results))).toEqual(results);
  expect(() => parseStress(JSON.stringify({ ...results, seconds: "many" }), "stress.json")).toThrow(
    /stress\.json does not fit: \/seconds .*run `bun run stress` again/,
  );
});

test("each target is of a figure that a full run has, and each fault has one", () => {
  const had = figuresOf(results).map(({ row, figure }) => `${row}: ${figure}`);
  const targets = stressTargets.map(({ row, figure }) => `${row}: ${figure}`);
  expect(had).toContainValues(targets);
  expect(targets).toContainValues(FAULTS.map(({ name }) => `${name}: recovery`));
});
