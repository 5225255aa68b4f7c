import type { PeerFigure, PeerResults, PeerRow } from "../../../benchmarks/peers/results";
import { ONE_AT_A_TIME, YIELDS } from "../../../benchmarks/peers/standing";
import { result } from "../sample-result";

/** How a peer of a sample stands out: it overlaps messages, starves timers, or is a floor. */
export type Kind = "less" | "starves" | "floor";
type Medians = Readonly<Record<string, number>>;

export const peerRow = (row: string, medians: Medians): PeerRow => ({
  table: "time",
  row,
  unit: "ns",
  figures: Object.entries(medians).map(([peer, median]) => {
    return { peer, median, min: median / 2, samples: 90, rounds: [median / 2, median, median] };
  }),
});

/** The results of a room of actors, with one row unless there are others; all keep their promises unless a kind says otherwise. */
export function peerResult(
  medians: Medians,
  kinds: Readonly<Record<string, Kind>> = {},
  rows: readonly PeerRow[] = [peerRow("tell", medians)],
): PeerResults {
  const names = Object.keys(medians);
  const check = (row: string, broken: Kind): PeerRow => {
    const figures = names.map((peer): PeerFigure => ({ peer, holds: kinds[peer] !== broken }));
    return { table: "checks", row, unit: "", figures };
  };
  return {
    room: "actors",
    machine: result({}).machine,
    rounds: 3,
    peers: names.map((name) => {
      return { name, how: "in process", packages: [`${name} 1.2.3`], isFloor: kinds[name] === "floor" };
    }),
    rows: [...rows, check(ONE_AT_A_TIME, "less"), check(YIELDS, "starves")],
  };
}
