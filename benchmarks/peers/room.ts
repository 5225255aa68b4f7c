import { join } from "node:path";
import type { PeerRow, Room } from "./results";

/** Something that is measured. Its module in `subjects/ROOM/` exports `open`, which gives what the room calls. */
export interface Candidate {
  readonly name: string;
  readonly module: string;
  /** The packages that it is made of; none for envoi, and for floors. */
  readonly packages: readonly string[];
  readonly how: string;
  /** Whether it is no library, but what one could do without. Default: false. */
  readonly isFloor?: boolean;
  /** Rows that it does not have, with the reason. */
  readonly without?: Readonly<Record<string, string>>;
  /** What it lacks that no check can show. */
  readonly said?: readonly string[];
}

/** Does work `count` times, and tells how many of them are complete. */
export type Work = (count: number) => number | Promise<number>;

/** Work that is timed, in nanoseconds an operation. */
export interface TimedRow<Peer> {
  readonly row: string;
  /** How many operations a sample has; of those in sequence, the most. Default: 1. */
  readonly operations?: number;
  /**
   * Whether they come one after the other, so that their number changes nothing but how often the clock is read: they are as many as
   * take a while. Default: false.
   */
  readonly inSequence?: boolean;
  /** Whether a candidate has it; all of them unless this says otherwise. */
  readonly isOf?: (peer: Peer) => boolean;
  /** Makes what it works on, in a folder of the candidate's own. */
  readonly prepare: (peer: Peer, root: string) => Work | Promise<Work>;
  /** Looks at what is there after `done` operations, and throws unless it is as it should be. */
  readonly verify?: (root: string, done: number) => void;
}

/** Figures that are read in a process of their own, once a round. */
export interface Reading<Peer> {
  readonly name: string;
  readonly rows: readonly (Pick<PeerRow, "row" | "unit" | "isMoreBetter"> & { readonly figure: string })[];
  /** @param begun When the process began, by `performance.now()`. */
  readonly read: (peer: Peer, begun: number) => Promise<Readonly<Record<string, number>>>;
}

/** What a process of a candidate tells its parent. */
export type Told =
  | { readonly kind: "opened"; readonly rows: readonly string[] }
  /** Nanoseconds an operation, of each sample. */
  | { readonly kind: "samples"; readonly nanoseconds: readonly number[] }
  | { readonly kind: "read"; readonly readings: Readonly<Record<string, number>> }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "started" }
  /** The longest time so far, in milliseconds, that a 5 ms timer did not fire. */
  | { readonly kind: "beat"; readonly gap: number }
  /** What came of a trial. */
  | { readonly kind: "ended"; readonly readings: Readonly<Record<string, number>>; readonly words: string };

/** Something that is tried on a candidate in a process of its own. */
export type Trial<Peer> = (
  peer: Peer,
  around: { readonly root: string; readonly argument: string; readonly tell: (told: Told) => void },
) => Promise<void>;

/** What is measured in a room. */
export interface Definition<Peer> {
  readonly room: Room;
  readonly candidates: readonly Candidate[];
  readonly timed: readonly TimedRow<Peer>[];
  readonly readings: readonly Reading<Peer>[];
  readonly trials: Readonly<Record<string, Trial<Peer>>>;
  /** Work that a peer does in a way of its own. */
  readonly own?: (peer: Peer, row: string) => Work | Promise<Work> | undefined;
}

/** What the command asks for. */
export interface Asked {
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

export interface Failure {
  readonly failed: string;
}

/** A run of one room. */
export interface RoomRun extends Asked {
  readonly room: Room;
  readonly candidates: readonly Candidate[];
  /** Those that are not there, with the reason. */
  readonly gone: Map<Candidate, Failure>;
  /** What was read of `NAME: READING`, by its figures, of each round. */
  readonly readings: Map<string, Record<string, number[]>>;
}

/** Opens a candidate over a folder of its own; what keeps it from starting is thrown. */
export async function openPeer<Peer>({ room, candidates }: Definition<Peer>, name: string, root = ""): Promise<Peer> {
  const candidate = candidates.find((each) => each.name === name);
  if (candidate === undefined)
    throw new Error(`There is no ${name}; there are ${candidates.map((each) => each.name).join(", ")}.`);
  // Not known to the compiler: the packages behind it are installed where they are measured, and nowhere else.
  const loaded = (await import(join(import.meta.dir, "subjects", room, candidate.module))) as {
    open: (root: string) => Promise<Peer>; // Every module of a room exports it.
  };
  return loaded.open(root);
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
