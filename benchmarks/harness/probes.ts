import { inFreshProcess } from "./fresh-process";
import { NO_COLLECTION } from "./heap";
import { MEMORY_ROW } from "./published";
import type { Charted, Probe, ProbeFigure, Scale } from "./suite";

const RAW = new URL("raw-subjects.ts", import.meta.url);

type Sizes = Readonly<Record<Scale, number>>;

const probe = (
  name: string,
  figures: readonly ProbeFigure[],
  sizes: Sizes,
  floor: string,
  environment?: Readonly<Record<string, string>>,
) => {
  return (module: URL, subject: string): Probe => ({
    kind: "probe",
    name,
    figures,
    floor: { name: "raw", measure: (scale) => inFreshProcess(RAW, floor, sizes[scale], environment) },
    measure: (scale) => inFreshProcess(module, subject, sizes[scale], environment),
  });
};

/**
 * Bytes of heap of an idle actor, 100,000 of them. `subject` is exported by `module` and returns `heapOfEach(count, create)`.
 *
 * @example
 * idleHeapProbe(new URL("../subjects/actors.ts", import.meta.url), "idleHeap")
 */
export const idleHeapProbe = probe(
  "heap of an idle actor",
  [{ name: "bytes", unit: "B", ratio: true }],
  { smoke: 1000, full: 100_000 },
  "idleHeap",
);

/** Bytes that each piece of work allocates. `subject`, and `floor` of the raw ones, return `allocationOfEach(count, work)`. */
export const allocationProbe = (name: string, floor: string, module: URL, subject: string): Probe =>
  probe(
    name,
    [{ name: "bytes", unit: "B", ratio: true }],
    { smoke: 20_000, full: 200_000 },
    floor,
    NO_COLLECTION,
  )(module, subject);

/** What a 5 ms timer gets beside a volley of 200 ms. `subject` returns `watchTimer(milliseconds, volley)`. */
export const fairnessProbe = probe(
  "5 ms timer while two actors volley for 200 ms",
  [
    { name: "ticks", unit: "", ratio: false },
    { name: "gap", unit: "ms", ratio: false },
    { name: "hops", unit: "", ratio: false },
    { name: "ticks when idle", unit: "", ratio: false },
  ],
  { smoke: 20, full: 200 },
  "fairness",
);

/** Growth of heap and RSS over the first 10,000 messages. `subject` returns `growth(messages, send)`. */
export const growthProbe = probe(
  MEMORY_ROW,
  [
    { name: "heap growth", unit: "MB", ratio: false },
    { name: "RSS growth", unit: "MB", ratio: false },
  ],
  { smoke: 100, full: 10_000 },
  "messageGrowth",
);

/**
 * What each piece of work leaves on the heap and in RSS, with the ends of an interval of 99 % in which the true slope lies: a
 * least one above 0 is a leak. By chance, 3 in a hundred flat ones had one, so three processes are measured, whatever the
 * first one says, and the middle one counts. `subject` returns `slopes(along, count, work)`.
 */
export const slopesProbe = (name: string, sizes: Sizes, module: URL, subject: string): Probe => ({
  kind: "probe",
  name,
  figures: ["heap", "RSS"].flatMap((memory): ProbeFigure[] => [
    { name: `${memory} slope`, unit: "B", ratio: false },
    { name: `${memory} slope, least`, unit: "B", ratio: false },
    { name: `${memory} slope, most`, unit: "B", ratio: false },
  ]),
  floor: { none: "what leaks nothing stands at 0" },
  rounds: 3,
  measure: (scale) => inFreshProcess<Charted>(module, subject, sizes[scale]),
});

/** What a 5 ms timer gets beside work of 200 ms that has no floor. `subject` returns `watchTimer(milliseconds, work, counted)`. */
export const timerProbe = (name: string, counted: string, none: string, module: URL, subject: string): Probe => ({
  kind: "probe",
  name,
  figures: [
    { name: "ticks", unit: "", ratio: false },
    { name: "gap", unit: "ms", ratio: false },
    { name: counted, unit: "", ratio: false },
    { name: "ticks when idle", unit: "", ratio: false },
  ],
  floor: { none },
  measure: (scale) => inFreshProcess(module, subject, { smoke: 20, full: 200 }[scale]),
});
