import { actors } from "./actors/rows";
import { code } from "./code";
import { files } from "./files";
import type { Room } from "./results";
import type { Definition } from "./room";

/** What is measured in each room. Its peers are its own, so nobody else calls them. */
export const definitions = { actors, files, code } as unknown as Readonly<Record<Room, Definition<unknown>>>;
