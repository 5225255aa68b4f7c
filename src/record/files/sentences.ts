import type { FileCounts } from "./options";

// The sentences by which a recording tells that it lost something.

type Dropped = Pick<FileCounts, "droppedLines" | "droppedMessages">;

/** Tells that lines came too fast. */
export const lossOf = (path: string, lines: number, messages: number): string =>
  `The recording ${path} lost ${linesOf(lines, messages)}: they came faster than they could be written.`;

/** Tells that a recording ended before its program, with all that it has lost. */
export function stopOf(path: string, error: Error, { droppedLines, droppedMessages }: Dropped): string {
  const lost = droppedLines === 0 ? "" : ` So far it lost ${linesOf(droppedLines, droppedMessages)}.`;
  return `The recording ${path} stopped, and nothing else did: ${wordsOf(error)}. It can be read up to there.${lost}`;
}

/** The words of an error, without a full stop. */
export const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");

const linesOf = (lines: number, messages: number): string =>
  `${lines} ${lines === 1 ? "line" : "lines"} (${messages} ${messages === 1 ? "message" : "messages"})`;
