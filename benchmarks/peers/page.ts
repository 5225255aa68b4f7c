import { digits, duration, table } from "../harness/format";
import { renderCode } from "./code/page";
import type { CodePeerResults } from "./code/results";
import { hasFailed, type PeerResult, type PeerResults, type PeerRow } from "./results";

const NONE = "–";

const HEAD = `# Beside other tools

Written by \`bun run bench:peers\` from \`benchmarks/results/peers-*.json\`; no figure here is typed by hand. What is measured, and how,
is in [README.md](README.md).`;

/** The whole of RESULTS.md, from the results alone. */
export function renderPeers(files: PeerResults, code: CodePeerResults): string {
  return `${[HEAD, renderFiles(files), renderCode(code)].join("\n\n")}\n`;
}

function renderFiles({ machine, rounds, seconds, peers }: PeerResults): string {
  const { cpu, cores, system, bun, commit, date } = machine;
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
  const race = (peer: PeerResult): string[] => {
    if (hasFailed(peer.race)) {
      failures.add(peer.race.failed);
      return ["failed", NONE, NONE, NONE];
    }
    const { reads, escapes, inside } = peer.race;
    return [escapes, reads, inside, reads - escapes - inside].map((count) => count.toLocaleString("en"));
  };
  const pipe = ({ fifo }: PeerResult): string => {
    if (!hasFailed(fifo)) return fifo.answer;
    failures.add(fifo.failed);
    return "failed";
  };
  const parts = [
    "## Files",
    `${cpu}, ${cores} cores, ${system}; Bun ${bun}; commit ${commit}; ${date}; ${rounds} rounds of all in turn.`,
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
