import { address, type Protocol, type Ref } from "../index";
import type { Mode } from "./options";

/** The address in the events of all recordings: it belongs to no actor. */
export const RECORDER = address("recorder");

/** The numbers of a recording so far. */
export interface RecordingCounts {
  /** The messages that have a line. */
  readonly messages: number;
  /** The messages with a line whose end has not come. */
  readonly open: number;
  /** The lines, those that wait in memory included; without headers. */
  readonly lines: number;
  /** The bytes on disk in all parts, headers and deleted parts included; compressed ones where the file is compressed. */
  readonly bytes: number;
  /** The lines that found no room in memory (`maxBuffer`), or came after the disk was full. */
  readonly dropped: { readonly lines: number; readonly messages: number };
}

/** A recording that runs, or one that does nothing (`mode: "off"`). */
export interface Recording extends AsyncDisposable {
  readonly mode: Mode;
  /**
   * The path of the first part as it is on disk: `run-2.ndjson` where `run.ndjson` was taken, and with `.zst` where it is compressed. With the
   * mode `"replay"` that of the file which answers, with `"off"` undefined.
   */
  readonly path: string | undefined;
  readonly counts: RecordingCounts;
  /** True once it records nothing any more: it was closed, its system was shut down, or the disk was full. Always true for `"off"`. */
  readonly isStopped: boolean;
  /**
   * Declares an actor that is outside of what a replay builds: a model, a tool, another system. With the modes `"off"` and `"record"` it
   * gives the reference that the function makes, and records what goes there, whatever `include` says. With the mode `"replay"` it calls
   * no function: the reference answers from the recording.
   *
   * @param name the same one in each run.
   * @throws TypeError when the name is empty, or the function gives no reference.
   * @example
   * const model = recording.outside("model", Model, () => system.spawn("model", Model, makeModel));
   */
  outside<Signatures>(
    name: string,
    protocol: Protocol<string, Signatures>,
    make: () => Ref<Signatures>,
  ): Ref<Signatures>;
  /** A random number from 0 up to 1. The seed stands in the file, so a replay gets the same ones in the same order. */
  random(): number;
  /**
   * Ends the recording: writes what waits in memory, and the last line. A second call waits for the first. A shutdown of the system
   * closes it too, and waits for it. With the mode `"replay"` it tells of the calls that got no answer, because the recording ended before
   * theirs came: by a line in the log and the event `record:unanswered`.
   */
  close(): Promise<void>;
}
