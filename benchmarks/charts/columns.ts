import { digits, duration } from "../harness/format";
import { measured } from "../harness/tables";
import type { PeerFigure, PeerResults, PeerRow } from "../peers/results";
import { hasFigure, keepsPromises, SELF } from "../peers/standing";
import type { Ladder, StressResults } from "../stress/results";
import { judge, MOST_P99 } from "../stress/trouble";
import type { Picture, PlotOptions, Theme } from "./picture";
import { compose, drawing, FONT_SIZE, key, logTicks, Plot, widthOf } from "./picture";

const COLUMN = 420;
const GAP = 20;
const LINE = 18;
const TITLE = 38;
const KEY = 26;
const VALUE = 70; // Pixels of a value, right of the largest one.

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
    draw: (theme) => drawPeers(times, isLess, theme),
  };
}

type Place = Extract<PeerFigure, { readonly median: number }>;

function drawPeers(rows: readonly PeerRow[], isLess: (name: string) => boolean, theme: Theme): string {
  const bottoms: [number, number] = [KEY, KEY];
  const panels = rows.map((row) => {
    const options = peersPanel(row, isLess, theme);
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

function peersPanel({ row, unit, figures }: PeerRow, isLess: (name: string) => boolean, theme: Theme): PlotOptions {
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
  const title = { frameAnchor: "top-left", dx: -labels, dy: -TITLE, lineAnchor: "top", fontWeight: "bold" } as const;
  return {
    ...drawing({ width: COLUMN, height: TITLE + places.length * LINE }),
    ...{ marginLeft: labels, marginRight: VALUE, marginTop: TITLE, marginBottom: 0 },
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

const SIZE = { width: COLUMN, height: 260 };

/** How long requests took as the load rose, a chart for each ladder, with what p99 may take. */
export function laddersPicture({ ladders }: Pick<StressResults, "ladders">): Picture | undefined {
  const told = ladders.filter(({ steps }) => steps.length > 1);
  if (told.length === 0) return undefined;
  const held = told.map(({ name, held }) => `${name}: ${digits(held)} a second held`);
  return {
    name: "stress-ladders",
    alt: `Latency by load, up to where something breaks; ${held.join("; ")}`,
    question: "How long do requests take as the load rises, until something breaks?",
    draw: (theme) => drawLadders(told, theme),
  };
}

function drawLadders(ladders: readonly Ladder[], theme: Theme): string {
  const width = 2 * SIZE.width + GAP;
  const signs = key({ x: 0, y: 2, width }, theme, [
    { sign: "dot", color: theme.accent, says: "p99 of a step" },
    { sign: "dot", color: theme.other, says: "its median" },
    { sign: "dot", color: theme.limit, says: "p99 of one that broke" },
    { sign: "span", color: theme.limit, says: "the limit of p99" },
    { sign: "bar", color: theme.text, says: "the highest load that held" },
  ]);
  const panels = ladders.map((ladder, at) => ({
    x: at * (SIZE.width + GAP),
    y: KEY,
    options: ladderPanel(ladder, theme),
  }));
  return compose({ width, height: KEY + SIZE.height }, [signs, ...panels]);
}

function ladderPanel({ name, steps, held }: Ladder, theme: Theme): PlotOptions {
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
