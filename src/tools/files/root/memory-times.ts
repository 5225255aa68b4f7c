import type { Clock } from "../../../index";
import type { VolumeStats } from "./volume";

interface Times {
  /** What the volume says, which tells whether somebody else has changed the file. */
  readonly theirs: string;
  readonly modified: number;
  readonly changed: number;
}

/** The times of files in memory by the actor's clock, so that a simulation repeats itself: a volume has the machine's. */
export class MemoryTimes {
  readonly #clock: Clock;
  readonly #started: number;
  readonly #times = new Map<number, Times>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#started = clock.wallTime();
  }

  /** Those of a file: of one that nobody has changed since the start, the start. */
  of(found: VolumeStats): Pick<Times, "modified" | "changed"> {
    const known = this.#times.get(found.ino);
    if (known?.theirs === theirs(found)) return known;
    if (known !== undefined) return this.note(found, true); // Somebody has changed it who is not this actor.
    const times = { theirs: theirs(found), modified: this.#started, changed: this.#started };
    this.#times.set(found.ino, times);
    return times;
  }

  /** Notes that a file was changed just now; `isContent` unless only its name or its rights were. */
  note(found: VolumeStats, isContent: boolean): Times {
    const now = this.#clock.wallTime();
    const before = this.#times.get(found.ino);
    // Two changes never have the same time, though a clock may stand still.
    const changed = Math.max(now, (before?.changed ?? 0) + 0.001);
    const modified = isContent ? now : (before?.modified ?? this.#started);
    const times = { theirs: theirs(found), modified, changed };
    this.#times.set(found.ino, times);
    return times;
  }
}

const theirs = ({ mtimeMs, ctimeMs, size }: VolumeStats): string => `${mtimeMs} ${ctimeMs} ${size}`;
