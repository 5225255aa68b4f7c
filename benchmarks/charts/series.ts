import { digits } from "../harness/format";
import type { SuiteResult } from "../harness/results";
import type { Series } from "../harness/suite";
import { drawing } from "./marks";
import { compose, FONT_SIZE, type Picture } from "./picture";
import { axisX, axisY, lineY, type PlotOptions, ruleY, text } from "./plot";
import type { Theme } from "./theme";

const SIZE = { width: 460, height: 190 };
const GAP = 20;
const HEAD = 52;

interface Named extends Series {
  readonly row: string;
}

/** What probes read along the way, a small chart for each line; values from 0 on, so that what is flat looks flat. */
export function seriesPicture({ suite, rows }: SuiteResult, isShown: (name: string) => boolean): Picture | undefined {
  const all = rows.flatMap((row) => {
    const series = row.kind === "probe" ? (row.series ?? []) : [];
    return series.filter(({ name }) => isShown(name)).map((each) => ({ ...each, row: row.row }));
  });
  if (all.length === 0) return undefined;
  const named = all.map(({ row, name, along }) => `${name} over ${along} (${row})`);
  return {
    name: `${suite}-series`,
    alt: `${suite}: ${named.join("; ")}`,
    question: "Does memory grow with the work?",
    draw: (theme) => draw(all, theme),
  };
}

function draw(all: readonly Named[], theme: Theme): string {
  const panels = all.map((series, index) => ({
    x: (index % 2) * (SIZE.width + GAP),
    y: Math.floor(index / 2) * (SIZE.height + GAP),
    options: chart(series, theme),
  }));
  const height = Math.ceil(all.length / 2) * (SIZE.height + GAP) - GAP;
  return compose({ width: 2 * SIZE.width + GAP, height }, panels);
}

function chart({ row, name, along, unit, points }: Named, theme: Theme): PlotOptions {
  const read = points.map(([at, value]) => ({ at, value }));
  const most = Math.max(...read.map(({ value }) => value), 0);
  const least = Math.min(...read.map(({ value }) => value), 0);
  const title = [
    { at: 6, says: row, color: theme.text },
    { at: 22, says: `${name}${unit === "" ? "" : `, ${unit}`}`, color: theme.accent },
  ];
  return {
    ...drawing(SIZE, []),
    ...{ marginLeft: 56, marginRight: 20, marginTop: HEAD, marginBottom: 36 },
    x: { type: "linear", label: null },
    y: { type: "linear", domain: [least, most === least ? least + 1 : most], nice: true, label: null },
    marks: [
      axisY({ ticks: 4, tickFormat: digits, tickSize: 0, color: theme.muted, label: null }),
      ruleY([0], { stroke: theme.grid }),
      axisX({
        ticks: 4,
        tickFormat: compact,
        tickSize: 3,
        color: theme.muted,
        label: along,
        labelAnchor: "center",
        labelArrow: "none",
      }),
      lineY(read, { x: "at", y: "value", stroke: theme.accent, strokeWidth: 2 }),
      ...title.map(({ at, says, color }) =>
        text([says], {
          frameAnchor: "top-left",
          dx: -48,
          dy: at - HEAD,
          lineAnchor: "top",
          text: [shortened(says)],
          fill: color,
          fontSize: FONT_SIZE,
        }),
      ),
    ],
  };
}

const compact = (value: number): string =>
  value.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });

const LONGEST = 70;
const shortened = (says: string): string => (says.length > LONGEST ? `${says.slice(0, LONGEST - 1)}…` : says);
