import { drawing, durationTick, logTicks } from "./marks";
import { compose, FONT_SIZE, type Picture, widthOf } from "./picture";
import { axisX, axisY, line, type PlotOptions, ruleX, ruleY, text } from "./plot";
import type { Theme } from "./theme";

/** How the times of one operation lie: the time in nanoseconds below which a share of them is. */
export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [share: number, nanoseconds: number])[];
}

const SIZE = { width: 940, height: 420 };
const MARGIN = { left: 64, top: 14, bottom: 40 };
const SHARES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/** Where a share stands on the axis: each nine as far from the one before. */
const nines = (share: number): number => -Math.log10(1 - share);

/** Percentile curves beside each other. The longest of all, which is one sample, is left out. */
export function percentilesPicture(name: string, alt: string, curves: readonly Curve[]): Picture | undefined {
  const told = curves
    .map(({ name, points }) => ({ name, points: points.filter(([share, time]) => share < 1 && time > 0) }))
    .filter(({ points }) => points.length > 1);
  const question = "How long do single operations take, and how long the slowest of them?";
  return told.length === 0 ? undefined : { name, alt, question, draw: (theme) => draw(told, theme) };
}

function draw(curves: readonly Curve[], theme: Theme): string {
  const labels = Math.max(...curves.map(({ name }) => widthOf(name))) + 10;
  const width = SIZE.width - labels;
  const all = curves.flatMap(({ points }) => points);
  const { domain, ticks } = logTicks(all.map(([, time]) => time));
  const furthest = Math.max(...all.map(([share]) => nines(share)));
  const shares = SHARES.filter((share) => nines(share) <= furthest + 1e-9);
  const { lines } = theme;
  const colored = curves.map((curve, index) => ({
    ...curve,
    color: lines[index % lines.length] ?? theme.text,
    isDashed: index >= lines.length, // There are no more colours that can be told from each other.
  }));
  const points = colored.flatMap(({ name, color, isDashed, points }) =>
    points.map(([share, time]) => ({ name, color, isDashed, along: nines(share), time })),
  );
  const drawn = { x: "along", y: "time", z: "name", stroke: "color", strokeWidth: 2 } as const;
  const chart: PlotOptions = {
    ...drawing({ width, height: SIZE.height }, []),
    ...{ marginLeft: MARGIN.left, marginRight: 20, marginTop: MARGIN.top, marginBottom: MARGIN.bottom },
    x: { type: "linear", domain: [0, furthest], label: null },
    y: { type: "log", domain, label: null },
    marks: [
      ruleY(ticks, { stroke: theme.grid }),
      ruleX(shares.map(nines), { stroke: theme.grid }),
      axisY({ ticks, tickFormat: durationTick, tickSize: 0, color: theme.muted, label: null }),
      axisX({
        ticks: shares.map(nines),
        tickFormat: (_: number, index: number) => `${Number(((shares[index] ?? 0) * 100).toPrecision(6))} %`,
        tickSize: 0,
        color: theme.muted,
        label: "share of the operations that took no longer",
        labelAnchor: "center",
        labelArrow: "none",
      }),
      line(
        points.filter(({ isDashed }) => !isDashed),
        drawn,
      ),
      line(
        points.filter(({ isDashed }) => isDashed),
        { ...drawn, strokeDasharray: "5 3" },
      ),
    ],
  };
  const names = drawing({ width: labels, height: SIZE.height }, [
    text(apart(colored, domain), {
      x: () => 6,
      y: "y",
      text: ({ name, isDashed }) => (isDashed ? `╌ ${name}` : name),
      fill: "color",
      textAnchor: "start",
    }),
  ]);
  return compose(SIZE, [
    { x: 0, y: 0, options: chart },
    { x: width, y: 0, options: names },
  ]);
}

/** Each name at the end of its line, or as near to it as its neighbours let it. */
function apart<Named extends Curve>(curves: readonly Named[], [low, high]: readonly [number, number]) {
  const space = SIZE.height - MARGIN.top - MARGIN.bottom;
  const heightOf = (time: number) => MARGIN.top + space * (1 - Math.log(time / low) / Math.log(high / low));
  const placed = curves
    .map((curve) => ({ ...curve, y: heightOf(curve.points.at(-1)?.[1] ?? low) }))
    .sort((a, b) => a.y - b.y);
  const gap = FONT_SIZE + 4;
  let lowest = Number.NEGATIVE_INFINITY;
  for (const each of placed) lowest = each.y = Math.max(each.y, lowest + gap);
  let highest = SIZE.height - MARGIN.bottom + gap;
  for (const each of placed.toReversed()) highest = each.y = Math.min(each.y, highest - gap);
  return placed;
}
