import { Type } from "envoi";
import { jsonText } from "../harness/format";
import { machineSchema } from "../harness/machine";
import { type Described, parseJson } from "../harness/schema";

// What `bun run stress` writes to benchmarks/results/stress.json. Milliseconds, bytes and requests a second throughout.

const Count = Type.Integer({ minimum: 0 });
const Share = Type.Number({ description: "A share of one: of the requests, or of one processor." });

/** How long requests took, in milliseconds. */
export const Latency = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  p50: Type.Number(),
  p95: Type.Number(),
  /** Null with fewer than a thousand requests. */
  p99: Type.Union([Type.Number(), Type.Null()]),
  /** Null with fewer than ten thousand requests. */
  p999: Type.Union([Type.Number(), Type.Null()]),
  max: Type.Number(),
});
export type Latency = Described<typeof Latency>;

/** What became of requests; each of them is in it once. */
export const Outcomes = Type.Object({
  due: Count,
  ok: Count,
  errors: Type.Record(Type.String(), Count, {
    description: "The kind of the error; `wrong` for another value, `unanswered` for no answer in time.",
  }),
  latency: Latency,
});
export type Outcomes = Described<typeof Outcomes>;

const windowResult = Type.Object({
  rate: Type.Number({ description: "Requests a second that were due." }),
  milliseconds: Type.Number(),
  all: Outcomes,
  operations: Type.Record(Type.String(), Outcomes),
  generator: Type.Object({
    lag: Type.Number({ description: "99 in 100 requests were sent so soon after they were due." }),
    processor: Share,
  }),
  subject: Type.Object({ processor: Share, rss: Type.Number() }),
});
type OfWindow = typeof windowResult;
/** Named, so that the declarations of all that holds windows do not repeat it: 20 kB of the package. */
export interface WindowSchema extends OfWindow {}
/** What a window of load was. */
export const WindowResult: WindowSchema = windowResult;
export type WindowResult = Described<typeof WindowResult>;

const Verdict = Type.Union([Type.Literal("held"), Type.Literal("broke"), Type.Literal("void")]);

/** A step of a ladder, in the order in which it was taken. */
export const Step = Type.Object({
  window: WindowResult,
  verdict: Verdict,
  why: Type.String({ description: "Empty for a load that held; else the end of a sentence." }),
});
export type Step = Described<typeof Step>;

/** Where the messages of a system are; see `router.audit()`. */
export const Audit = Type.Object({
  accepted: Count,
  handled: Count,
  failed: Count,
  dead: Count,
  queued: Count,
  running: Count,
});
export type Audit = Described<typeof Audit>;

/** More load than can be borne, and the time after. */
export const Overload = Type.Object({
  calm: Type.Number({ description: "The load before and after." }),
  over: Type.Number({ description: "The load in between." }),
  before: WindowResult,
  during: Type.Array(WindowResult),
  after: WindowResult,
  recovery: Type.Number({
    description: "From the fall of the load to the end of the first stretch that was as before.",
  }),
  heap: Type.Object({ before: Type.Number(), during: Type.Array(Type.Number()), after: Type.Number() }),
  audit: Audit,
  failed: Type.Array(Type.String(), { description: "What should have held and did not; a sentence each." }),
});
export type Overload = Described<typeof Overload>;

/** A load that was raised until it broke something. */
export const Ladder = Type.Object({
  name: Type.String(),
  about: Type.String(),
  mix: Type.Record(Type.String(), Type.Number()),
  steps: Type.Array(Step),
  held: Type.Number({ description: "The highest load that held." }),
  broke: Type.Number({ description: "The lowest load that broke." }),
  why: Type.String({ description: "What broke there, as a sentence without its full stop." }),
  overload: Overload,
});
export type Ladder = Described<typeof Ladder>;

/** What sockets and lines bear without any actor, and what ended it. */
export const Capacity = Type.Object({ steps: Type.Array(Step), held: Type.Number(), why: Type.String() });
export type Capacity = Described<typeof Capacity>;

/** Messages in batches, each batch awaited before the next, in one process. */
export const Scenario = Type.Object({
  messages: Count,
  batch: Count,
  isolation: Type.Union([Type.Literal("sandbox"), Type.Literal("trusted")]),
  throughput: Type.Number({ description: "Messages a second over the wall time." }),
  heapGrowth: Type.Number({ description: "Bytes, each end after a forced collection." }),
  kinds: Type.Record(Type.String(), Latency),
});
export type Scenario = Described<typeof Scenario>;

/** Something that goes wrong under load, and what comes of it. */
export const Fault = Type.Object({
  name: Type.String(),
  about: Type.String(),
  before: WindowResult,
  during: WindowResult,
  after: WindowResult,
  recovery: Type.Number({
    description: "From the end of the fault to the end of the first stretch that was as before.",
  }),
  happened: Type.Record(Type.String(), Count, { description: "How often what happened, from begin to end." }),
  audit: Audit,
  failed: Type.Array(Type.String(), { description: "What should have held and did not; a sentence each." }),
});
export type Fault = Described<typeof Fault>;

/** One run of `bun run stress`. */
export const StressResults = Type.Object({
  machine: machineSchema,
  /** How long the run took. */
  seconds: Type.Number(),
  scenarios: Type.Array(Scenario),
  capacity: Capacity,
  ladders: Type.Array(Ladder),
  faults: Type.Array(Fault),
});
export type StressResults = Described<typeof StressResults>;

/** A figure that targets may be set for. */
export interface StressFigure {
  readonly row: string;
  readonly figure: string;
  readonly unit: string;
  readonly value: number;
}

/** What a scenario is called. */
export const scenarioName = ({ messages, isolation }: Pick<Scenario, "messages" | "isolation">): string =>
  `${messages.toLocaleString("en")} messages, code in ${isolation === "sandbox" ? "the default tier" : "the trusted tier"}`;

/** All figures of a run, by row and name. */
export function figuresOf({ scenarios, ladders, faults }: StressResults): StressFigure[] {
  const figures: StressFigure[] = [];
  for (const scenario of scenarios) {
    const row = scenarioName(scenario);
    figures.push({ row, figure: "throughput", unit: "/s", value: scenario.throughput });
    figures.push({ row, figure: "heap growth", unit: "MB", value: scenario.heapGrowth / 1e6 });
    for (const [kind, { p95 }] of Object.entries(scenario.kinds)) {
      figures.push({ row, figure: `${kind} p95`, unit: "ms", value: p95 });
    }
  }
  for (const { name, held, overload } of ladders) {
    figures.push({ row: name, figure: "load that held", unit: "/s", value: held });
    figures.push({ row: name, figure: "recovery", unit: "ms", value: overload.recovery });
  }
  for (const { name, recovery } of faults) figures.push({ row: name, figure: "recovery", unit: "ms", value: recovery });
  return figures;
}

/**
 * Reads what `serialiseStress` wrote.
 *
 * @param name What errors call the text: its file.
 * @throws Error that says what does not fit, and to run it again.
 */
export const parseStress = (text: string, name = "The text"): StressResults =>
  parseJson(StressResults, text, name, "results of stress: run `bun run stress` again, which writes them anew");

/** The JSON text of results. */
export const serialiseStress = (results: StressResults): string => jsonText(results);
