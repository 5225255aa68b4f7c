import { digits, duration, table } from "../../harness/format";
import { hasFailed, type PeerRow, whereAndWhen } from "../results";
import type { FilePeerResult, FilePeerResults } from "./results";

const NONE = "–";

/** The part of RESULTS.md that is about files, from the results alone. */
export function renderFiles({ machine, rounds, seconds, peers }: FilePeerResults): string {
  const failures = new Set<string>();
  const cell = (figure: PeerRow["figure"]): string => {
    if (figure === null) return NONE;
    if (!hasFailed(figure)) return `${duration(figure.median)} (${duration(figure.min)})`;
    failures.add(figure.failed);
    return "failed";
  };
  const names = peers.map(({ name }) => name);
  const rows = (peers[0]?.rows ?? []).map(({ row }) => [
    row,
    ...peers.map((peer) => cell(peer.rows.find((each) => each.row === row)?.figure ?? null)),
  ]);
  const race = (peer: FilePeerResult): string[] => {
    if (hasFailed(peer.race)) {
      failures.add(peer.race.failed);
      return ["failed", NONE, NONE, NONE];
    }
    const { reads, escapes, inside } = peer.race;
    return [escapes, reads, inside, reads - escapes - inside].map((count) => count.toLocaleString("en"));
  };
  const pipe = ({ fifo }: FilePeerResult): string => {
    if (!hasFailed(fifo)) return fifo.answer;
    failures.add(fifo.failed);
    return "failed";
  };
  const parts = [
    "## Files",
    whereAndWhen(machine, rounds),
    peers.map(({ name, how, packages }) => `- **${name}**: ${[how, ...packages].join("; ")}.`).join("\n"),
    "### Time of an operation, median (and shortest)",
    table(["operation", ...names], rows),
    `### A directory on the path swapped for a link out of the root, for ${digits(seconds)} s; and a FIFO that is read`,
    table(
      ["", "reads that left the root", "of reads", "inside", "refused", "a FIFO"],
      peers.map((peer) => [peer.name, ...race(peer), pipe(peer)]),
    ),
  ];
  if (failures.size > 0) parts.push(`### What failed\n\n${[...failures].map((each) => `- ${each}`).join("\n")}`);
  return parts.join("\n\n");
}
