import { join } from "node:path";
import { acp } from "./acp";
import { actors } from "./actors/rows";
import { code } from "./code";
import { files } from "./files";
import { http } from "./http";
import type { RoomName } from "./results";
import type { Candidate, Room } from "./room";

/** The tasks and the candidates of each room. Only a room's own tasks call its peers. */
export const rooms = { actors, files, code, http, acp } as unknown as Readonly<Record<RoomName, Room<unknown>>>;

/** Opens a candidate over a folder of its own: `AI SDK` is in `subjects/code/ai-sdk.ts`. Throws if it cannot start. */
export async function openPeer(room: RoomName, name: string, root = ""): Promise<unknown> {
  const file = name.toLowerCase().replace(/\W+/g, "-");
  // Not known to the compiler: the packages behind it are installed where they are measured, and nowhere else.
  const loaded = (await import(join(import.meta.dir, "subjects", room, `${file}.ts`))) as {
    open: (root: string) => unknown; // Every module of a room exports it.
  };
  return loaded.open(root);
}

export const versionsOf = ({ packages = [] }: Candidate): Promise<string[]> =>
  Promise.all(
    packages.map(async (name) => {
      const file = Bun.file(join(import.meta.dir, "node_modules", name, "package.json"));
      if (!(await file.exists())) return `${name} (not installed)`;
      const { version } = (await file.json()) as { version: string }; // As every package has it.
      return `${name} ${version}`;
    }),
  );
