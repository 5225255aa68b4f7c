import { expect, test } from "bun:test";
import { renderStress } from "../../../benchmarks/stress/page";
import { overload, results, window } from "./sample";

const page = renderStress(results);
const rowOf = (begins: string): string => page.split("\n").find((line) => line.startsWith(`| ${begins}`)) ?? "";

test("the published figures stand below the scenario's own, in the same columns", () => {
  expect(rowOf("scenario")).toBe(
    "| scenario | messages a second | heap growth | streaming p95 | files p95 | code p95 |",
  );
  expect(rowOf("1,000 messages, code in the default tier")).toContain(
    "| 12.3 k/s | 0.21 MB | 1.5 ms | 700 µs | 3.2 ms |",
  );
  expect(rowOf("100,000 messages")).toContain("12.3 k/s");
  expect(rowOf("published: 1,000 messages")).toContain("| 41.7 k/s | 0 MB | 2 ms | 1 ms | 1 ms |");
});

test("each breaking point is told, with what broke and the load", () => {
  expect(page).toContain(
    "### Messaging only\n\n**It bore 100,000/s, and broke at 110,000/s**: 33 % of the requests went wrong, most of them: mailbox-full.",
  );
  expect(page).toContain("### All together");
});

test("steps stand in the order of their load, each with what went wrong and whether the generator kept up", () => {
  const [head, , ...rows] = page.slice(page.indexOf("| load |")).split("\n");
  expect(head).toContain(
    "| load |  | p50 | p95 | p99 | p99.9 | went wrong | late by (p99) | generator | process | RSS |",
  );
  expect(rows.slice(0, 3).map((line) => line.split(" | ").slice(0, 2))).toEqual([
    ["| 100,000/s", "held"],
    ["| 105,000/s", "void"],
    ["| 110,000/s", "broke"],
  ]);
  expect(rows[2]).toContain("| 33.3 % (mailbox-full 10,000) | 1.1 ms | 20 % | 90 % | 100 MB |");
});

test("what came after the break is told, and what did not hold stands out", () => {
  expect(page).toContain(
    "at 165,000/s, bounded mailboxes refused 19,000 of 60,000 requests; 412 ms after the load fell, the figures were as before.",
  );
  expect(page).not.toContain("**The audit does not balance.**");
  const ladders = results.ladders.map((ladder) => ({
    ...ladder,
    overload: { ...overload, failed: ["The audit does not balance."] },
  }));
  expect(renderStress({ ...results, ladders })).toContain("**The audit does not balance.**");
});

test("percentiles that so few requests cannot tell are left out", () => {
  const few = { count: 500, p50: 1, p95: 2, p99: null, p999: null, max: 3 };
  const [ladder] = results.ladders;
  if (ladder === undefined) throw new Error("there is one");
  const steps = [{ window: window(200, { due: 500, ok: 500, latency: few }), verdict: "held" as const, why: "" }];
  expect(renderStress({ ...results, ladders: [{ ...ladder, steps }] })).toContain(
    "| 200/s | held | 1 ms | 2 ms | – | – | 0 % |",
  );
});

test("faults have a part of their own, and none where there are none", () => {
  const part = page.slice(page.indexOf("### Processes killed"));
  expect(part).toContain(
    "which its asker is told. 230 ms after the end of it, the figures were as before (processes killed: 10; runs lost: 3).",
  );
  expect(part).toContain("answered 95 in 100 asks within 2 ms meanwhile, and within 2 ms before");
  expect(part).toContain("Of 100,000 messages, 81,000 were handled, 0 failed and 19,000 became dead letters.");
  expect(part).toContain("| 1,000/s | meanwhile |");
  expect(renderStress({ ...results, faults: [] })).not.toContain("Faults under load");
});

test("what did not hold of a fault stands out", () => {
  const faults = results.faults.map((fault) => ({ ...fault, failed: ["3 × ask came back as timeout."] }));
  expect(renderStress({ ...results, faults })).toContain("**3 × ask came back as timeout.**");
});
