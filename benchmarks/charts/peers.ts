import { duration, NANOSECONDS, quantity } from "../harness/format";
import type { PeerResults, PeerRow } from "../peers/results";
import { hasFigure, keepsPromises, SELF } from "../peers/standing";
import { drawing, gridX, key, logTicks } from "./marks";
import { compose, FONT_SIZE, type Picture, widthOf } from "./picture";
import { axisX, dot, type PlotOptions, ruleX, ruleY, text } from "./plot";
import type { Theme } from "./theme";

/** Systems beside each other in one row. */
interface Comparison {
  readonly row: string;
  readonly unit: PeerRow["unit"];
  readonly isMoreBetter: boolean;
  readonly figures: readonly { readonly name: string; readonly value: number }[];
}

/** How a system is drawn: what the chart is about, what does as much, what does less. */
type Rank = "own" | "peer" | "less";

const COLUMN = 460;
const GAP = 20;
const LINE = 18;
const HEAD = { title: 20, axis: 18 };
const KEY = 26;
/** Pixels of a value, right of the largest one. */
const VALUE = 70;

/** The systems of a room beside each other, row by row, on logarithmic axes. */
export function peersPicture(results: PeerResults): Picture | undefined {
  const rows = results.rows
    .filter((row) => row.table === "time")
    .map(({ row, unit, isMoreBetter, figures }) => {
      const read = figures.filter(hasFigure).map(({ peer, median }) => ({ name: peer, value: median }));
      return drawable({ row, unit, isMoreBetter, figures: read });
    })
    .filter(({ figures }) => figures.some(({ value }) => value > 0));
  const rankOf = (name: string): Rank => {
    if (name === SELF) return "own";
    return keepsPromises(results, name) ? "peer" : "less";
  };
  const others = results.peers.map(({ name }) => name).filter((name) => name !== SELF);
  if (rows.length === 0) return undefined;
  return {
    name: `peers-${results.room}`,
    alt: `${results.room}: envoi beside ${others.join(", ")}, row by row, the best first`,
    question: "Which one is the quickest, row by row?",
    draw: (theme) => draw(rows, rankOf, theme),
  };
}

/** A duration of nothing has no place on a logarithmic axis; a count of nothing stands at the beginning of its own. */
const drawable = (row: Comparison): Comparison =>
  row.unit === "" ? row : { ...row, figures: row.figures.filter(({ value }) => value > 0) };

function draw(rows: readonly Comparison[], rankOf: (name: string) => Rank, theme: Theme): string {
  const heightOf = ({ figures }: Comparison) => HEAD.title + HEAD.axis + figures.length * LINE + GAP;
  const bottoms = [KEY, KEY];
  const panels = rows.map((row) => {
    const column = (bottoms[1] ?? 0) < (bottoms[0] ?? 0) ? 1 : 0;
    const y = bottoms[column] ?? 0;
    bottoms[column] = y + heightOf(row);
    return { x: column * (COLUMN + GAP), y, options: panel(row, rankOf, theme) };
  });
  const hasLess = rows.some(({ figures }) => figures.some(({ name }) => rankOf(name) === "less"));
  const signs = [
    { sign: "dot", color: theme.accent, says: "envoi" },
    { sign: "dot", color: theme.other, says: hasLess ? "keeps one message at a time, and yields to timers" : "others" },
    ...(hasLess ? [{ sign: "ring", color: theme.other, says: "does not" } as const] : []),
  ] as const;
  const width = 2 * COLUMN + GAP;
  return compose({ width, height: Math.max(...bottoms) - GAP }, [key({ x: 0, y: 2, width }, theme, signs), ...panels]);
}

function panel(
  { row, unit, isMoreBetter, figures }: Comparison,
  rankOf: (name: string) => Rank,
  theme: Theme,
): PlotOptions {
  const shown = figures.toSorted((a, b) => (isMoreBetter ? b.value - a.value : a.value - b.value));
  const values = shown.map(({ value }) => value);
  const isCount = unit === "";
  const { domain, ticks } = isCount ? { domain: [0, Math.max(...values)], ticks: [0] } : logTicks(values);
  const [start = 0] = domain;
  const nanoseconds = NANOSECONDS[unit];
  const say = (value: number) => (nanoseconds === undefined ? quantity(value, unit) : duration(value * nanoseconds));
  const labels = Math.max(...shown.map(({ name }) => widthOf(name))) + 16;
  const color = ({ name }: { readonly name: string }) => (rankOf(name) === "own" ? theme.accent : theme.other);
  const isLess = ({ name }: { readonly name: string }) => rankOf(name) === "less";
  return {
    ...drawing({ width: COLUMN, height: HEAD.title + HEAD.axis + shown.length * LINE }, []),
    ...{ marginLeft: labels, marginRight: VALUE, marginTop: HEAD.title + HEAD.axis, marginBottom: 0 },
    x: { type: isCount ? "linear" : "log", domain, label: null },
    y: { type: "point", domain: shown.map(({ name }) => name), padding: 0.5, axis: null, label: null },
    marks: [
      gridX(ticks, theme),
      ruleX([start], { stroke: theme.grid }),
      axisX({
        anchor: "top",
        ticks,
        tickFormat: say,
        tickSize: 0,
        color: theme.muted,
        label: null,
      }),
      ruleY(shown, { y: "name", x1: start, x2: "value", stroke: color, strokeWidth: 1.5, strokeOpacity: 0.5 }),
      dot(
        shown.filter((each) => !isLess(each)),
        { x: "value", y: "name", r: 4, fill: color },
      ),
      dot(shown.filter(isLess), { x: "value", y: "name", r: 4, stroke: color, strokeWidth: 1.5 }),
      text(shown, {
        x: "value",
        y: "name",
        text: ({ value }) => say(value),
        dx: 9,
        textAnchor: "start",
        fill: theme.text,
      }),
      text(shown, { x: () => start, y: "name", text: "name", dx: -8, textAnchor: "end", fill: theme.text }),
      text(isMoreBetter ? ["more is better"] : [], {
        frameAnchor: "top-right",
        dy: -HEAD.axis,
        lineAnchor: "top",
        text: ["more is better"],
        fill: theme.muted,
      }),
      text([row], {
        frameAnchor: "top-left",
        dx: -labels,
        dy: -HEAD.title - HEAD.axis,
        lineAnchor: "top",
        text: [row],
        fill: theme.text,
        fontWeight: "bold",
        fontSize: FONT_SIZE,
      }),
    ],
  };
}
