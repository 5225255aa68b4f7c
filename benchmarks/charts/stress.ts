import { digits, duration } from "../harness/format";
import type { Ladder, StressResults } from "../stress/results";
import { judge, MOST_P99 } from "../stress/steps";
import {
  compose,
  drawing,
  FONT_SIZE,
  key,
  logTicks,
  type Picture,
  Plot,
  type PlotOptions,
  type Theme,
} from "./picture";

const SIZE = { width: 420, height: 260 };
const GAP = 20;
const TOP = 26;

/** How long requests took as the load rose, a chart for each ladder, with what p99 may take. */
export function laddersPicture({ ladders }: Pick<StressResults, "ladders">): Picture | undefined {
  const told = ladders.filter(({ steps }) => steps.length > 1);
  if (told.length === 0) return undefined;
  const held = told.map(({ name, held }) => `${name}: ${digits(held)} a second held`);
  return {
    name: "stress-ladders",
    alt: `Latency by load, up to where something breaks; ${held.join("; ")}`,
    question: "How long do requests take as the load rises, until something breaks?",
    draw: (theme) => draw(told, theme),
  };
}

function draw(ladders: readonly Ladder[], theme: Theme): string {
  const width = 2 * SIZE.width + GAP;
  const signs = key({ x: 0, y: 2, width }, theme, [
    { sign: "dot", color: theme.accent, says: "p99 of a step" },
    { sign: "dot", color: theme.other, says: "its median" },
    { sign: "dot", color: theme.limit, says: "p99 of one that broke" },
    { sign: "span", color: theme.limit, says: "the limit of p99" },
    { sign: "bar", color: theme.text, says: "the highest load that held" },
  ]);
  const panels = ladders.map((ladder, at) => ({ x: at * (SIZE.width + GAP), y: TOP, options: panel(ladder, theme) }));
  return compose({ width, height: TOP + SIZE.height }, [signs, ...panels]);
}

function panel({ name, steps, held }: Ladder, theme: Theme): PlotOptions {
  const read = steps
    .map((step) => ({ ...step, p99: step.p99 ?? step.p95, ...judge(step) }))
    .filter(({ kind }) => kind !== "void") // The generator was the limit there.
    .sort((a, b) => a.rate - b.rate);
  const loads = logTicks(read.map(({ rate }) => rate));
  const times = logTicks([MOST_P99, ...read.flatMap(({ p50, p99 }) => [p50, p99])]);
  const plain = { color: theme.muted, label: null, tickSize: 0 };
  const below = { label: "requests a second that were due", labelAnchor: "center", labelArrow: "none" } as const;
  const line = { x: "rate", strokeWidth: 2, strokeOpacity: 0.6 } as const;
  const title = { frameAnchor: "top-left", dx: -52, dy: -26, lineAnchor: "top", fontWeight: "bold" } as const;
  return {
    ...drawing(SIZE),
    ...{ marginLeft: 60, marginRight: 36, marginTop: 30, marginBottom: 38 },
    x: { type: "log", domain: loads.domain, label: null },
    y: { type: "log", domain: times.domain, label: null },
    marks: [
      Plot.ruleY(times.ticks, { stroke: theme.grid }),
      Plot.axisY({ ...plain, ticks: times.ticks, tickFormat: (ms: number) => duration(ms * 1e6) }),
      Plot.axisX({ ...plain, ...below, ticks: loads.ticks, tickFormat: digits, tickSize: 3 }),
      Plot.ruleY([MOST_P99], { stroke: theme.limit, strokeWidth: 2 }),
      Plot.ruleX([held], { stroke: theme.text, strokeWidth: 1.5 }),
      Plot.lineY(read, { ...line, y: "p50", stroke: theme.other }),
      Plot.lineY(read, { ...line, y: "p99", stroke: theme.accent }),
      Plot.dot(read, { x: "rate", y: "p50", r: 3, fill: theme.other }),
      Plot.dot(read, {
        x: "rate",
        y: "p99",
        r: 3.5,
        fill: ({ kind }) => (kind === "broke" ? theme.limit : theme.accent),
      }),
      Plot.text([name], { ...title, text: [name], fill: theme.text, fontSize: FONT_SIZE }),
    ],
  };
}
