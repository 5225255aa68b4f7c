import type { SuiteResult } from "../harness/results";
import { linesOf } from "../harness/tables";
import type { Target } from "../harness/target";
import { charts, partsOf } from "../pages/shown";
import type { Picture } from "./picture";
import { drawRatios, drawTimes } from "./rows";
import { drawSeries } from "./series";

/** The pictures of a suite: one for each of its parts. */
export function picturesOf(result: SuiteResult, targets: readonly Target[]): Picture[] {
  const [question = "How many times its floor does each row take?", ...figures] = charts[result.suite] ?? [];
  return partsOf(result).flatMap(({ name, rows }) => {
    const lines = linesOf({ ...result, rows }, targets);
    const draw = figures.length > 0 ? drawTimes(lines, figures) : (drawSeries(rows) ?? drawRatios(lines));
    return draw === undefined ? [] : [{ name, question, alt: `${name}: ${question} The table has the figures.`, draw }];
  });
}
