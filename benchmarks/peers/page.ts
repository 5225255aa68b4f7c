import { digits, table } from "../harness/format";
import { revisionOf } from "../harness/machine";
import { measured, NONE } from "../harness/tables";
import type { PeerResults, PeerRow, RoomName } from "./results";
import { AIM, keepsPromises, rivalsOf, timesFloor } from "./standing";

const HEAD = `# Beside other libraries and tools

Written by \`bun run bench:peers\` from \`benchmarks/results/peers-*.json\`; no figure here is typed by hand. What is measured, and how,
is in [benchmarks/peers/README.md](../peers/README.md).`;

const TABLES: Readonly<Record<string, string>> = {
  time: "Median (and shortest); ns, µs and ms are for one operation",
  checks: "What each does, as found in this run",
  race: "A directory on the path swapped for a link out of the root while a file in it is read; and a FIFO",
  ended: "Attacks: ended after, where 500 ms and 64 MB were the limits",
  gap: "Attacks: the longest time that a 5 ms timer of the host did not fire",
};

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

export const renderPeers = (all: readonly PeerResults[], picture: (room: RoomName) => string = () => ""): string =>
  `${[HEAD, ...all.map((results) => roomPart(results, picture(results.room)))].join("\n\n")}\n`;

function roomPart(results: PeerResults, picture: string): string {
  const { room, machine, rounds, peers, rows } = results;
  const { cpu, cores, system, bun, date } = machine;
  const names = peers.map(({ name, isFloor }) => (isFloor ? `*${name}*` : name));
  const tables = Object.entries(Object.groupBy(rows, (row) => row.table)).map(([name, group = []]) => {
    const lines = group.map((row) => [row.row, ...peers.map((peer) => told(row, peer.name))]);
    return `### ${TABLES[name] ?? name}\n\n${table(["", ...names], lines)}`;
  });
  const absent = absentIn(rows);
  return [
    `## ${room.replace(/^./, (letter) => letter.toUpperCase())}`,
    `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(machine)}; ${date}; ${rounds} rounds of all in turn.`,
    list(
      peers.map(
        ({ name, how, packages, isFloor }) =>
          `**${name}**${isFloor ? ", a floor" : ""}: ${[how, ...packages].join("; ")}.`,
      ),
    ),
    picture,
    ...tables,
    rows.some(({ table }) => table === "checks") ? standing(results) : "",
    absent.length === 0 ? "" : `### What has no figure\n\n${list(absent)}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

export function told({ figures, unit }: PeerRow, name: string, isShort = false): string {
  const figure = figures.find(({ peer }) => peer === name);
  if (figure === undefined || "none" in figure) return NONE;
  if ("holds" in figure) return figure.holds ? "yes" : "**no**";
  if ("says" in figure) return figure.says;
  if ("failed" in figure) return "failed";
  const { median, min, note } = figure;
  const say = (value: number) => (unit === "" ? value.toLocaleString("en") : measured(value, unit));
  const least = min === undefined || unit !== "ns" || isShort ? "" : ` (${say(min)})`;
  return `${say(median)}${least}${note === undefined ? "" : `, ${note}`}`;
}

function absentIn(rows: readonly PeerRow[]): string[] {
  const reasons = new Map<string, string[]>();
  for (const { row, figures } of rows) {
    for (const figure of figures) {
      if ("failed" in figure) reasons.set(`${figure.failed}.`, []);
      if (!("none" in figure)) continue;
      const about = `${figure.peer} (${figure.none}): no `;
      reasons.set(about, [...(reasons.get(about) ?? []), `*${row}*`]);
    }
  }
  return [...reasons].map(([about, of]) => (of.length === 0 ? about : `${about}${of.join(", ")}.`));
}

function standing(results: PeerResults): string {
  const among = rivalsOf(results).filter((name) => keepsPromises(results, name));
  const times = results.rows.flatMap((row) => {
    const ratio = timesFloor(row);
    return ratio === undefined ? [] : [`${row.row} ${ratio > AIM ? `**${digits(ratio)}**` : digits(ratio)}`];
  });
  return `### How envoi stands

It is compared with those that keep one message at a time and let timers fire: ${among.join(", ")}.

Times the bare mailbox, which promises nothing; at most ${AIM} are aimed at, and more are bold: ${times.join("; ")}.`;
}
