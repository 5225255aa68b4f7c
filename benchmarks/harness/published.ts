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

/** What was published for a figure of a probe, in the figure's unit. */
export function publishedReading(suite: string, row: string, figure: string): number | undefined {
  if (suite === "startup" && row === figures.startup.row && figure === "time") return figures.startup.timeMs;
  if (suite !== "memory" || row !== MEMORY_ROW) return undefined;
  const { heapGrowthMB, rssGrowthMB } = figures.memory;
  return { "heap growth": heapGrowthMB, "RSS growth": rssGrowthMB }[figure];
}

/** What is to be said about the published figure of a row. */
export function publishedNote(suite: string, row: string): string | undefined {
  if (suite === "memory" && row === MEMORY_ROW) return figures.memory.note;
  if (suite === "startup" && row === figures.startup.row) return figures.startup.note;
  return publishedRow(suite, row)?.note;
}
