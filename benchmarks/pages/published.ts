import { duration, table } from "../harness/format";
import { publishedMachine, publishedNote, publishedReading, publishedRow } from "../harness/published";
import type { SuiteResult } from "../harness/results";
import { linesOf, lineTable, measured } from "../harness/tables";
import type { Target } from "../harness/target";
import figures from "../published-figures.json";
import { targets } from "../targets";
import { written } from "./suite";

const { targets: published, stress } = figures;
const share = Number.parseFloat(published["tool overhead"].replace("under ", "")) / 100;

/** In the unit of each row's p95. */
const P95: Readonly<Record<string, number>> = {
  createMessage: published["createMessage p95"],
  "router.ask(createMessage(…)), a round trip": published["routing p95"],
  "read of 100 B": published["files p95"] / 1e3,
  "write of 100 B": published["files p95"] / 1e3,
  "execution, sandbox": published["code p95"] / 1e3,
};

export const publishedTargets: readonly Target[] = targets.flatMap((target): Target[] => {
  const { suite, row, figure, reason } = target;
  const p95 = suite === "latency" && figure === "p95" ? P95[row] : undefined;
  if (p95 !== undefined) return [{ ...target, atMost: p95 }];
  if (reason.startsWith("the actors' share")) return [{ ...target, atMost: 1 / (1 - share) }];
  return suite === "memory" && figure.endsWith("slope, least") ? [{ ...target, atMost: stress.heapGrowthMB }] : [];
});

export function publishedPage(results: readonly SuiteResult[]): string {
  const rows = results
    .flatMap((result) => linesOf(result, []))
    .flatMap(({ suite, row, figure, name, here, unit }) => {
      const timed = figure === "ratio" ? publishedRow(suite, row) : undefined;
      const read = publishedReading(suite, row, figure);
      if (timed === undefined && read === undefined) return [];
      const told = timed ? [timed.avg, timed.p75, timed.p99].map(duration).join(" / ") : measured(read ?? 0, unit);
      return [[`${suite}: ${name}`, here, told, publishedNote(suite, row) ?? ""]];
    });
  const judged = results.flatMap((result) => linesOf(result, publishedTargets)).filter(({ target }) => target);
  return written(
    "Published figures",
    `An earlier messaging layer published these figures. They are from **another machine** (${publishedMachine}), so they are here for orientation; no limit is about them.`,
    table(["row", "here (median)", "published, on another machine (average / p75 / p99)", "note"], rows),
    "## Published targets",
    `The targets that the earlier layer set itself, as limits of the figures here that show whether envoi meets them. It also had
${published["concurrent operations"]} operations at once: *latency: 100 asks at once, until all have replied* has a figure only when all are done.`,
    lineTable(judged, ["row", "here", "share of its time over its floor", "limit", "reason"]),
  );
}
