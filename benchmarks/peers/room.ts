import { join } from "node:path";
import type { Failure } from "./results";

/** What envoi is measured beside peers at, in the order of the page. */
export const ROOMS = ["actors", "files", "code"] as const;
export type Room = (typeof ROOMS)[number];

/** Something that is measured. Its module in `subjects/ROOM/` exports `open`, which gives what the room calls. */
export interface Candidate {
  readonly name: string;
  readonly module: string;
  /** The packages that it is made of; none for envoi, and for floors. */
  readonly packages: readonly string[];
  readonly how: string;
}

/** What the measuring of a room is given. */
export interface RoomRun {
  readonly root: string;
  /** An empty one, removed at the end. */
  readonly folder: string;
  readonly rounds: number;
  /** How long each race for files lasts. */
  readonly seconds: number;
  /** Why the candidates' packages are not there, if they are not. */
  readonly missing: string | undefined;
  readonly say: (text: string) => void;
  readonly failure: (candidate: Candidate, what: string, reason: unknown) => Failure;
}

/** The candidates that were not installed, with the reason. */
export function notInstalled<Named extends Candidate>(
  { missing, failure }: RoomRun,
  candidates: readonly Named[],
): Map<Named, Failure> {
  const gone = new Map<Named, Failure>();
  if (missing === undefined) return gone;
  for (const candidate of candidates) {
    if (candidate.packages.length > 0) gone.set(candidate, failure(candidate, "was not installed", missing));
  }
  return gone;
}

/** A candidate's packages with their versions. */
export const versionsOf = ({ packages }: Candidate): Promise<string[]> =>
  Promise.all(
    packages.map(async (name) => {
      const file = Bun.file(join(import.meta.dir, "node_modules", name, "package.json"));
      if (!(await file.exists())) return `${name} (not installed)`;
      const { version } = (await file.json()) as { version: string }; // As every package has it.
      return `${name} ${version}`;
    }),
  );

/** Opens the module of a candidate. */
export async function openSubject<Peer>(room: Room, { module }: Candidate, ...args: readonly string[]): Promise<Peer> {
  // Not known to the compiler: the packages behind it are installed where they are measured, and nowhere else.
  const loaded = (await import(join(import.meta.dir, "subjects", room, module))) as {
    open: (...args: readonly string[]) => Promise<Peer>; // Every module of a room exports it.
  };
  return loaded.open(...args);
}

/** The candidate of a name. */
export function named<Named extends Candidate>(candidates: readonly Named[], name: string): Named {
  const found = candidates.find((each) => each.name === name);
  if (found === undefined)
    throw new Error(`There is no ${name}; there are ${candidates.map((c) => c.name).join(", ")}.`);
  return found;
}
