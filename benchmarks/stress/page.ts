import { digits, duration, rate, table } from "../harness/format";
import { revisionOf } from "../harness/machine";
import published from "../published-figures.json";
import { refusals } from "./overload";
import {
  type Fault,
  type Ladder,
  type Overload,
  type Scenario,
  type Step,
  type StressResults,
  scenarioName,
  type WindowResult,
} from "./results";
import { errorShare, MOST_ERRORS, MOST_LAG, MOST_P99, MOST_PROCESSOR } from "./steps";

const NONE = "–";
const time = (milliseconds: number | null): string => (milliseconds === null ? NONE : duration(milliseconds * 1e6));
const percent = (share: number): string => `${digits(share * 100)} %`;
const megabytes = (bytes: number): string => `${digits(bytes / 1e6)} MB`;
const perSecond = (requests: number): string => `${digits(requests)}/s`;
const count = (value: number): string => value.toLocaleString("en");

/** The page of stress: Markdown, from the results alone; `picture` is that of the ladders. */
export function renderStress(results: StressResults, picture = ""): string {
  const { machine, scenarios, capacity, ladders, faults } = results;
  const { cpu, cores, system, bun, date } = machine;
  const parts = [
    "# Stress",
    "Written by `bun run stress` from `benchmarks/results/stress.json`; no figure here is typed by hand.",
    `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(machine)}; ${date}.`,
    "## The published scenario",
    "Messages over streaming (ten items each), files (100 B, written and read in turn) and code, a third each, in batches of 50; a batch is asked at once, and the next one when all of it is answered. Each message is timed by itself. The published figures are of the first size, on another machine, with code that nothing isolates.",
    scenarioTable(scenarios),
    "## Load until something breaks",
    picture,
    METHOD,
    `Without any actor, sockets, lines and promises bore ${perSecond(capacity.held)}; then, ${capacity.why}.`,
    ...ladders.flatMap(ladderSection),
    ...(faults.length === 0 ? [] : ["## Faults under load", ...faults.flatMap(faultSection)]),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const METHOD = [
  "A generator in a process of its own sends requests over a socket when a schedule says so (arrivals by chance, as a Poisson process), whatever became of those before. A request's time counts from when it was due, in logarithmic bins of three digits, and one without an answer after a second has gone wrong.",
  `Each step has a window of its own, which begins once its load has taken hold. A load has broken when ${percent(MOST_ERRORS)} of its requests went wrong or one in a hundred took more than ${MOST_P99} ms, twice in a row. The load rises by fixed steps, so the breaking point lies between the step that broke and the one before.`,
  `A step in which the generator was the limit is void: it sent one in a hundred requests more than ${MOST_LAG} ms late, or used more than ${percent(MOST_PROCESSOR)} of a processor.`,
].join(" ");

function scenarioTable(scenarios: readonly Scenario[]): string {
  const p95 = ({ kinds }: Scenario, kind: string): string => time(kinds[kind]?.p95 ?? null);
  const rows = scenarios.map((scenario) => [
    scenarioName(scenario),
    rate(scenario.throughput),
    megabytes(scenario.heapGrowth),
    ...KINDS.map((kind) => p95(scenario, kind)),
  ]);
  const { messages, throughputPerSecond, heapGrowthMB, p95ms } = published.stress;
  const quoted = [
    `published: ${count(messages)} messages`,
    rate(throughputPerSecond),
    megabytes(heapGrowthMB * 1e6),
    ...KINDS.map((kind) => time(p95ms[kind])),
  ];
  const head = ["scenario", "messages a second", "heap growth", ...KINDS.map((kind) => `${kind} p95`)];
  return table(head, [...rows, quoted]);
}

const KINDS = ["streaming", "files", "code"] as const;

function ladderSection({ name, about, steps, held, broke, why, overload }: Ladder): string[] {
  return [
    `### ${name[0]?.toUpperCase()}${name.slice(1)}`,
    `**It bore ${perSecond(held)}, and broke at ${perSecond(broke)}**: ${why}. The load is ${about}.`,
    stepTable(steps),
    overloadSentence(overload),
    windowTable([
      ["before", overload.before],
      ...overload.during.map((window): [string, WindowResult] => ["too much", window]),
      ["after", overload.after],
    ]),
  ];
}

function stepTable(steps: readonly Step[]): string {
  const sorted = steps.toSorted((a, b) => a.window.rate - b.window.rate);
  return windowTable(sorted.map(({ window, verdict }) => [verdict, window]));
}

function windowTable(windows: readonly (readonly [what: string, window: WindowResult])[]): string {
  const head = ["load", "", "p50", "p95", "p99", "p99.9", "went wrong", "late by (p99)", "generator", "process", "RSS"];
  return table(
    head,
    windows.map(([what, window]) => {
      const { p50, p95, p99, p999 } = window.all.latency;
      const { generator, subject } = window;
      const shares = [generator.processor, subject.processor].map(percent);
      const times = [p50, p95, p99, p999].map(time);
      return [
        perSecond(window.rate),
        what,
        ...times,
        wrong(window),
        time(generator.lag),
        ...shares,
        megabytes(subject.rss),
      ];
    }),
  );
}

function wrong(window: WindowResult): string {
  const share = errorShare(window);
  if (share === 0) return "0 %";
  const kinds = Object.entries(window.all.errors).toSorted(([, a], [, b]) => b - a);
  return `${percent(share)} (${kinds.map(([kind, times]) => `${kind} ${count(times)}`).join(", ")})`;
}

function overloadSentence({ over, during, recovery, heap, audit, failed }: Overload): string {
  const due = during.reduce((sum, { all }) => sum + all.due, 0);
  const refused = during.reduce((sum, window) => sum + refusals(window), 0);
  const sentences = [
    `Past the break, at ${perSecond(over)}, bounded mailboxes refused ${count(refused)} of ${count(due)} requests; ${duration(recovery * 1e6)} after the load fell, the figures were as before.`,
    `The live heap had ${megabytes(heap.before)} before, ${heap.during.map(megabytes).join(" and ")} meanwhile, and ${megabytes(heap.after)} after.`,
    `Of ${count(audit.accepted)} messages in all, ${count(audit.handled)} were handled, ${count(audit.failed)} failed and ${count(audit.dead)} became dead letters.`,
  ];
  return [...sentences, ...failed.map((sentence) => `**${sentence}**`)].join(" ");
}

function faultSection({ name, about, before, during, after, recovery, happened, audit, failed }: Fault): string[] {
  const times = Object.entries(happened).map(([what, often]) => `${what}: ${count(often)}`);
  const bystander = (window: WindowResult): string => time(window.operations["ask"]?.latency.p95 ?? null);
  const sentences = [
    `${about} ${duration(recovery * 1e6)} after the end of it, the figures were as before (${times.join("; ")}).`,
    `An actor that has nothing to do with it answered 95 in 100 asks within ${bystander(during)} meanwhile, and within ${bystander(before)} before.`,
    `Of ${count(audit.accepted)} messages, ${count(audit.handled)} were handled, ${count(audit.failed)} failed and ${count(audit.dead)} became dead letters.`,
    ...failed.map((sentence) => `**${sentence}**`),
  ];
  return [
    `### ${name[0]?.toUpperCase()}${name.slice(1)}`,
    sentences.join(" "),
    windowTable([
      ["before", before],
      ["meanwhile", during],
      ["after", after],
    ]),
  ];
}
