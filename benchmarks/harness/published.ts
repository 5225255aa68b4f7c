import figures from "../published-figures.json";

/** A figure published for the earlier layer, in nanoseconds; averages, p75 and p99 of another machine. */
export interface PublishedRow {
  readonly row: string;
  readonly avg: number;
  readonly p75: number;
  readonly p99: number;
  readonly note?: string;
}

export const publishedMachine: string = figures.machine;

const {
  "message-creation": messages,
  routing,
  patterns,
  files: fileRows,
  code: codeRows,
  memory,
  startup,
  stress,
  http,
} = figures;
const timed: Readonly<Record<string, readonly PublishedRow[]>> = {
  ...{ "message-creation": messages, routing, patterns, files: fileRows, code: codeRows },
};

export const publishedRows = (suite: string): readonly PublishedRow[] => timed[suite] ?? [];

export const publishedRow = (suite: string, row: string): PublishedRow | undefined =>
  publishedRows(suite).find((each) => each.row === row);

/** The name of the row whose growth of heap and RSS was published. */
export const MEMORY_ROW = `${memory.messages.toLocaleString("en")} messages`;

const { files, code, streaming } = stress.p95ms;
const mixed = {
  read: {
    ...{ rate: stress.throughputPerSecond, "heap growth": stress.heapGrowthMB },
    ...{ "files p95": files, "code p95": code, "streaming p95": streaming },
  },
  note: stress.note,
};

const { note, rows } = http;

/** What was published for figures of probes, each in its own unit, by their suites and rows; of a timed row, `ratio` is its time. */
const probes: Readonly<Record<string, { readonly read: Readonly<Record<string, number>>; readonly note: string }>> = {
  [`memory: ${MEMORY_ROW}`]: {
    read: { "heap growth": memory.heapGrowthMB, "RSS growth": memory.rssGrowthMB },
    note: memory.note,
  },
  [`startup: ${startup.row}`]: { read: { time: startup.timeMs }, note: startup.note },
  [`latency: ${stress.row}, sandbox`]: mixed,
  [`latency: ${stress.row}, trusted`]: mixed,
  ...Object.fromEntries(Object.entries(rows).map(([row, read]) => [`http: ${row}`, { read, note }])),
};

export const publishedReading = (suite: string, row: string, figure: string): number | undefined =>
  probes[`${suite}: ${row}`]?.read[figure];

export const publishedNote = (suite: string, row: string): string | undefined =>
  probes[`${suite}: ${row}`]?.note ?? publishedRow(suite, row)?.note;
