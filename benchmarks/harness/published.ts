import figures from "../published-figures.json";

/** A figure published for the earlier layer, in nanoseconds; averages, p75 and p99 of another machine. */
export interface PublishedRow {
  readonly row: string;
  readonly avg: number;
  readonly p75: number;
  readonly p99: number;
  readonly note?: string;
}

/** The machine that the published figures are from. */
export const publishedMachine: string = figures.machine;

const timed: Readonly<Record<string, readonly PublishedRow[]>> = {
  "message-creation": figures["message-creation"],
  routing: figures.routing,
  patterns: figures.patterns,
  files: figures.files,
  code: figures.code,
};

/** The published rows of a suite. */
export const publishedRows = (suite: string): readonly PublishedRow[] => timed[suite] ?? [];

/** What was published for a timed row, found by the row's exact name. */
export function publishedRow(suite: string, row: string): PublishedRow | undefined {
  return publishedRows(suite).find((each) => each.row === row);
}

/** The name of the row whose growth of heap and RSS was published. */
export const MEMORY_ROW = `${figures.memory.messages.toLocaleString("en")} messages`;

const { memory, startup, stress } = figures;
const { files, code, streaming } = stress.p95ms;

/** What was published for probes: figures by their names, each in its own unit. */
const probes: readonly {
  readonly suite: string;
  readonly row: string;
  readonly read: Readonly<Record<string, number>>;
  readonly note: string;
}[] = [
  {
    ...{ suite: "memory", row: MEMORY_ROW, note: memory.note },
    read: { "heap growth": memory.heapGrowthMB, "RSS growth": memory.rssGrowthMB },
  },
  { ...startup, suite: "startup", read: { time: startup.timeMs } },
  ...["sandbox", "trusted"].map((tier) => ({
    ...{ suite: "latency", row: `${stress.row}, ${tier}`, note: stress.note },
    read: {
      ...{ rate: stress.throughputPerSecond, "heap growth": stress.heapGrowthMB },
      ...{ "files p95": files, "code p95": code, "streaming p95": streaming },
    },
  })),
];
const probeOf = (suite: string, row: string) => probes.find((each) => each.suite === suite && each.row === row);

/** What was published for a figure of a probe, in the figure's unit. */
export const publishedReading = (suite: string, row: string, figure: string): number | undefined =>
  probeOf(suite, row)?.read[figure];

/** What is to be said about the published figure of a row. */
export const publishedNote = (suite: string, row: string): string | undefined =>
  probeOf(suite, row)?.note ?? publishedRow(suite, row)?.note;
