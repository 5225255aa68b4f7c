export { RecordingError, type RecordingFault } from "./files/faults";
export type { FileCounts, RecordingTrouble, RotateOptions } from "./files/options";
export { type RecordingReader, readRecording } from "./files/read-recording";
export {
  type CloseLine,
  type DroppedLine,
  type EndLine,
  FORMAT,
  type HeaderLine,
  type ItemLine,
  type MessageLine,
  type RecordingLine,
  RecordingSchemas,
} from "./format";
export type { Included } from "./include";
export type { RecorderOptions } from "./options";
export { recorder } from "./recorder";
export type { Recording, RecordingCounts } from "./recording";
export type { Difference } from "./replay/compare";
export type { Deviation, MessageNote } from "./replay/deviation";
export type { Comparison, Pair } from "./replay/judge";
export type { Call, Match } from "./replay/library";
export { type ReplayOptions, type ReplayStage, replay } from "./replay/replay";
export { type ReplayTestsOptions, replayTests } from "./replay/replay-tests";
export type { ReplayReport } from "./replay/report";
export type { Outcome } from "./replay/sent";
export { NotRecorded, type Refusal } from "./replay/world";
export type { DefaultName } from "./transforms/names";
export type { Part } from "./transforms/paths";
export {
  drop,
  type MaskOptions,
  mask,
  type Place,
  redact,
  replace,
  type Transform,
  type TransformScope,
} from "./transforms/transform";
export type { ValueLimits } from "./values/limits";
export { Opaque, readValue } from "./values/read-value";
