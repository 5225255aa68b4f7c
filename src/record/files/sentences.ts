// The sentences by which a recording tells that it lost something.

/** Tells that lines came too fast. */
export const lossOf = (path: string, lines: number, messages: number): string =>
  `The recording ${path} lost ${linesOf(lines, messages)}: they came faster than they could be written.`;

/** Tells that a recording ended before its program, with all that it has lost. */
export function stopOf(path: string, error: Error, lines: number, messages: number): string {
  const lost = lines === 0 ? "" : ` So far it lost ${linesOf(lines, messages)}.`;
  return `The recording ${path} stopped, and nothing else did: ${wordsOf(error)}. It can be read up to there.${lost}`;
}

/** The words of an error, without a full stop. */
export const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");

const linesOf = (lines: number, messages: number): string =>
  `${lines} ${lines === 1 ? "line" : "lines"} (${messages} ${messages === 1 ? "message" : "messages"})`;
