import { latencyFigures, sustainedFigures } from "../harness/latency";
import { disk } from "../harness/places";
import { apart, type Declared, figures, needing, probe, suiteOf, withRatio } from "../harness/rows";
import { stress as published } from "../published-figures.json";
import { whyNot } from "../subjects/code";

const MODULE = new URL("../subjects/latency.ts", import.meta.url).href;
const PUBLISHED = "the published limit, held by each operation by itself";
const AT_ONCE = "a hundred operations at once, as published";

/** One operation after the other, so many of them, beside as many that do nothing; its limit is of the p95, in its unit. */
function each(
  name: string,
  subject: string,
  unit: "ns" | "µs",
  full: number,
  [limit, aim]: readonly [limit: number, aim: number],
  reason = PUBLISHED,
): Declared {
  const sizes = { smoke: 50, full };
  const nothing = apart(MODULE, unit === "ns" ? "clock" : "clockInMicroseconds", sizes);
  const floor = { name: "the clock", measure: nothing };
  return probe(name, latencyFigures(unit), floor, apart(MODULE, subject, sizes), [
    ["p95", "atMost", limit, aim, reason],
  ]);
}

const sustained = (name: string, subject: string, rate: number, slowest: number, aim: number): Declared =>
  probe(
    `sustained for 2 s: ${name}`,
    sustainedFigures,
    { name: "raw", measure: apart(MODULE, "raw", { smoke: 5, full: 500 }) },
    apart(MODULE, subject, { smoke: 20, full: 2_000 }),
    [
      ["rate", "atLeast", rate, aim, "half of what was reached; 10,000 a second are published"],
      ["slowest tenth of a second", "atLeast", slowest, aim, "no pause of the collector halves it"],
    ],
  );

const mixed = (tier: "sandbox" | "trusted"): Declared =>
  probe(
    `${published.row}, ${tier}`,
    [
      ...withRatio("/s", "rate"),
      ...figures("MB", "heap growth"),
      ...figures("ms", ...Object.keys(published.p95ms).map((kind) => `${kind} p95`)),
    ],
    { name: "by hand", measure: apart(MODULE, `${tier}MixedByHand`, { smoke: 50, full: published.messages }) },
    apart(MODULE, `${tier}Mixed`, { smoke: 50, full: published.messages }),
  );

export const suite = suiteOf(
  "latency",
  [
    "Single operations, each timed by itself and one after the other, none of them left out: what *the clock* takes is in each time.",
    "Percentiles are of 100,000 messages or asks, and 10,000 of what takes longer: requests of files,",
    "batches of 100 asks, executions in the sandbox; in a process of their own each round. What the slowest ones wait for is mostly",
    `the collector, the turn that an actor gives to timers and I/O, and the machine; on the disk (${disk.kind} here), the disk.`,
    `*${published.row}* is no single operation: batches of ${published.batch} messages, a third of each kind, each batch asked at once`,
    "and awaited; a stream is of ten items, a file of 100 B, written and read in turn. *By hand* are a generator, the bare calls of",
    "`node:fs` and the tier of code by itself, in the same batches.",
  ].join("\n"),
  [
    each("createMessage", "messages", "ns", 100_000, [240, 80]),
    each("router.ask(createMessage(…)), a round trip", "routerAsks", "ns", 100_000, [1_250, 300]),
    each("ref.ask, a round trip", "refAsks", "ns", 100_000, [530, 200]),
    each("100 asks at once, until all have replied", "hundredAsks", "µs", 10_000, [60, 20], AT_ONCE),
    each("read of 100 B", "reads", "µs", 10_000, [11, 3]),
    each(
      "write of 100 B",
      "writes",
      "µs",
      10_000,
      [420, 100],
      `${PUBLISHED}; on a slow disk, it is the disk that misses it`,
    ),
    ...needing(await whyNot("sandbox"), [
      each("execution, sandbox", "sandboxExecutions", "µs", 10_000, [270, 80]),
      mixed("sandbox"),
    ]),
    ...needing(await whyNot("trusted"), [mixed("trusted")]),
    sustained("router.tell(createMessage(…))", "byRouter", 6_000_000, 4_000_000, 12_000_000),
  ],
);
