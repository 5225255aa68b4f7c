/**
 * The process of one candidate, which its parent drives by messages: `host.ts ROOM NAME FOLDER measure`; or which does one
 * thing and tells it: `host.ts ROOM NAME FOLDER read READING`, `host.ts ROOM NAME FOLDER TRIAL ARGUMENT`.
 */
import { definitions } from "./definitions";
import type { Room } from "./results";
import { type Definition, openPeer, type Told } from "./room";
import { PreparedWork } from "./sampler";

const begun = performance.now();

/** What the parent asks of a process that measures. */
export interface Turn {
  readonly row: string;
  /** How long, in milliseconds. */
  readonly time: number;
  /** How many samples at least. */
  readonly fewest: number;
}

const tell = (told: Told): void => {
  process.send?.(told);
};

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

function serve(definition: Definition<unknown>, peer: unknown, root: string): void {
  const ready = new Map<string, PreparedWork>();
  const measure = async ({ row, time, fewest }: Turn): Promise<void> => {
    let prepared = ready.get(row);
    if (prepared === undefined) {
      const timed = definition.timed.find((each) => each.row === row);
      if (timed === undefined) throw new Error(`There is no row "${row}".`);
      const work = await (definition.own?.(peer, row) ?? timed.prepare(peer, root));
      prepared = new PreparedWork(work, timed.operations, (done) => timed.verify?.(root, done));
      if (timed.inSequence) await prepared.fit(timed.operations ?? 1, time);
      ready.set(row, prepared);
    }
    tell({ kind: "samples", nanoseconds: await prepared.samples(time, fewest) });
  };
  process.on("message", (turn: Turn) => {
    measure(turn).catch((thrown) => tell({ kind: "failed", reason: reasonOf(thrown) }));
  });
  const rows = definition.timed.filter(({ isOf }) => isOf?.(peer) !== false).map(({ row }) => row);
  tell({ kind: "opened", rows });
}

const [room = "actors", name = "", root = "", mode = "", argument = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit(0)); // Nobody is there to tell.
try {
  const definition = definitions[room as Room]; // Its parent names no other.
  const peer = await openPeer(definition, name, root);
  if (mode === "measure") serve(definition, peer, root);
  else if (mode === "read") {
    const reading = definition.readings.find((each) => each.name === argument);
    tell({ kind: "read", readings: (await reading?.read(peer, begun)) ?? {} });
  } else await definition.trials[mode]?.(peer, { root, argument, tell });
} catch (thrown) {
  tell({ kind: "failed", reason: reasonOf(thrown) });
}
setInterval(() => {}, 60_000); // Its parent ends it.
