import { inFreshProcess } from "../harness/fresh-process";
import { canSeeProcesses } from "../harness/processes";
import type { LeftOut, Probe, ProbeFigure, Scale } from "../harness/suite";

const MODULE = new URL("code-process.ts", import.meta.url);

const figures = (unit: ProbeFigure["unit"], ...names: readonly string[]): ProbeFigure[] =>
  names.map((name) => ({ name, unit, ratio: false }));

const probe = (
  name: string,
  read: readonly ProbeFigure[],
  subject: string,
  sizes: Readonly<Record<Scale, number>>,
  floor: Probe["floor"],
): Probe => ({
  kind: "probe",
  name,
  figures: read,
  floor,
  measure: (scale) => inFreshProcess(MODULE, subject, sizes[scale]),
});

const beside = (name: string, subject: string, sizes: Readonly<Record<Scale, number>>): Probe["floor"] => ({
  name,
  measure: (scale) => inFreshProcess(MODULE, subject, sizes[scale]),
});

const none = (why: string): Probe["floor"] => ({ none: why });

/** What is measured of code in this process that is no loop. */
export const trustedProbes: readonly Probe[] = [
  probe(
    "a trusted execution beside a plain ask",
    figures("ns", "over an ask", "compiled, over an ask", "execution", "ask"),
    "trustedOverAsk",
    { smoke: 2, full: 150 },
    none("it is what is left of an execution less an ask of an actor that gives back what it is sent, made in turns"),
  ),
  coldStart("trusted"),
];

/** What is measured of the sandbox that is no loop. */
export const sandboxProbes: readonly Probe[] = [
  probe(
    "executions in the default tier, back to back",
    [...figures("µs", "simple arithmetic, p50"), ...figures("ms", "the six published ones in turn, p95")],
    "defaultBackToBack",
    { smoke: 20, full: 500 },
    none("rows above have floors; the limits are of the time itself, in a process that does nothing else"),
  ),
  coldStart("sandbox"),
  probe(
    "a tool called from code, sandbox",
    figures("µs", "a call", "a run of one call"),
    "toolCall",
    { smoke: 10, full: 100 },
    none("the limit is of the time itself: a tenth of what ten calls more take in one run"),
  ),
];

/** What is measured of the tier `process` that is no loop. */
export const processProbes: readonly Probe[] = [
  coldStart("process"),
  probe(
    "an execution in a process started for it, the parser loaded",
    [{ name: "time", unit: "ms", ratio: true }],
    "processStartedForRun",
    { smoke: 1, full: 10 },
    beside("a bare process started, and a line there and back", "bareProcessStarted", { smoke: 1, full: 10 }),
  ),
  probe(
    "an execution handed to a process",
    figures("µs", "one that is ready", "that of a session").map((figure) => ({ ...figure, ratio: true })),
    "handOver",
    { smoke: 2, full: 20 },
    beside("a line there and back: the first one, and later ones", "lineHandedOver", { smoke: 2, full: 20 }),
  ),
];

function coldStart(isolation: "trusted" | "sandbox" | "process"): Probe {
  const name = `cold start, ${isolation}: from spawning the actor to the first result`;
  const starts = { smoke: 1, full: 5 };
  const floor: Probe["floor"] =
    isolation === "trusted"
      ? none("nothing is started")
      : { name: "a process started", measure: (scale) => inFreshProcess(MODULE, "startOfProcess", starts[scale]) };
  const read: ProbeFigure[] = [{ name: "time", unit: "ms", ratio: isolation !== "trusted" }];
  return probe(name, read, `${isolation}ColdStart`, starts, floor);
}

const watched: readonly Probe[] = [
  probe(
    "all processes of the sandbox killed: until the next result",
    [...figures("ms", "next result"), ...figures("", "asks that failed")],
    "recovery",
    { smoke: 1, full: 3 },
    none("a bare process has nothing to recover"),
  ),
  probe(
    "memory of 1,000 executions in the sandbox, an execution",
    [...figures("B", "host heap slope", "host RSS slope", "pool RSS slope"), ...figures("MB", "host RSS", "pool RSS")],
    "memorySlope",
    { smoke: 100, full: 1_000 },
    none("what is looked for is that nothing grows"),
  ),
];

/** Those that look at the processes of the pool from outside. */
export const watchedProbes: { readonly rows: readonly Probe[]; readonly leftOut: readonly LeftOut[] } = canSeeProcesses
  ? { rows: watched, leftOut: [] }
  : { rows: [], leftOut: watched.map(({ name: row }) => ({ row, why: "processes are looked at in /proc of Linux" })) };
