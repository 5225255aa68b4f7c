import { digits, duration, table } from "../harness/format";
import { revisionOf } from "../harness/machine";
import type { StressResults, Trouble, Window } from "./results";
import { errorShare, errorsOf, judge, MOST_ERRORS, MOST_LAG, MOST_P99 } from "./trouble";

const time = (milliseconds: number | null): string => (milliseconds === null ? "–" : duration(milliseconds * 1e6));
const percent = (share: number): string => `${digits(share * 100)} %`;
const megabytes = (bytes: number | undefined): string => `${digits((bytes ?? 0) / 1e6)} MB`;
const perSecond = (requests: number): string => `${digits(requests)}/s`;
const count = (value: number): string => value.toLocaleString("en");
const heading = (name: string): string => `### ${name[0]?.toUpperCase()}${name.slice(1)}`;

export function renderStress({ machine, ladders, faults }: StressResults, picture = ""): string {
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
      ...troubleParts(overload),
    ]),
    "## Faults under load",
    "*asks* are of an actor that has nothing to do with the fault.",
    ...faults.flatMap((fault) => [heading(fault.name), ...troubleParts(fault)]),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const METHOD = [
  "A generator in a process of its own sends requests when a schedule says so (arrivals by chance, as a Poisson process), whatever became of those before. A request's time counts from when it was due, in logarithmic bins of three digits, and one without an answer after a second has gone wrong.",
  `Each step has a window of its own, which begins once its load has taken hold. A load has broken when ${percent(MOST_ERRORS)} of its requests went wrong or one in a hundred took more than ${MOST_P99} ms, twice in a row. The load rises by fixed steps, so the breaking point lies between the step that broke and the one before. A step in which the generator sent one in a hundred requests more than ${MOST_LAG} ms late is void.`,
].join(" ");

function windowTable(windows: readonly (readonly [what: string, window: Window])[]): string {
  const head = ["load", "", "p50", "p95", "p99", "asks (p95)", "went wrong", "late by (p99)"];
  const rows = windows.map(([what, window]) => {
    const { p50, p95, p99, operations, lag } = window;
    const times = [p50, p95, p99, operations["ask"] ?? null].map(time);
    const errors = errorsOf(window).map(([kind, times]) => `${kind} ${count(times)}`);
    const wrong = `${percent(errorShare(window))}${errors.length === 0 ? "" : ` (${errors.join(", ")})`}`;
    return [perSecond(window.rate), what, ...times, wrong, time(lag)];
  });
  return table(head, rows);
}

function troubleParts({ about, before, during, after, recovery, happened, heap, audit, failed }: Trouble): string[] {
  const often = Object.entries(happened).flatMap(([what, times]) => (times === 0 ? [] : [`${what}: ${count(times)}`]));
  const meanwhile = heap.slice(1, -1).map(megabytes).join(" and ");
  const sentences = [
    `${about} ${time(recovery)} after the end of it, the figures were as before (${often.join("; ")}).`,
    `Of ${count(audit.accepted)} messages, ${count(audit.handled)} were handled, ${count(audit.failed)} failed and ${count(audit.dead)} became dead letters.`,
    ...(heap.length === 0
      ? []
      : [
          `The live heap had ${megabytes(heap[0])} before, ${meanwhile} meanwhile, and ${megabytes(heap.at(-1))} after.`,
        ]),
    ...failed.map((sentence) => `**${sentence}**`),
  ];
  const meanwhiles = during.map((window) => ["meanwhile", window] as const);
  return [sentences.join(" "), windowTable([["before", before], ...meanwhiles, ["after", after]])];
}
