import { join, relative } from "node:path";
import { Type } from "envoi";
import { UsageError } from "../harness/arguments";
import { jsonText } from "../harness/format";
import { machineSchema } from "../harness/machine";
import { writeWhole } from "../harness/places";
import { type Described, parseJson } from "../harness/schema";

/** The rooms in which envoi is measured beside peers, in the order of the page. */
export const ROOMS = ["actors", "files", "code", "http", "acp"] as const;
export type RoomName = (typeof ROOMS)[number];

const peer = Type.String();
const figure = Type.Union([
  Type.Object({
    peer,
    median: Type.Number({ description: "Of the samples of all rounds." }),
    min: Type.Optional(Type.Number({ description: "The lowest sample." })),
    samples: Type.Optional(Type.Number()),
    rounds: Type.Optional(Type.Array(Type.Number(), { description: "The median of each round of all in turn." })),
    note: Type.Optional(Type.String({ description: "What is to be said beside the figure." })),
  }),
  Type.Object({ peer, holds: Type.Boolean({ description: "Whether it does what the row says." }) }),
  Type.Object({ peer, says: Type.String({ description: "What came of it instead of a figure." }) }),
  Type.Object({ peer, failed: Type.String({ description: "It could not be installed, started, or do its work." }) }),
  Type.Object({ peer, none: Type.String({ description: "Why it has nothing of the kind." }) }),
]);
export type PeerFigure = Described<typeof figure>;

type WithoutPeer<Figure> = Figure extends unknown ? Omit<Figure, "peer"> : never;
export type Outcome = WithoutPeer<PeerFigure>;

const row = Type.Object({
  table: Type.String({
    description: "The table that the row stands in; `time` has what is compared, the least first.",
  }),
  row: Type.String(),
  unit: Type.Enum(["ns", "B", ""]),
  figures: Type.Array(figure),
});
export type PeerRow = Described<typeof row>;

/** The measurements of envoi and its peers in one room, as `benchmarks/results/peers-ROOM.json` keeps them. */
export const peerResults = Type.Object({
  room: Type.Enum([...ROOMS]),
  machine: machineSchema,
  rounds: Type.Number({ description: "Rounds of all peers in turn." }),
  peers: Type.Array(
    Type.Object({
      name: Type.String(),
      how: Type.String({ description: "What is called of it, and what it lacks that no row shows." }),
      packages: Type.Array(Type.String(), { description: "Each with its version." }),
      isFloor: Type.Boolean({ description: "No library, but what one could do without." }),
    }),
  ),
  rows: Type.Array(row),
});
/** The results of envoi and of others, measured beside each other. */
export type PeerResults = Described<typeof peerResults>;

const root = join(import.meta.dir, "../..");
export const RESULTS = join(root, "benchmarks/results");
const fileOf = (folder: string, room: RoomName): string => join(folder, `peers-${room}.json`);

export const keep = (folder: string, all: readonly PeerResults[]): Promise<void> =>
  writeWhole(all.map((results) => [fileOf(folder, results.room), jsonText(results)]));

export async function readPeers(folder: string = RESULTS): Promise<PeerResults[]> {
  const read = ROOMS.map(async (room) => {
    const path = fileOf(folder, room);
    if (!(await Bun.file(path).exists())) return [];
    const wanted = `results of ${room}: run \`bun run bench:peers --only ${room}\` again, which writes them anew`;
    const results = parseJson(peerResults, await Bun.file(path).text(), relative(root, path), wanted);
    if (results.room !== room)
      throw new UsageError(`${relative(root, path)} is of ${results.room}; it should be ${wanted}.`);
    return [results];
  });
  return (await Promise.all(read)).flat();
}
