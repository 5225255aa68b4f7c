import { Type } from "envoi";
import { jsonText } from "../harness/format";
import { machineSchema } from "../harness/machine";
import { type Described, parseJson } from "../harness/schema";

// What `bun run stress` writes to benchmarks/results/stress.json. Milliseconds, bytes and requests a second throughout.

const Count = Type.Integer({ minimum: 0 });

const window = Type.Object({
  rate: Type.Number({ description: "Requests a second that were due." }),
  due: Count,
  ok: Count,
  errors: Type.Record(Type.String(), Count, { description: "By operation and kind: `code busy`, `ask unanswered`." }),
  p50: Type.Number(),
  p95: Type.Number(),
  p99: Type.Union([Type.Number(), Type.Null()], { description: "Null with fewer than ten requests above it." }),
  operations: Type.Record(Type.String(), Type.Number(), { description: "The p95 of each operation." }),
  lag: Type.Number({ description: "99 in 100 requests were sent so soon after they were due." }),
});
type OfWindow = typeof window;
/** Named, so that the declarations of all that holds windows do not repeat it. */
export interface WindowSchema extends OfWindow {}
/** The requests that were due in one stretch of time; each of them is counted once. Times count from when a request was due. */
export const Window: WindowSchema = window;
export type Window = Described<typeof Window>;

const Trouble = Type.Object({
  name: Type.String(),
  about: Type.String(),
  before: Window,
  during: Type.Array(Window),
  after: Window,
  recovery: Type.Number({ description: "From its end to the end of the first stretch that was as before." }),
  happened: Type.Record(Type.String(), Count, { description: "How often what happened, from begin to end." }),
  heap: Type.Array(Type.Number(), { description: "Live heap before, after each window of it, and in the end." }),
  audit: Type.Object(
    { accepted: Count, handled: Count, failed: Count, dead: Count, queued: Count, running: Count },
    { description: "Where the messages are in the end; see `router.audit()`." },
  ),
  failed: Type.Array(Type.String(), { description: "What should have held and did not; a sentence each." }),
});
export type Trouble = Described<typeof Trouble>;

const Ladder = Type.Object({
  name: Type.String(),
  about: Type.String(),
  steps: Type.Array(Window, { description: "In the order in which they were taken." }),
  held: Type.Number({ description: "The highest load that held." }),
  broke: Type.Number({ description: "The lowest load that broke." }),
  why: Type.String({ description: "What broke there, as a sentence without its full stop." }),
  floor: Type.Object(window.properties, { description: "As much load or more, answered without any actor." }),
  overload: Trouble,
});
export type Ladder = Described<typeof Ladder>;

/** One run of `bun run stress`. */
export const StressResults = Type.Object({
  machine: machineSchema,
  ladders: Type.Array(Ladder),
  faults: Type.Array(Trouble),
});
export type StressResults = Described<typeof StressResults>;

/** Reads what `bun run stress --json` prints. @throws Error that says what does not fit, and to run it again. @param name Its file. */
export const parseStress = (text: string, name = "The text"): StressResults =>
  parseJson(StressResults, text, name, "results of stress: run `bun run stress` again, which writes them anew");

export const serialiseStress = (results: StressResults): string => jsonText(results);
