import { measured } from "../harness/tables";
import type { PeerFigure, PeerResults, PeerRow } from "../peers/results";
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

const COLUMN = 420;
const GAP = 20;
const LINE = 18;
const TOP = 38;
const KEY = 26;
/** Pixels of a value, right of the largest one. */
const VALUE = 70;

/** The systems of a room beside each other, row by row, on logarithmic axes. */
export function peersPicture(results: PeerResults): Picture | undefined {
  const { room, rows, peers } = results;
  const times = rows.filter((row) => row.table === "time" && row.figures.some(hasFigure));
  if (times.length === 0) return undefined;
  const isLess = (name: string) => name !== SELF && !keepsPromises(results, name);
  const others = peers.map(({ name }) => name).filter((name) => name !== SELF);
  return {
    name: `peers-${room}`,
    alt: `${room}: envoi beside ${others.join(", ")}, row by row, the best first`,
    question: "Which one is the quickest, row by row?",
    draw: (theme) => draw(times, isLess, theme),
  };
}

type Place = Extract<PeerFigure, { readonly median: number }>;

function draw(rows: readonly PeerRow[], isLess: (name: string) => boolean, theme: Theme): string {
  const bottoms: [number, number] = [KEY, KEY];
  const panels = rows.map((row) => {
    const options = panel(row, isLess, theme);
    const column = bottoms[1] < bottoms[0] ? 1 : 0;
    const y = bottoms[column];
    bottoms[column] += (options.height ?? 0) + GAP;
    return { x: column * (COLUMN + GAP), y, options };
  });
  const hasLess = rows.some(({ figures }) => figures.filter(hasFigure).some(({ peer }) => isLess(peer)));
  const signs = [
    { sign: "dot", color: theme.accent, says: "envoi" },
    { sign: "dot", color: theme.other, says: hasLess ? "keeps one message at a time, and yields to timers" : "others" },
    ...(hasLess ? [{ sign: "ring", color: theme.other, says: "does not" } as const] : []),
  ] as const;
  const width = 2 * COLUMN + GAP;
  return compose({ width, height: Math.max(...bottoms) - GAP }, [key({ x: 0, y: 2, width }, theme, signs), ...panels]);
}

/** A row, the best first. */
function panel({ row, unit, figures }: PeerRow, isLess: (name: string) => boolean, theme: Theme): PlotOptions {
  const places = figures.filter(hasFigure).toSorted((a, b) => a.median - b.median);
  const { domain, ticks } = logTicks(
    places.map(({ median }) => median),
    250,
  );
  const [start = 0] = domain;
  const say = (value: number) => measured(value, unit);
  const labels = Math.max(...places.map(({ peer }) => widthOf(peer))) + 16;
  const color = ({ peer }: Place) => (peer === SELF ? theme.accent : theme.other);
  const at = { x: "median", y: "peer", r: 4 } as const;
  const full = places.filter(({ peer }) => !isLess(peer));
  const hollow = places.filter(({ peer }) => isLess(peer));
  const title = { frameAnchor: "top-left", dx: -labels, dy: -TOP, lineAnchor: "top", fontWeight: "bold" } as const;
  return {
    ...drawing({ width: COLUMN, height: TOP + places.length * LINE }),
    ...{ marginLeft: labels, marginRight: VALUE, marginTop: TOP, marginBottom: 0 },
    x: { type: "log", domain, label: null },
    y: { type: "point", domain: places.map(({ peer }) => peer), padding: 0.5, axis: null, label: null },
    marks: [
      Plot.gridX(ticks, { stroke: theme.grid, strokeOpacity: 1 }),
      Plot.ruleX([start], { stroke: theme.grid }),
      Plot.axisX({ anchor: "top", ticks, tickFormat: say, tickSize: 0, color: theme.muted, label: null }),
      Plot.ruleY(places, { y: "peer", x1: start, x2: "median", stroke: color, strokeWidth: 1.5, strokeOpacity: 0.5 }),
      Plot.dot(full, { ...at, fill: color }),
      Plot.dot(hollow, { ...at, stroke: color, strokeWidth: 1.5 }),
      Plot.text(places, {
        ...at,
        text: ({ median }: Place) => say(median),
        dx: 9,
        textAnchor: "start",
        fill: theme.text,
      }),
      Plot.text(places, { x: () => start, y: "peer", text: "peer", dx: -8, textAnchor: "end", fill: theme.text }),
      Plot.text([row], { ...title, text: [row], fill: theme.text, fontSize: FONT_SIZE }),
    ],
  };
}
