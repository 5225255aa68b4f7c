import type { Clock } from "../../index";
import type { HeaderLine } from "../format";

/** When a recording goes on in another file, and how many of them are kept. */
export interface RotateOptions {
  /** Size of a part, in bytes on disk, beyond which the next one begins. Default: 64 MiB. */
  readonly bytes?: number;
  /** Age of a part, in milliseconds, beyond which the next line begins another one. Default: Infinity. */
  readonly age?: number;
  /** Parts that are kept; the oldest one is deleted when there are more. Default: 16, which are 1 GiB at most. */
  readonly keep?: number;
}

/** The limits of `RotateOptions` where they are not given. */
export const ROTATE: Required<RotateOptions> = { bytes: 64 * 2 ** 20, age: Number.POSITIVE_INFINITY, keep: 16 };

/** Bytes of lines that wait to be written, beyond which lines are dropped. */
export const MAX_BUFFER = 8 * 2 ** 20;

/** Something that keeps a recording from being whole. */
export type RecordingTrouble =
  /** Lines came faster than they could be written, so some were dropped. The file tells it, too. */
  | { readonly kind: "dropped"; readonly lines: number; readonly messages: number; readonly sentence: string }
  /** Nothing more is recorded: the disk is full, say. Told once. */
  | { readonly kind: "stopped"; readonly path: string; readonly error: Error; readonly sentence: string };

/** The options of a `RecordingFile`. */
export interface RecordingFileOptions {
  /**
   * Path of the first part, such as `recordings/run.ndjson`; the next ones are `run.2.ndjson` and so on, and compressed ones end with
   * `.zst`. Where a recording of that name is there already, this one is `run-2.ndjson`: no file is ever written by two.
   */
  readonly to: string;
  /** Makes the header of each part. The file fills its `part` in. */
  readonly header: () => HeaderLine;
  readonly clock: Clock;
  /** The time for lines that the file adds, in milliseconds since `startedAt`. Default: since the file was made. */
  readonly now?: (() => number) | undefined;
  readonly rotate?: RotateOptions | undefined;
  /** `"zstd"` compresses what was gathered in 100 ms, so a crash loses that much. Default: false, which gathers 20 ms. */
  readonly compress?: "zstd" | false | undefined;
  /** Bytes of lines that wait to be written, a character counted as one, beyond which lines are dropped and counted. Default: 8 MiB. */
  readonly maxBuffer?: number | undefined;
  /** More members of the `close` line. Default: none. */
  readonly closing?: (() => object) | undefined;
  /** Told of trouble. It is not called inside of `append`. An error that it throws is ignored. */
  readonly onTrouble?: ((trouble: RecordingTrouble) => void) | undefined;
}

/** The counts of a file so far: taken and written. */
export interface FileCounts {
  /** Lines that `append` took. Those that a stop has lost are taken out again. */
  readonly lines: number;
  /** The number of messages among them. */
  readonly messages: number;
  /** Bytes on disk, in all parts, headers included. */
  readonly bytes: number;
  /** Parts begun. */
  readonly parts: number;
  /** Bytes of lines that wait to be written. */
  readonly waiting: number;
  /** Lines that had no room, or came too late: the recording had stopped. */
  readonly droppedLines: number;
  /** The number of messages among them. */
  readonly droppedMessages: number;
  /** True once trouble has stopped it. */
  readonly isStopped: boolean;
}
