import { ratios } from "../harness/statistics";
import type { PeerFigure, PeerResults, PeerRow } from "./results";

export const AIM = 1.6;
/** Figures that differ by less than this share are not told apart. */
export const RESOLUTION = 0.03;

export const SELF = "envoi";
export const FLOOR = "mailbox";
/** The conditions for comparing a library of actors with envoi. Both are checked. */
export const ONE_AT_A_TIME = "the next message waits for the promise of the one before";
export const YIELDS = "timers fire while two actors volley";

type Measured = Extract<PeerFigure, { readonly median: number }>;
export const hasFigure = (figure: PeerFigure): figure is Measured => "median" in figure;

const figureOf = ({ figures }: PeerRow, name: string) => figures.filter(hasFigure).find(({ peer }) => peer === name);

export const rivalsOf = ({ peers }: PeerResults): string[] =>
  peers.filter(({ name, isFloor }) => !isFloor && !name.startsWith(SELF)).map(({ name }) => name);

/** Whether one keeps a message at a time and lets timers fire; a tool has no such rows, and does. */
export function keepsPromises({ rows }: PeerResults, name: string): boolean {
  const checks = rows.filter(({ row }) => row === ONE_AT_A_TIME || row === YIELDS);
  return checks.every(({ figures }) => figures.some((each) => each.peer === name && "holds" in each && each.holds));
}

export interface Standing {
  readonly room: string;
  readonly row: PeerRow;
  readonly own: number;
  /** The best of those that keep the promises that envoi keeps. */
  readonly peer: Measured | undefined;
  readonly isBehind: boolean;
  /** The best of those that do less, where it is better than envoi. */
  readonly less: Measured | undefined;
  readonly ahead: readonly string[];
}

export function standingsOf(results: PeerResults): Standing[] {
  return results.rows.flatMap((row) => {
    const own = figureOf(row, SELF)?.median;
    if (row.table !== "time" || own === undefined) return [];
    const names = rivalsOf(results);
    const rivals = row.figures.filter(hasFigure).filter(({ peer }) => names.includes(peer));
    const sorted = rivals.toSorted((a, b) => a.median - b.median);
    const best = (keeps: boolean) => sorted.find(({ peer }) => keepsPromises(results, peer) === keeps);
    const isAhead = (other: Measured | undefined): boolean =>
      other !== undefined && own - other.median > own * RESOLUTION;
    const [peer, less] = [best(true), best(false)];
    const ahead = sorted.filter(isAhead).map((other) => other.peer);
    const isBehind = isAhead(peer);
    return [{ room: results.room, row, own, peer, isBehind, less: isAhead(less) ? less : undefined, ahead }];
  });
}

export function timesFloor(row: PeerRow): number | undefined {
  const [own, floor] = [figureOf(row, SELF), figureOf(row, FLOOR)];
  if (own?.rounds === undefined || floor?.rounds === undefined) return undefined;
  return ratios(own.rounds, floor.rounds).median;
}
