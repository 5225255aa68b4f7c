import { duration, table } from "../harness/format";
import { publishedMachine, publishedNote, publishedReading, publishedRow } from "../harness/published";
import type { SuiteResult } from "../harness/results";
import { linesOf, lineTable, measured } from "../harness/tables";
import type { Target } from "../harness/target";
import figures from "../published-figures.json";
import { targets } from "../targets";
import { written } from "./suite";

const { targets: published, stress } = figures;
const share = published["tool overhead"].replace("under ", "");

/** What was published as a target, as limits of our figures, each in the unit of its figure. */
export const publishedTargets: readonly Target[] = [
  p95("createMessage", published["createMessage p95"], "a message is made"),
  p95(
    "router.ask(createMessage(…)), a round trip",
    published["routing p95"],
    "an ask through the router and its reply",
  ),
  {
    ...{ suite: "latency", row: "sustained for 2 s: router.tell(createMessage(…))", figure: "rate", aim: Number.NaN },
    ...{ atLeast: published["throughput per second"], reason: "messages a second, sustained" },
  },
  p95("read of 100 B", published["files p95"] / 1e3, "a file is read, through the router"),
  p95("write of 100 B", published["files p95"] / 1e3, "a file is written, through the router"),
  p95("execution, sandbox", published["code p95"] / 1e3, "code is run in the default tier"),
  ...targets
    .filter(({ reason }) => reason.startsWith("the actors' share"))
    .map((target) => ({ ...target, atMost: 1 / (1 - Number.parseFloat(share) / 100) })),
  ...targets
    .filter(({ suite, figure }) => suite === "memory" && figure.endsWith("slope, least"))
    .map((target) => ({ ...target, atMost: stress.heapGrowthMB, reason: "nothing is left behind: no leak" })),
];

function p95(row: string, atMost: number, reason: string): Target {
  return { suite: "latency", row, figure: "p95", atMost, aim: atMost, reason };
}

/** The page of figures that were published for an earlier layer, on another machine. */
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
