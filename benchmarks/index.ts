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
export { type PeerResults, peerResults as peerResultsSchema } from "./peers/results";
export { parseStress, type StressResults, StressResults as stressResultsSchema } from "./stress/results";
