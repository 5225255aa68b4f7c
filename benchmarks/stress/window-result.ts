import type { WindowFigures } from "./load";
import type { WindowResult } from "./results";

/** What is kept of a window. */
export function windowResult(rate: number, figures: WindowFigures): WindowResult {
  const { milliseconds, all, operations, lag, processor, subject } = figures;
  return { rate, milliseconds, all, operations, generator: { lag, processor }, subject };
}
