import { join, relative } from "node:path";
import type { Type } from "envoi";
import { type Described, parseJson } from "../harness/schema";
import type { Room } from "./room";

const root = join(import.meta.dir, "../..");

/** Where results are kept. */
export const RESULTS = join(root, "benchmarks/results");

const fileOf = (folder: string, room: Room): string => join(folder, `peers-${room}.json`);

/** Writes a room's results, with five digits of each figure, which is more than a run can tell. */
export async function keep(folder: string, room: Room, results: object): Promise<void> {
  await Bun.write(fileOf(folder, room), `${JSON.stringify(results, rounded, 2)}\n`);
}

/**
 * What was measured of a room last; undefined where nothing was.
 *
 * @throws Error when the file is not what the room writes.
 */
export async function kept<Schema extends Type.TSchema>(
  folder: string,
  room: Room,
  schema: Schema,
): Promise<Described<Schema> | undefined> {
  const path = fileOf(folder, room);
  const file = Bun.file(path);
  if (!(await file.exists())) return undefined;
  const wanted = `results of ${room}: run \`bun run bench:peers --only ${room}\` again, which writes them anew`;
  return parseJson(schema, await file.text(), relative(root, path), wanted);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
