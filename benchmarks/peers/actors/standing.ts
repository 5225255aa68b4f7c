import { ratios } from "../../harness/statistics";
import type { ActorFigure, ActorPeerResults, ActorRowResult } from "./results";

/** How many times the bare mailbox envoi may take. */
export const MOST = 1.6;
/** Figures that differ by less than this share are not told apart. */
const RESOLUTION = 0.03;
/** Nor are those of a 5 ms timer that differ by less than one tick: idle, it gets one more or less, too. */
const TICK: Readonly<Record<ActorRowResult["unit"], number>> = { "": 1, ms: 5, ns: 0, B: 0 };

export const SELF = "envoi";
export const FLOOR = "mailbox";

function figureOf(figures: readonly ActorFigure[], name: string) {
  const found = figures.find(({ peer }) => peer === name);
  return found !== undefined && "median" in found ? found : undefined;
}

const medianOf = (figures: readonly ActorFigure[], name: string): number | undefined => figureOf(figures, name)?.median;

/** Those that keep one message at a time and let timers fire: what envoi is to be first among. */
export const comparable = ({ peers }: ActorPeerResults): string[] =>
  peers
    .filter(({ isFloor, keepsOneAtATime, yieldsToTimers }) => !isFloor && keepsOneAtATime && yieldsToTimers)
    .map(({ name }) => name);

/** How envoi stands at a row. */
export interface Standing {
  readonly row: string;
  /** Who is ahead of it among those it is compared with. */
  readonly behind: readonly string[];
  /**
   * Its figure over that of the bare mailbox, the median over the rounds; undefined where less is no time or memory, or one of
   * them has none.
   */
  readonly ratio: number | undefined;
}

export function standings(results: ActorPeerResults): Standing[] {
  const among = comparable(results).filter((name) => name !== SELF);
  return results.rows.flatMap((row) => {
    const own = medianOf(row.figures, SELF);
    if (own === undefined) return [];
    return [{ row: row.row, behind: among.filter((name) => isAhead(row, name, own)), ratio: ratioOf(row) }];
  });
}

function isAhead({ figures, unit, isMoreBetter }: ActorRowResult, name: string, own: number): boolean {
  const other = medianOf(figures, name);
  if (other === undefined) return false;
  const lead = isMoreBetter ? other - own : own - other;
  return lead > Math.max(own * RESOLUTION, TICK[unit]);
}

function ratioOf({ figures, unit }: ActorRowResult): number | undefined {
  const [own, floor] = [figureOf(figures, SELF), figureOf(figures, FLOOR)];
  // What a timer gets beside a mailbox that starves it is nothing to be near to.
  if (own === undefined || floor === undefined || unit === "" || unit === "ms") return undefined;
  // One that no longer started has fewer.
  return ratios(own.rounds.slice(0, floor.rounds.length), floor.rounds).median;
}

/** Where envoi is not first, or further from the bare mailbox than it may be, or where that is not known, in words. */
export function missed(results: ActorPeerResults): string[] {
  const among = comparable(results);
  if (!among.includes(SELF)) return ["envoi did not keep one message at a time, or starved timers."];
  const unknown = results.rows.flatMap(({ row, figures }) => [
    ...(medianOf(figures, SELF) === undefined ? [`${row}: envoi has no figure.`] : []),
    ...(hasFailed(figures, FLOOR) ? [`${row}: the bare mailbox failed, so nobody knows how near envoi is to it.`] : []),
  ]);
  if (among.length === 1) unknown.push("There is nobody to compare envoi with.");
  const known = standings(results).flatMap(({ row, behind, ratio }) => {
    const words = behind.map((name) => `${row}: ${name} is ahead of envoi.`);
    if (ratio !== undefined && ratio > MOST) {
      words.push(`${row}: envoi takes ${ratio.toFixed(2)} times the bare mailbox; at most ${MOST} are allowed.`);
    }
    return words;
  });
  return [...unknown, ...known];
}

const hasFailed = (figures: readonly ActorFigure[], name: string): boolean =>
  figures.some((each) => each.peer === name && "failed" in each);
