import { type Comparison, peersPicture, type Rank } from "./peers";
import type { Picture } from "./picture";

/** What is known of a system that was measured beside others. */
interface Peer {
  readonly name: string;
  readonly keepsOneAtATime?: boolean;
  readonly yieldsToTimers?: boolean;
}

/** Times of each system by its rows, in nanoseconds; null, or no median, where it has none. */
interface PeerWithRows extends Peer {
  readonly rows: readonly {
    readonly row: string;
    readonly figure: { readonly median: number } | { readonly failed: string } | null;
  }[];
}

/** Rows that each have the figures of all systems. */
interface SharedRow {
  readonly row: string;
  readonly unit: string;
  readonly isMoreBetter: boolean;
  readonly figures: readonly ({ readonly peer: string } & (
    | { readonly median: number }
    | { readonly failed: string }
    | { readonly none: string }
  ))[];
}

/** The tools of one room beside each other; envoi is the first in its results, and decides which rows there are. */
export function toolsPicture(room: string, peers: readonly PeerWithRows[]): Picture | undefined {
  const names = new Set(peers.flatMap(({ rows }) => rows.map(({ row }) => row)));
  const rows = [...names].map((row): Comparison => {
    const figures = peers.flatMap((peer) => {
      const figure = peer.rows.find((each) => each.row === row)?.figure;
      return figure && "median" in figure ? [{ name: peer.name, value: figure.median }] : [];
    });
    return { row, unit: "ns", isMoreBetter: false, figures };
  });
  return roomPicture(room, peers, rows);
}

/** Libraries of actors beside each other. */
export function actorsPicture(peers: readonly Peer[], rows: readonly SharedRow[]): Picture | undefined {
  const compared = rows.map(({ row, unit, isMoreBetter, figures }): Comparison => {
    const read = figures.flatMap((figure) => ("median" in figure ? [{ name: figure.peer, value: figure.median }] : []));
    return { row, unit, isMoreBetter, figures: read };
  });
  return roomPicture("actors", peers, compared);
}

function roomPicture(room: string, peers: readonly Peer[], rows: readonly Comparison[]): Picture | undefined {
  const rankOf = (name: string): Rank => {
    if (name === "envoi") return "own";
    const peer = peers.find((each) => each.name === name);
    return peer?.keepsOneAtATime === false || peer?.yieldsToTimers === false ? "less" : "peer";
  };
  const others = peers.map(({ name }) => name).filter((name) => name !== "envoi");
  return peersPicture(
    `peers-${room}`,
    `${room}: envoi beside ${others.join(", ")}, row by row, the best first`,
    rows,
    rankOf,
  );
}
