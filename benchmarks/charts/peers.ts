import { measured } from "../harness/tables";
import type { PeerResults, PeerRow } from "../peers/results";
import { hasFigure, keepsPromises, SELF } from "../peers/standing";
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
  widthOf,
} from "./picture";

/** A row, with its systems, the best first. */
interface Line {
  readonly row: string;
  readonly unit: PeerRow["unit"];
  readonly places: readonly Place[];
}
interface Place {
  readonly name: string;
  readonly value: number;
  /** Whether it does less than envoi. */
  readonly isLess: boolean;
}

const COLUMN = 420;
const GAP = 20;
const LINE = 18;
const TITLE = 20;
const TOP = TITLE + 18;
const KEY = 26;
/** Pixels of a value, right of the largest one. */
const VALUE = 70;

/** The systems of a room beside each other, row by row, on logarithmic axes. */
export function peersPicture(results: PeerResults): Picture | undefined {
  const { room, rows, peers } = results;
  const times = rows.filter((row) => row.table === "time" && row.figures.some(hasFigure));
  if (times.length === 0) return undefined;
  const lines = times.map(({ row, unit, figures }): Line => {
    const sorted = figures.filter(hasFigure).toSorted((a, b) => a.median - b.median);
    const isLess = (name: string) => name !== SELF && !keepsPromises(results, name);
    return {
      row,
      unit,
      places: sorted.map(({ peer, median }) => ({ name: peer, value: median, isLess: isLess(peer) })),
    };
  });
  const others = peers.map(({ name }) => name).filter((name) => name !== SELF);
  return {
    name: `peers-${room}`,
    alt: `${room}: envoi beside ${others.join(", ")}, row by row, the best first`,
    question: "Which one is the quickest, row by row?",
    draw: (theme) => draw(lines, theme),
  };
}

function draw(lines: readonly Line[], theme: Theme): string {
  const bottoms: [number, number] = [KEY, KEY];
  const panels = lines.map((line) => {
    const column = bottoms[1] < bottoms[0] ? 1 : 0;
    const y = bottoms[column];
    bottoms[column] += TOP + line.places.length * LINE + GAP;
    return { x: column * (COLUMN + GAP), y, options: panel(line, theme) };
  });
  const hasLess = lines.some(({ places }) => places.some(({ isLess }) => isLess));
  const signs = [
    { sign: "dot", color: theme.accent, says: "envoi" },
    { sign: "dot", color: theme.other, says: hasLess ? "keeps one message at a time, and yields to timers" : "others" },
    ...(hasLess ? [{ sign: "ring", color: theme.other, says: "does not" } as const] : []),
  ] as const;
  const width = 2 * COLUMN + GAP;
  return compose({ width, height: Math.max(...bottoms) - GAP }, [key({ x: 0, y: 2, width }, theme, signs), ...panels]);
}

function panel({ row, unit, places }: Line, theme: Theme): PlotOptions {
  const values = places.map(({ value }) => value);
  const { domain, ticks } = logTicks(values, 250);
  const [start = 0] = domain;
  const say = (value: number) => measured(value, unit);
  const labels = Math.max(...places.map(({ name }) => widthOf(name))) + 16;
  const color = ({ name }: Place) => (name === SELF ? theme.accent : theme.other);
  const at = { x: "value", y: "name", r: 4 } as const;
  const full = places.filter(({ isLess }) => !isLess);
  const hollow = places.filter(({ isLess }) => isLess);
  const title = { frameAnchor: "top-left", dx: -labels, dy: -TOP, lineAnchor: "top", fontWeight: "bold" } as const;
  return {
    ...drawing({ width: COLUMN, height: TOP + places.length * LINE }),
    ...{ marginLeft: labels, marginRight: VALUE, marginTop: TOP, marginBottom: 0 },
    x: { type: "log", domain, label: null },
    y: { type: "point", domain: places.map(({ name }) => name), padding: 0.5, axis: null, label: null },
    marks: [
      Plot.gridX(ticks, { stroke: theme.grid, strokeOpacity: 1 }),
      Plot.ruleX([start], { stroke: theme.grid }),
      Plot.axisX({
        anchor: "top",
        ticks,
        tickFormat: say,
        tickSize: 0,
        color: theme.muted,
        label: null,
      }),
      Plot.ruleY(places, { y: "name", x1: start, x2: "value", stroke: color, strokeWidth: 1.5, strokeOpacity: 0.5 }),
      Plot.dot(full, { ...at, fill: color }),
      Plot.dot(hollow, { ...at, stroke: color, strokeWidth: 1.5 }),
      Plot.text(places, {
        ...at,
        text: ({ value }: Place) => say(value),
        dx: 9,
        textAnchor: "start",
        fill: theme.text,
      }),
      Plot.text(places, { x: () => start, y: "name", text: "name", dx: -8, textAnchor: "end", fill: theme.text }),
      Plot.text([row], { ...title, text: [row], fill: theme.text, fontSize: FONT_SIZE }),
    ],
  };
}
