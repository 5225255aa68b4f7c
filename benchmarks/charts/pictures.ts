import type { SuiteResult } from "../harness/results";
import { linesOf } from "../harness/tables";
import type { Target } from "../harness/target";
import { partsOf, sections } from "../pages/shown";
import type { Picture } from "./picture";
import { drawRatios, drawTimes } from "./rows";
import { drawSeries } from "./series";

/** The pictures of a suite: one for each of its parts. */
export function picturesOf(result: SuiteResult, targets: readonly Target[]): Picture[] {
  const { question = "How many times its floor does each row take?", chart } = sections[result.suite] ?? {};
  return partsOf(result).flatMap(({ name, rows }) => {
    const lines = linesOf({ ...result, rows }, targets);
    const other = chart === "series" ? drawSeries(rows) : chart && drawTimes(lines, chart);
    const draw = chart === undefined ? drawRatios(lines) : other;
    return draw === undefined ? [] : [{ name, question, alt: `${name}: ${question} The table has the figures.`, draw }];
  });
}
