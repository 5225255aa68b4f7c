import { createSystem, type Logger, type RefTo, type System } from "envoi";
import { type Recording, recorder } from "envoi/record";
import { FileSystem, type FileSystemRef, spawnFileSystem } from "envoi/tools";
import { agentOf, type PlannerFor, supervisionWith } from "./agent";
import { Agent, type Happening } from "./protocols";

export interface WorkOptions {
  /** What the agent sees, and below it `report/`, where it writes. */
  readonly folder: string;
  readonly task: string;
  readonly planner: PlannerFor;
  /** Most steps. Default: 30. */
  readonly maxSteps?: number;
  /** The path of a file into which the run is recorded. Default: none. */
  readonly record?: string | undefined;
  /** How long a planner that failed waits before it is asked again, in milliseconds. Default: 1,000. */
  readonly pause?: number;
  /** Ends it early: the loop throws. Default: none. */
  readonly signal?: AbortSignal;
  /** Told what fails, and what its supervisor decides. Default: `console`. */
  readonly logger?: Logger;
}

/** A machine that has no safe way to serve files, or a folder that is none; its message says what to do. */
export class CannotServe extends Error {}

/**
 * Has an agent work on a task, and tells what happens. Nothing of it runs on once the loop is over or left.
 *
 * @throws CannotServe where the folder cannot be served; StreamError in the loop once the signal is aborted.
 */
export async function* work({ task, record, signal, logger, ...options }: WorkOptions): AsyncGenerator<Happening> {
  await using system = createSystem({ ...SYSTEM, ...(logger && { logger }) });
  const recording = recorder(system, record === undefined ? { to: "-", mode: "off" } : { to: record });
  const agent = spawnAgent(system, recording, options);
  yield* agent.stream("work", { task }, { ...(signal && { signal }) });
}

/** What passes between the actors is checked on the way: it is what a model made up, or what code returned. */
export const SYSTEM = { askTimeout: 60_000, validate: "always" } as const;

/** Spawns the agent with its files, in a system that may be a replay's: then the files, the code and the planner are in the recording. */
export function spawnAgent(
  system: System,
  recording: Recording,
  { folder, planner, maxSteps = 30, pause = 1_000 }: Pick<WorkOptions, "folder" | "planner" | "maxSteps" | "pause">,
): RefTo<typeof Agent> {
  const files = recording.outside("files", FileSystem, () => serve(system, folder));
  return system.spawn("agent", Agent, agentOf({ files, planner, maxSteps, recording }), {
    supervision: supervisionWith(pause),
  });
}

function serve(system: System, root: string): FileSystemRef {
  try {
    return spawnFileSystem(system, { root });
  } catch (thrown) {
    throw new CannotServe(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}
