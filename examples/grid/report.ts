import type { Job, Outcome, Verdict } from "./job";

/** The end of a run, in lines. */
export function reportOf({ pages }: Job, outcome: Outcome, verdict: Verdict): string {
  const { shelf, acknowledged, kills, shares, sentAgain, seconds } = outcome;
  const frequent = [...shelf.totals].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 3);
  const machines = [...shares].filter(([node]) => node !== "").sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = [
    `${pages} pages in ${seconds.toFixed(1)} s; one process takes ${verdict.alone.toFixed(1)} s.`,
    `Killed: ${kills}. Pages sent again: ${sentAgain}. Pages that came to the store again: ${shelf.marked} with the mark, ${shelf.unmarked} without.`,
    `Acknowledged: ${acknowledged.size}, of which ${verdict.lost} are lost. Missing: ${verdict.missing}. Words with a wrong count: ${verdict.wrong}.`,
    ...(machines.length === 0
      ? []
      : [`Counted first by ${machines.map(([node, count]) => `${node}: ${count}`).join(", ")}.`]),
    `Most frequent: ${frequent.map(([word, count]) => `${word} ${count}`).join(", ")}.`,
    verdict.isRight ? "The result is right." : "THE RESULT IS WRONG.",
  ];
  return `${lines.join("\n")}\n`;
}
