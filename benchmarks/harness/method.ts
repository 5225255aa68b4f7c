import { digits } from "./format";
import { QUIET } from "./noise";
import { publishedMachine } from "./published";

/** The beginning of BENCHMARKS.md. */
export const INTRODUCTION = `# Benchmarks

Written by \`bun run bench\` from \`benchmarks/results/*.json\`; no figure here is typed by hand, and a test fails when the page, a chart or
the README says something else than the results. To measure on your own machine: \`bun run bench\` in a clone of the repository, or
\`bunx envoi bench\` where the package is installed.

Messaging should cost little more than the promise that it must create. So each row stands beside its **floor**, the least that work of
its kind can cost without envoi, measured in the same run; how many times the floor a row takes is what the limits are about.`;

/** How the figures come about, and how to read them. */
export const METHOD = `## How to read it

- **A row stands beside its floor**: such as a bare promise, or a ten-line mailbox without envoi's promises. Both run in one process, which
  each suite has for itself, in turns (floor, row, floor, row …), each round after a forced collection. Where a row waits for other
  processes, or for a disk, its rounds are cut into pieces, the floor's and the row's in turn. The **ratio** is the median over the
  rounds of *row's median / floor's median of the same round*, with the lowest and highest round; it hardly depends on the machine. Nanoseconds do.
- **Work is counted where it ends** (in the handler, on the reply) and the count is checked after each round. A row that does nothing,
  too little or too much, or that returns before its work is done, is refused and has no figures.
- **of** tells how many operations a figure covers, and how many a sample averages: *1 / 1,000* is the time of one operation, from samples
  of a thousand. [mitata](https://github.com/evanwashere/mitata) takes the samples; a sample lasts 20 µs or more, so that reading
  the clock does not count. **p50 to p99** are over the samples of all rounds, none dropped. Where a sample averages many operations
  they tell how that average varies, not how single operations do: the suite *latency* times each operation by itself. A p99 of fewer
  than 1,000 samples is not given.
- **throughput** is the operations completed over the wall time that passed, collections and pauses between samples included.
- **limit** is what \`bun run bench --check\` holds, and *aim* what would be good. They are in \`benchmarks/targets.ts\`, each with its reason.
- **A machine is quiet** when its floors, which do the same work again and again, vary by ${digits(QUIET * 100)} % at most over the rounds and over the
  run. On one that is not, \`--check\` calls a limit missed only where it is missed by more than the noise explains.
- **published** figures are averages, p75 and p99 of an earlier layer for the same rows, from another machine (${publishedMachine}).
  They are there for orientation; no limit is about them.
- Rows that are no loops (memory, latency, what a timer gets) run each round in a process of its own; heap is read after a forced
  collection.

In the charts, all axes of time are logarithmic. Those of a suite show each row's median with the range of its samples, its floor's
median, and at the right the ratio of the two with that of its rounds; a red bar is the limit, and a red dot missed it.`;
