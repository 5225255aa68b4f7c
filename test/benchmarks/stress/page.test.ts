import { expect, test } from "bun:test";
import { FAULTS } from "../../../benchmarks/stress/faults";
import { renderStress } from "../../../benchmarks/stress/page";
import { stressTargets } from "../../../benchmarks/targets/stress";
import { results } from "./sample";

const page = renderStress(results);

test("each breaking point is told, with its load and floor, its steps in the order of their load, and what came after", () => {
  const [, part = ""] = page.split("### Messaging only\n\n");
  expect(part).toStartWith(
    "**It bore 100,000/s, and broke at 110,000/s**: 33 % of the requests went wrong, most of them: ask mailbox-full. The load is asks of one actor through the router. 110,000/s that no actor answers came back within 4 ms (p99).",
  );
  const [, , ...rows] = part.slice(part.indexOf("| load |")).split("\n");
  expect(rows.slice(0, 3).map((line) => line.split(" | ").slice(0, 2))).toEqual([
    ["| 100,000/s", "held"],
    ["| 105,000/s", "void"],
    ["| 110,000/s", "broke"],
  ]);
  expect(rows[2]).toEndWith("| 800 µs | 2 ms | 4 ms | 1.5 ms | 33.3 % (ask mailbox-full 10,000) | 1.1 ms |");
  expect(part).toContain(
    "Past the break, 220,000 requests a second are asked for. 412 ms after the end of it, the figures were as before (requests refused: 20,000). Of 100,000 messages, 81,000 were handled, 0 failed and 19,000 became dead letters. The live heap had 8 MB before, 12 MB and 12.5 MB meanwhile, and 8.5 MB after.\n",
  );
});

test("each fault has a target for its recovery", () => {
  const recoveries = stressTargets.filter(({ figure }) => figure === "recovery").map(({ row }) => row);
  expect(recoveries).toEqual([...results.ladders, ...FAULTS].map(({ name }) => name));
});
