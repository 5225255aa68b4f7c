import type { System } from "../../index";
import type { RecorderOptions } from "../options";
import type { Recording } from "../recording";
import { codecOf } from "./codec";
import { readTape } from "./read-sync";
import { ReplayRecording } from "./replay-recording";
import { RecordedWorld } from "./world";

/**
 * A recording of the mode `"replay"`: what is declared to be outside is answered from a file. On any clock, each answer comes as soon as the
 * turn of its call has ended.
 *
 * @throws RecordingError when there is no such recording; TypeError when the options have another key than it.
 */
export function openRecording(system: System, path: string, options: RecorderOptions): Recording {
  const tape = readTape(path);
  const world = new RecordedWorld({
    tape,
    codec: codecOf(options, tape),
    match: "content",
    follows: false,
    repeats: options.repeat,
  });
  return new ReplayRecording(system, world, tape.name, true);
}
