import { join, relative } from "node:path";
import { Type } from "envoi";
import { jsonText } from "../harness/format";
import { machineSchema } from "../harness/machine";
import { type Described, parseJson } from "../harness/schema";

/** What envoi is measured beside peers at, in the order of the page. */
export const ROOMS = ["actors", "files", "code"] as const;
export type Room = (typeof ROOMS)[number];

const peer = Type.String();
const figure = Type.Union([
  Type.Object({
    peer,
    median: Type.Number({ description: "Of the samples of all rounds." }),
    min: Type.Optional(Type.Number({ description: "The lowest sample; of memory, what there was before." })),
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

const row = Type.Object({
  table: Type.String({ description: "The table that the row stands in; `time` has what is compared." }),
  row: Type.String(),
  unit: Type.Union([Type.Literal("ns"), Type.Literal("ms"), Type.Literal("B"), Type.Literal("")]),
  isMoreBetter: Type.Boolean(),
  figures: Type.Array(figure),
});
export type PeerRow = Described<typeof row>;

const candidate = Type.Object({
  name: Type.String(),
  how: Type.String(),
  packages: Type.Array(Type.String(), { description: "Each with its version." }),
  isFloor: Type.Boolean({ description: "No library, but what one could do without." }),
  lacks: Type.Array(Type.String(), { description: "What it does not do." }),
});
export type PeerResult = Described<typeof candidate>;

/** What was measured of envoi and its peers in one room, as `benchmarks/results/peers-ROOM.json` keeps it. */
export const peerResults = Type.Object({
  room: Type.Union([Type.Literal("actors"), Type.Literal("files"), Type.Literal("code")]),
  machine: machineSchema,
  rounds: Type.Number({ description: "Rounds of all candidates in turn." }),
  peers: Type.Array(candidate),
  rows: Type.Array(row),
});
/** The results of envoi and of others, measured beside each other. */
export type PeerResults = Described<typeof peerResults>;

const root = join(import.meta.dir, "../..");
/** Where results are kept. */
export const RESULTS = join(root, "benchmarks/results");
const fileOf = (folder: string, room: Room): string => join(folder, `peers-${room}.json`);

/** Writes a room's results. */
export async function keep(folder: string, results: PeerResults): Promise<void> {
  await Bun.write(fileOf(folder, results.room), jsonText(results));
}

/**
 * What was measured last, room by room.
 *
 * @throws Error when a file is not what the room writes.
 */
export async function readPeers(folder: string = RESULTS): Promise<PeerResults[]> {
  const read = ROOMS.map(async (room) => {
    const path = fileOf(folder, room);
    const file = Bun.file(path);
    if (!(await file.exists())) return [];
    const wanted = `results of ${room}: run \`bun run bench:peers --only ${room}\` again, which writes them anew`;
    return [parseJson(peerResults, await file.text(), relative(root, path), wanted)];
  });
  return (await Promise.all(read)).flat();
}
