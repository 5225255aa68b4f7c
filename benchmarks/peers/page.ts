import { digits, duration, table } from "../harness/format";
import { revisionOf } from "../harness/machine";
import { measured, NONE } from "../harness/tables";
import type { PeerFigure, PeerResults, PeerRow, Room } from "./results";
import { keepsPromises, MOST, missed, rivalsOf, timesFloor } from "./standing";

const HEAD = `# Beside other libraries and tools

Written by \`bun run bench:peers\` from \`benchmarks/results/peers-*.json\`; no figure here is typed by hand. What is measured, and how,
is in [benchmarks/peers/README.md](../peers/README.md).`;

const TITLES: Readonly<Record<Room, string>> = { actors: "Actors", files: "Files", code: "Code" };

const TABLES: Readonly<Record<string, string>> = {
  time: "Median (and shortest); ns, µs and ms are for one operation",
  checks: "What each does, as found in this run",
  race: "A directory on the path swapped for a link out of the root while a file in it is read; and a FIFO",
  ended: "Attacks: ended after, where 500 ms and 64 MB were the limits",
  gap: "Attacks: the longest time that a 5 ms timer of the host did not fire",
  memory: "Attacks: most memory of the host and its processes together (and before)",
  next: "Attacks: afterwards, the next trivial run",
};

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

/** The page of peers, from the results alone; `picture` gives the picture of a room. */
export const renderPeers = (all: readonly PeerResults[], picture: (room: Room) => string = () => ""): string =>
  `${[HEAD, ...all.map((results) => roomPart(results, picture(results.room)))].join("\n\n")}\n`;

function roomPart(results: PeerResults, picture: string): string {
  const { room, machine, rounds, peers, rows } = results;
  const { cpu, cores, system, bun, date } = machine;
  const notes = new Map<string, string[]>();
  const note = (about: string, of: string): void => {
    const noted = notes.get(about) ?? [];
    if (!noted.includes(of)) notes.set(about, [...noted, of]);
  };
  const cell = (row: PeerRow, name: string): string => {
    const figure = row.figures.find(({ peer }) => peer === name);
    if (figure === undefined) return NONE;
    if ("failed" in figure) note(figure.failed, "");
    if ("none" in figure) note(`${name} (${figure.none})`, `*${row.row}*`);
    return told(figure, row.unit);
  };
  const names = peers.map(({ name, isFloor }) => (isFloor ? `*${name}*` : name));
  const tables = Object.entries(Object.groupBy(rows, (row) => row.table)).map(([name, [...group] = []]) => {
    const lines = group.map((row) => [
      row.isMoreBetter && row.unit === "" && name === "time" ? `${row.row} (more is better)` : row.row,
      ...peers.map((peer) => cell(row, peer.name)),
    ]);
    return `### ${TABLES[name] ?? name}\n\n${table(["", ...names], lines)}`;
  });
  const lacks = peers.filter((peer) => peer.lacks.length > 0);
  const absent = [...notes].map(([about, of]) => (of[0] === "" ? `${about}.` : `${about}: no ${of.join(", ")}.`));
  return [
    `## ${TITLES[room]}`,
    `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(machine)}; ${date}; ${rounds} rounds of all in turn.`,
    list(
      peers.map(({ name, how, packages, isFloor }) => {
        const kind = isFloor ? ", a floor" : "";
        return `**${name}**${kind}: ${[how, ...packages].join("; ")}.`;
      }),
    ),
    picture,
    ...tables,
    lacks.length === 0
      ? ""
      : `### What each does not do\n\n${list(lacks.map((peer) => `**${peer.name}**: ${peer.lacks.join("; ")}.`))}`,
    room === "actors" ? standing(results) : "",
    absent.length === 0 ? "" : `### What has no figure\n\n${list(absent)}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function told(figure: PeerFigure, unit: PeerRow["unit"]): string {
  if ("holds" in figure) return figure.holds ? "yes" : "**no**";
  if ("says" in figure) return figure.says;
  if ("failed" in figure) return "failed";
  if ("none" in figure) return NONE;
  const text = unit === "" ? figure.median.toLocaleString("en") : say(figure.median, unit);
  const min =
    figure.min === undefined || (unit !== "ns" && figure.samples !== undefined) ? "" : ` (${say(figure.min, unit)})`;
  return `${text}${min}${figure.note === undefined ? "" : `, ${figure.note}`}`;
}

const say = (value: number, unit: string): string =>
  unit === "B" && value >= 1e6
    ? `${digits(value / 1e6)} MB`
    : unit === "ms"
      ? duration(value * 1e6)
      : measured(value, unit);

function standing(results: PeerResults): string {
  const among = rivalsOf(results).filter((name) => keepsPromises(results, name));
  const times = results.rows.flatMap((row) => {
    const ratio = timesFloor(row);
    return ratio === undefined ? [] : [`${row.row} ${digits(ratio)}`];
  });
  const misses = missed(results);
  return [
    "### How envoi stands",
    `It is compared with those that keep one message at a time and let timers fire: ${among.join(", ")}. ${misses.length === 0 ? "It is first in each row." : ""}`.trim(),
    `Times the bare mailbox, which promises nothing, where at most ${MOST} are aimed at: ${times.join("; ")}.`,
    ...(misses.length === 0 ? [] : [list(misses)]),
  ].join("\n\n");
}
