import type { Changed } from "../requests/several";

/**
 * One of several changes. It is staged, checked with the write lock held, and placed in the same turn as it was checked; until it
 * is kept, it can be undone.
 */
export interface Step {
  /** The path for what is refused. */
  readonly given: string;
  /** How many bytes it writes, once it was staged or tried. */
  readonly size: number;
  /** How many bytes more the root has with it, by the last check, or once it was tried. */
  readonly more: number;
  /** The same of files. */
  readonly moreFiles: number;
  /** The directories that it would make. */
  missing(): readonly string[];
  /** Checks all that can be without a change. */
  try(signal: AbortSignal): Promise<Changed>;
  /** Reads and writes all that takes long, where nobody looks. */
  stage(signal: AbortSignal): Promise<void>;
  /** Brings what is staged to the disk. */
  sync(): Promise<void>;
  /** Whether it can be placed now; false where `prepare` has to do something first. */
  check(): boolean;
  /** Does what was missing, with the lock held. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Changes the name, right after the check; false where `prepare` has to do something first. */
  place(): boolean;
  /** Takes it back, in the same turn; 0 or a negated errno. */
  undo(): number;
  /** Lets go of directories, whose paths are looked up again by the next check. */
  leave(): void;
  /** Lets it stay. */
  keep(): Changed;
  /** Brings the names on the way to the disk. */
  syncNames(): Promise<void>;
  /** Ends without a trace of what was not kept. */
  end(): void;
}
