import type { ActorFigure, ActorPeerResults, ActorRowResult } from "./results";

/** How many times the bare mailbox envoi may take. */
export const MOST = 1.6;
/** Figures that differ by less than this share are not told apart. */
const RESOLUTION = 0.03;
/** Nor are those of a 5 ms timer that differ by less than one tick: idle, it gets one more or less, too. */
const TICK: Readonly<Record<ActorRowResult["unit"], number>> = { "": 1, ms: 5, ns: 0, B: 0 };

const SELF = "envoi";
const FLOOR = "mailbox";

const medianOf = (figures: readonly ActorFigure[], name: string): number | undefined => {
  const found = figures.find(({ peer }) => peer === name);
  return found !== undefined && "median" in found ? found.median : undefined;
};

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
  /** Its figure over that of the bare mailbox; undefined where less is no time or memory, or one of them has none. */
  readonly ratio: number | undefined;
}

export function standings(results: ActorPeerResults): Standing[] {
  const among = comparable(results).filter((name) => name !== SELF);
  return results.rows.flatMap((row) => {
    const own = medianOf(row.figures, SELF);
    if (own === undefined) return [];
    return [{ row: row.row, behind: among.filter((name) => isAhead(row, name, own)), ratio: ratioOf(row, own) }];
  });
}

function isAhead({ figures, unit, isMoreBetter }: ActorRowResult, name: string, own: number): boolean {
  const other = medianOf(figures, name);
  if (other === undefined) return false;
  const lead = isMoreBetter ? other - own : own - other;
  return lead > Math.max(own * RESOLUTION, TICK[unit]);
}

function ratioOf({ figures, unit }: ActorRowResult, own: number): number | undefined {
  const floor = medianOf(figures, FLOOR);
  // What a timer gets beside a mailbox that starves it is nothing to be near to.
  return floor === undefined || unit === "" || unit === "ms" ? undefined : own / floor;
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
