export { type Machine, machineSchema } from "./harness/machine";
export {
  type Noise,
  type ProbeReading,
  type ProbeResult,
  parseResults,
  parseRun,
  probeResultSchema,
  type RowResult,
  type RunResult,
  runResultSchema,
  type SuiteResult,
  suiteResultSchema,
  type TimedResult,
  timedResultSchema,
} from "./harness/results";
export {
  type ActorPeerResults,
  actorPeerResults as actorPeerResultsSchema,
} from "./peers/actors/results";
export { type CodePeerResults, codePeerResults as codePeerResultsSchema } from "./peers/code/results";
export { type FilePeerResults, filePeerResults as filePeerResultsSchema } from "./peers/files/results";
export { parseStress, type StressResults, StressResults as stressResultsSchema } from "./stress/results";
