import type { Clock } from "../../../index";
import type { EntryKind, Status } from "./root";
import type { VolumeStats } from "./volume";

interface Times {
  /** The volume's own times and size. A difference means that another program changed the file. */
  readonly theirs: string;
  readonly modified: number;
  readonly changed: number;
}

/**
 * The times of files in memory, by the actor's clock: a volume has the machine's, and a simulation would not be
 * repeatable.
 */
export class MemoryTimes {
  readonly #clock: Clock;
  readonly #started: number;
  readonly #times = new Map<number, Times>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#started = clock.wallTime();
  }

  /** Writes what is known of a file into a status. */
  fill(into: Status, from: VolumeStats): void {
    const { modified, changed } = this.of(from);
    into.kind = kindOf(from);
    into.mode = from.mode & 0o7777;
    into.links = from.nlink;
    into.size = from.size;
    into.inode = from.ino;
    into.device = 0;
    into.modified = modified;
    into.changed = changed;
  }

  /** The times of a file. A file unchanged since the start has the time of the start. */
  of(found: VolumeStats): Pick<Times, "modified" | "changed"> {
    const known = this.#times.get(found.ino);
    if (known?.theirs === theirs(found)) return known;
    if (known !== undefined) return this.note(found, true); // Changed by another program, not by this actor.
    const times = { theirs: theirs(found), modified: this.#started, changed: this.#started };
    this.#times.set(found.ino, times);
    return times;
  }

  /** Notes that a file was changed just now. `isContent` is false if only its name or its rights changed. */
  note(found: VolumeStats, isContent: boolean): Times {
    const now = this.#clock.wallTime();
    const before = this.#times.get(found.ino);
    // Two changes never get the same time, even while the clock stands still.
    const changed = Math.max(now, (before?.changed ?? 0) + 0.001);
    const modified = isContent ? now : (before?.modified ?? this.#started);
    const times = { theirs: theirs(found), modified, changed };
    this.#times.set(found.ino, times);
    return times;
  }
}

const theirs = ({ mtimeMs, ctimeMs, size }: VolumeStats): string => `${mtimeMs} ${ctimeMs} ${size}`;

export function kindOf(stats: VolumeStats): EntryKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "other";
}
