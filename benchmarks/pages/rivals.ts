import { digits, table } from "../harness/format";
import { measured, NONE } from "../harness/tables";
import type { PeerResults, PeerRow } from "../peers/results";
import { hasFigure, isAhead, keepsPromises, rivalsOf, SELF } from "../peers/standing";

/** What was measured of envoi and its peers, room by room. */
export type Peers = readonly PeerResults[];

interface Compared {
  readonly room: string;
  readonly row: PeerRow;
  readonly own: number;
  /** The best of those that keep the promises that envoi keeps. */
  readonly peer: Best | undefined;
  /** The best of those that do less, where it is better than envoi. */
  readonly less: Best | undefined;
  readonly isLost: boolean;
}

interface Best {
  readonly name: string;
  readonly median: number;
}

function compare(results: PeerResults): Compared[] {
  return results.rows.flatMap((row) => {
    const own = row.figures.find(({ peer }) => peer === SELF);
    if (row.table !== "time" || own === undefined || !hasFigure(own)) return [];
    const best = (names: readonly string[]): Best | undefined => {
      const others = row.figures.filter(hasFigure).filter(({ peer }) => names.includes(peer));
      const [first] = others.toSorted((a, b) => (row.isMoreBetter ? b.median - a.median : a.median - b.median));
      return first && { name: first.peer, median: first.median };
    };
    const rivals = rivalsOf(results);
    const peer = best(rivals.filter((name) => keepsPromises(results, name)));
    const less = best(rivals.filter((name) => !keepsPromises(results, name)));
    const isBetter = (other: Best | undefined) => other !== undefined && isAhead(row, other.median, own.median);
    return [
      {
        room: results.room,
        row,
        own: own.median,
        peer,
        less: isBetter(less) ? less : undefined,
        isLost: isBetter(peer) || isBetter(less),
      },
    ];
  });
}

const named = ({ room, row }: Compared): string => `${room}: ${row.row}`;

/** Where envoi stands, in a sentence, and where it loses. */
export function beside(peers: Peers): string {
  const all = peers.flatMap(compare);
  const lost = all.filter(({ isLost }) => isLost);
  const names = [...new Set(peers.flatMap(rivalsOf))];
  const won = `Beside ${names.join(", ")}, envoi is the best or as good in ${all.length - lost.length} of ${all.length} rows.`;
  const told = lost.map((each) => {
    const { row, own, less } = each;
    const isLess = less !== undefined;
    const best = less ?? each.peer;
    const figures = `${measured(best?.median ?? own, row.unit)}, here ${measured(own, row.unit)}`;
    return `*${named(each)}* to ${best?.name}${isLess ? ", which does less" : ""} (${figures})`;
  });
  return lost.length === 0 ? won : `${won} It loses ${told.join("; ")}.`;
}

/** A line for each row: envoi, the best of the others, and the best of those that do less. */
export function rivalsTable(peers: Peers): string {
  const cell = ({ row, own }: Compared, best: Best | undefined): string => {
    if (best === undefined) return NONE;
    const times = own > 0 && best.median > 0 ? `, ${digits(best.median / own)} times` : "";
    return `${best.name}: ${measured(best.median, row.unit)}${times}`;
  };
  return table(
    ["row", "envoi", "best other", "better, but does less"],
    peers.flatMap(compare).map((each) => {
      const isBehind = each.peer !== undefined && isAhead(each.row, each.peer.median, each.own);
      const peer = cell(each, each.peer);
      const name = each.row.isMoreBetter ? `${named(each)} (more is better)` : named(each);
      return [name, measured(each.own, each.row.unit), isBehind ? `**${peer}**` : peer, cell(each, each.less)];
    }),
  );
}

/** A table of some rows, with a column for each of some libraries of actors; a row that was not measured is left out. */
export function actorsTable(peers: Peers, names: readonly string[], rows: readonly string[]): string {
  const measuredRows = peers.find(({ room }) => room === "actors")?.rows ?? [];
  const told = ({ figures, unit }: PeerRow, name: string): string => {
    const figure = figures.find(({ peer }) => peer === name);
    if (figure === undefined || "none" in figure) return NONE;
    if ("median" in figure) return measured(figure.median, unit);
    if ("holds" in figure) return figure.holds ? "yes" : "**no**";
    return "says" in figure ? figure.says : "failed";
  };
  return table(
    ["", ...names],
    rows.flatMap((name) => {
      const row = measuredRows.find((each) => each.row === name);
      return row === undefined ? [] : [[name, ...names.map((each) => told(row, each))]];
    }),
  );
}

export const RIVALS = `*Times* is the other one's figure over envoi's. A library of actors *does less* where it does not keep one message at a time or does not let
timers fire. What each does and does not do, attacks included, and the floors are on [a page of their own](benchmarks/results/peers.md).`;
