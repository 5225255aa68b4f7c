import { digits, table } from "../harness/format";
import { measured, NONE } from "../harness/tables";
import { told } from "../peers/page";
import type { PeerResults } from "../peers/results";
import { RESOLUTION, rivalsOf, type Standing, standingsOf } from "../peers/standing";

export type Peers = readonly PeerResults[];

/** Two digits: the rounds of peers lie further apart than the third one. */
const rough = (value: number, unit: string): string => measured(twoDigits(value), unit);
const twoDigits = (value: number): number => Number(value.toPrecision(2));

export function beside(peers: Peers): string {
  const all = peers.flatMap(standingsOf);
  const lost = all.flatMap(({ room, row, own, peer, isBehind, less, ahead }) => {
    const best = less ?? (isBehind ? peer : undefined);
    if (best === undefined) return [];
    const figures = `${rough(best.median, row.unit)}, here ${rough(own, row.unit)}`;
    const more = ahead.filter((name) => name !== best.peer);
    const also = more.length === 0 ? "" : `; better, too: ${more.join(", ")}`;
    return [`*${room}: ${row.row}* to ${best.peer}${less ? ", which does less" : ""} (${figures}${also})`];
  });
  const names = [...new Set(peers.flatMap(rivalsOf))].join(", ");
  const won = `Beside ${names}, envoi is the best or as good in ${all.length - lost.length} of ${all.length} rows.`;
  return lost.length === 0
    ? won
    : `${won} It loses ${lost.join("; ")}. Differences of less than ${digits(RESOLUTION * 100)} % count as none.`;
}

export function rivalsTable(peers: Peers): string {
  const cell = ({ row, own }: Standing, best: Standing["peer"]): string => {
    if (best === undefined) return NONE;
    const times = own > 0 && best.median > 0 ? `, ${digits(twoDigits(best.median / own))} times` : "";
    return `${best.peer}: ${rough(best.median, row.unit)}${times}`;
  };
  return table(
    ["row", "envoi", "best other", "better, but does less"],
    peers.flatMap(standingsOf).map((each) => {
      const { room, row, own, peer, isBehind, less } = each;
      const other = cell(each, peer);
      return [`${room}: ${row.row}`, rough(own, row.unit), isBehind ? `**${other}**` : other, cell(each, less)];
    }),
  );
}

export function actorsTable(peers: Peers, names: readonly string[], rows: readonly string[]): string {
  const all = peers.find(({ room }) => room === "actors")?.rows ?? [];
  return table(
    ["", ...names],
    rows.flatMap((name) => {
      const row = all.find((each) => each.row === name);
      return row === undefined ? [] : [[name, ...names.map((peer) => told(row, peer, true))]];
    }),
  );
}

export const RIVALS = `*Times* is the other one's figure over envoi's, before both are rounded. Compare along a row only: its candidates took turns, but rows were
measured one after the other, and which of two rows is less may be noise. Nor are these figures comparable with the tables above, whose harness is
another: here a whole system runs, among other things on its heap. A library of actors *does less* where it does not keep one message at a time or
does not let timers fire. Versions, and what each does and does not do, attacks included, are on [a page of their own](benchmarks/results/peers.md).
*fastq*, *promise* and *mailbox* stand there as floors: they are no rivals, but what one could do without a library of actors.`;
