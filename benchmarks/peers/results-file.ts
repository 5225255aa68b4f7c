import { join, relative } from "node:path";
import type { Static, TSchema } from "typebox";
import { Compile, Errors } from "typebox/schema";
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
export async function kept<Schema extends TSchema>(
  folder: string,
  room: Room,
  schema: Schema,
): Promise<Static<Schema> | undefined> {
  const file = Bun.file(fileOf(folder, room));
  if (!(await file.exists())) return undefined;
  const refuse = (reason: string): Error => {
    const again = `run \`bun run bench:peers --only ${room}\` again`;
    return new Error(`${relative(root, fileOf(folder, room))} does not hold results of ${room} (${reason}); ${again}.`);
  };
  let value: unknown;
  try {
    value = JSON.parse(await file.text());
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
  if (Compile(schema).Check(value)) return value as Static<Schema>; // As was just checked.
  const [, errors] = Errors(schema, value);
  throw refuse(errors.map(({ instancePath, message }) => `${instancePath || "/"} ${message}`)[0] ?? "another shape");
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
