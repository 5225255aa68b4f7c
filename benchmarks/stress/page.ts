import { digits, duration, table } from "../harness/format";
import { revisionOf } from "../harness/machine";
import type { StressResults, Trouble, Window } from "./results";
import { errorShare, errorsOf, judge, MOST_ERRORS, MOST_LAG, MOST_P99, MOST_PROCESSOR } from "./steps";

const time = (milliseconds: number | null | undefined): string =>
  milliseconds == null ? "–" : duration(milliseconds * 1e6);
const percent = (share: number): string => `${digits(share * 100)} %`;
const megabytes = (bytes: number): string => `${digits(bytes / 1e6)} MB`;
const perSecond = (requests: number): string => `${digits(requests)}/s`;
const count = (value: number): string => value.toLocaleString("en");
const heading = (name: string): string => `### ${name[0]?.toUpperCase()}${name.slice(1)}`;

/** The page of stress: Markdown, from the results alone; `picture` is that of the ladders. */
export function renderStress(results: StressResults, picture = ""): string {
  const { machine, ladders, faults } = results;
  const { cpu, cores, system, bun, date } = machine;
  const parts = [
    "# Stress",
    "Written by `bun run stress` from `benchmarks/results/stress.json`; no figure here is typed by hand.",
    `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(machine)}; ${date}.`,
    "## Load until something breaks",
    picture,
    METHOD,
    ...ladders.flatMap(({ name, about, steps, held, broke, why, floor, overload }) => [
      heading(name),
      `**It bore ${perSecond(held)}, and broke at ${perSecond(broke)}**: ${why}. The load is ${about}. ${perSecond(floor.rate)} that no actor answers came back within ${time(floor.p99)} (p99).`,
      windowTable(steps.toSorted((a, b) => a.rate - b.rate).map((step) => [judge(step).kind, step])),
      overloadSentences(overload),
      troubleTable(overload, "too much"),
    ]),
    "## Faults under load",
    ...faults.flatMap((fault) => [heading(fault.name), faultSentences(fault), troubleTable(fault, "meanwhile")]),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const METHOD = [
  "A generator in a process of its own sends requests when a schedule says so (arrivals by chance, as a Poisson process), whatever became of those before. A request's time counts from when it was due, in logarithmic bins of three digits, and one without an answer after a second has gone wrong.",
  `Each step has a window of its own, which begins once its load has taken hold. A load has broken when ${percent(MOST_ERRORS)} of its requests went wrong or one in a hundred took more than ${MOST_P99} ms, twice in a row. The load rises by fixed steps, so the breaking point lies between the step that broke and the one before.`,
  `A step in which the generator was the limit is void: it sent one in a hundred requests more than ${MOST_LAG} ms late, or used more than ${percent(MOST_PROCESSOR)} of a processor.`,
].join(" ");

function windowTable(windows: readonly (readonly [what: string, window: Window])[]): string {
  const head = ["load", "", "p50", "p95", "p99", "p99.9", "went wrong", "late by (p99)", "generator", "process", "RSS"];
  const rows = windows.map(([what, window]) => {
    const { p50, p95, p99, p999, lag, generator, subject, rss } = window;
    const times = [p50, p95, p99, p999].map(time);
    const shares = [percent(generator), percent(subject)];
    return [perSecond(window.rate), what, ...times, wrong(window), time(lag), ...shares, megabytes(rss)];
  });
  return table(head, rows);
}

function wrong(window: Window): string {
  const errors = errorsOf(window).map(([kind, times]) => `${kind} ${count(times)}`);
  return `${percent(errorShare(window))}${errors.length === 0 ? "" : ` (${errors.join(", ")})`}`;
}

const troubleTable = ({ before, during, after }: Trouble, meanwhile: string): string =>
  windowTable([["before", before], ...during.map((each) => [meanwhile, each] as const), ["after", after]]);

const accounts = ({ audit: { accepted, handled, failed, dead }, failed: complaints }: Trouble): string[] => [
  `Of ${count(accepted)} messages in all, ${count(handled)} were handled, ${count(failed)} failed and ${count(dead)} became dead letters.`,
  ...complaints.map((sentence) => `**${sentence}**`),
];

function overloadSentences(overload: StressResults["ladders"][number]["overload"]): string {
  const { during, recovery, heap } = overload;
  const [due, ok] = [during.reduce((sum, each) => sum + each.due, 0), during.reduce((sum, each) => sum + each.ok, 0)];
  return [
    `Past the break, at ${perSecond(during[0]?.rate ?? 0)}, ${count(ok)} of ${count(due)} requests were answered in time; ${time(recovery)} after the load fell, the figures were as before.`,
    `The live heap had ${megabytes(heap.before)} before, ${heap.during.map(megabytes).join(" and ")} meanwhile, and ${megabytes(heap.after)} after.`,
    ...accounts(overload),
  ].join(" ");
}

function faultSentences(fault: StressResults["faults"][number]): string {
  const { about, before, during, recovery, happened } = fault;
  const often = Object.entries(happened).flatMap(([what, times]) => (times === 0 ? [] : [`${what}: ${count(times)}`]));
  const [then, meanwhile] = [before, during[0]].map((window) => time(window?.operations["ask"]));
  return [
    `${about} ${time(recovery)} after the end of it, the figures were as before (${often.join("; ")}).`,
    `An actor that has nothing to do with it answered 95 in 100 asks within ${meanwhile} meanwhile, and within ${then} before.`,
    ...accounts(fault),
  ].join(" ");
}
