import { ratios } from "../harness/statistics";
import type { PeerFigure, PeerResults, PeerRow } from "./results";

/** How many times the bare mailbox envoi may take. */
export const MOST = 1.6;
/** Figures that differ by less than this share are not told apart. */
const RESOLUTION = 0.03;
/** Nor are those of a 5 ms timer that differ by less than one tick: idle, it gets one more or less, too. */
const TICK: Readonly<Record<PeerRow["unit"], number>> = { "": 1, ms: 5, ns: 0, B: 0 };

export const SELF = "envoi";
export const FLOOR = "mailbox";
/** What a library of actors must do to be compared with envoi: both are checked. */
export const ONE_AT_A_TIME = "the next message waits for the promise of the one before";
export const YIELDS = "timers fire while two actors volley";

export const hasFigure = (figure: PeerFigure): figure is Extract<PeerFigure, { median: number }> => "median" in figure;

const figureOf = ({ figures }: PeerRow, name: string) => figures.filter(hasFigure).find(({ peer }) => peer === name);
const timesOf = ({ rows }: PeerResults): readonly PeerRow[] => rows.filter(({ table }) => table === "time");

/** The libraries and tools that envoi stands beside. */
export const rivalsOf = ({ peers }: PeerResults): string[] =>
  peers.filter(({ name, isFloor }) => !isFloor && !name.startsWith(SELF)).map(({ name }) => name);

/** Whether one keeps a message at a time and lets timers fire; a tool has no such rows, and does. */
export function keepsPromises({ rows }: PeerResults, name: string): boolean {
  const checks = rows.filter(({ row }) => row === ONE_AT_A_TIME || row === YIELDS);
  return checks.every(({ figures }) => figures.some((each) => each.peer === name && "holds" in each && each.holds));
}

/** Whether a figure is better than envoi's by more than can be told apart. */
export function isAhead({ unit, isMoreBetter }: PeerRow, other: number, own: number): boolean {
  const lead = isMoreBetter ? other - own : own - other;
  return lead > Math.max(own * RESOLUTION, TICK[unit]);
}

/**
 * envoi's figure over that of the bare mailbox, the median over the rounds; undefined where less is no time or memory, or one
 * of them has none.
 */
export function timesFloor(row: PeerRow): number | undefined {
  const [own, floor] = [figureOf(row, SELF), figureOf(row, FLOOR)];
  // What a timer gets beside a mailbox that starves it is nothing to be near to.
  if (own?.rounds === undefined || floor?.rounds === undefined || row.unit === "" || row.unit === "ms")
    return undefined;
  // One that no longer started has fewer.
  return ratios(own.rounds.slice(0, floor.rounds.length), floor.rounds).median;
}

/** Where envoi is not first, or further from the bare mailbox than it may be, or where that is not known, in words. */
export function missed(results: PeerResults): string[] {
  if (!keepsPromises(results, SELF)) return ["envoi did not keep one message at a time, or starved timers."];
  const among = rivalsOf(results).filter((name) => keepsPromises(results, name));
  const misses = among.length === 0 ? ["There is nobody to compare envoi with."] : [];
  for (const row of timesOf(results)) {
    const own = figureOf(row, SELF);
    if (own === undefined) misses.push(`${row.row}: envoi has no figure.`);
    if (row.figures.some((each) => each.peer === FLOOR && "failed" in each))
      misses.push(`${row.row}: the bare mailbox failed, so nobody knows how near envoi is to it.`);
    for (const name of among) {
      const other = figureOf(row, name);
      if (own && other && isAhead(row, other.median, own.median)) misses.push(`${row.row}: ${name} is ahead of envoi.`);
    }
    const ratio = timesFloor(row);
    if (ratio !== undefined && ratio > MOST)
      misses.push(`${row.row}: envoi takes ${ratio.toFixed(2)} times the bare mailbox; at most ${MOST} are allowed.`);
  }
  return misses;
}
