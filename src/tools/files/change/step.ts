import type { Pace } from "../pace";
import type { Changed } from "../requests/several";

/**
 * One of several changes. It is first staged. It is then checked with the write lock held, and placed in the same turn.
 * Until it is kept, it can be undone.
 */
export interface Step {
  /** The path for errors. */
  readonly given: string;
  /** The bytes it writes. Known once it was staged or tried. */
  readonly size: number;
  /** The bytes that the root gains, by the last check or `try`. */
  readonly more: number;
  /** The files that the root gains. */
  readonly moreFiles: number;
  /** The directories that it would make. */
  missing(): readonly string[];
  /** Makes all checks that need no change. */
  try(signal: AbortSignal, pace: Pace): Promise<Changed>;
  /** Does all long reads and writes, in the staging directory. */
  stage(signal: AbortSignal): Promise<void>;
  /** Flushes the staged file to the disk. */
  sync(): Promise<void>;
  /** True if it can be placed now; false if `prepare` must run first. */
  check(): boolean;
  /** Does the missing preparation, with the lock held. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Changes the name right after the check. False if `prepare` must run first. */
  place(): boolean;
  /** Takes the change back in the same turn. Returns 0 or a negated errno. */
  undo(): number;
  /** Called before a check in a later turn, since directories that are open may have been moved. */
  pause(): void;
  /** Makes the change final. */
  keep(): Changed;
  /** Flushes the directories on the way to the disk. */
  syncNames(): Promise<void>;
  /** Ends the step, and removes all traces unless it was kept. */
  end(): void;
}
