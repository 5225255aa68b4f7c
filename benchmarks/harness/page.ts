import { publishedMachine } from "./published";
import type { SuiteResult } from "./results";
import { suiteNotes, suiteTables, targetTable } from "./tables";
import type { Target } from "./target";

const ORDER = ["message-creation", "routing", "patterns", "files", "code", "memory"];
const rank = (suite: string): number => (ORDER.includes(suite) ? ORDER.indexOf(suite) : ORDER.length);

/** The suites in the order of the page: those with published figures first, then by name. */
export function inOrder<Named>(items: readonly Named[], nameOf: (item: Named) => string): Named[] {
  return [...items].sort((a, b) => rank(nameOf(a)) - rank(nameOf(b)) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

const METHOD = `# Benchmarks

Written by \`bun run bench\` from \`benchmarks/results/*.json\`; no figure here is typed by hand.

## How to read it

- **A row stands beside its floor**: the least that work of its kind can cost, such as a bare promise or a ten-line mailbox without
  envoi's promises. Both run in one process, in turns (floor, row, floor, row …), each round after a forced collection. The **ratio** is
  the median over the rounds of *row's median / floor's median of the same round*, with the lowest and highest round; it is what the
  limits are about, because it hardly depends on the machine. Nanoseconds do.
- **Work is counted where it ends** (in the handler, on the reply) and the count is checked after each round. A row that does nothing,
  too little or too much, or that returns before its work is done, is refused and has no figures.
- **of** tells how many operations a figure covers, and how many a sample averages: *1 / 1,000* is the time of one operation, from samples
  of a thousand. [mitata](https://github.com/evanwashere/mitata) takes the samples; a sample lasts 20 µs or more, so that reading
  the clock does not count. **p50 to p99** are over the samples of all rounds, none dropped. Where a sample averages many operations
  they tell how that average varies, not how single operations do. A p99 of fewer than 1,000 samples is not given.
- **throughput** is the operations completed over the wall time that passed, collections and pauses between samples included.
- **published** figures are averages, p75 and p99 of an earlier layer for the same rows, from another machine (${publishedMachine}).
  They are there for orientation; no limit is about them.
- Rows that are no loops (memory, what a timer gets) run each round in a process of its own; heap is read after a forced collection.
`;

/**
 * The whole of BENCHMARKS.md, from the results alone: the same results give the same text.
 *
 * @example
 * render(await readResults("benchmarks/results"), targets)
 */
export function render(results: readonly SuiteResult[], targets: readonly Target[]): string {
  const sections = inOrder(results, ({ suite }) => suite).map((result) => section(result, targets));
  return [METHOD, floors(results), ...sections].filter((part) => part !== "").join("\n");
}

function floors(results: readonly SuiteResult[]): string {
  const about = new Map<string, string>();
  for (const { rows } of inOrder(results, ({ suite }) => suite)) {
    for (const { floor } of rows) if ("about" in floor) about.set(floor.name, floor.about);
  }
  if (about.size === 0) return "";
  return `## The floors\n\n${[...about].map(([name, text]) => `- *${name}*: ${text}.`).join("\n")}\n`;
}

function section(result: SuiteResult, targets: readonly Target[]): string {
  const { cpu, cores, system, bun, commit, date } = result.machine;
  const where = `${cpu}, ${cores} cores, ${system}; Bun ${bun}; commit ${commit}; ${date}; ${result.rounds} rounds.`;
  const parts = [`## ${result.suite}`, result.about, where, suiteTables(result, targets)];
  const notes = suiteNotes(result);
  if (notes.length > 0) parts.push(notes.join("\n"));
  return `${parts.join("\n\n")}\n`;
}

const BEGIN = "<!-- figures:begin -->";
const END = "<!-- figures:end -->";

/** A README with the table of targets between its two markers; unchanged when it has no such markers. */
export function fillFigures(readme: string, results: readonly SuiteResult[], targets: readonly Target[]): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin < 0 || end < 0) return readme;
  return `${readme.slice(0, begin + BEGIN.length)}\n${targetTable(results, targets)}\n${readme.slice(end)}`;
}
