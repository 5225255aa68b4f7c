import type { Target } from "../harness/target";

// What the tools must reach beside the ratios. Times depend on the machine, so their limits are twice the worst round; those that a
// promise names (P5, what was published) are the promise, however far below it the figure is.

const code = (row: string, figure: string, limit: number, aim: number, reason: string): Target => ({
  suite: "code",
  row,
  figure,
  atMost: limit,
  aim,
  reason,
});

const DEFAULT_TIER = "executions in the default tier, back to back";
const TRUSTED = "a trusted execution beside a plain ask";
const STARTED = "an execution in a process started for it, the parser loaded";
const HANDED = "an execution handed to a process";
const MEMORY = "memory of 1,000 executions in the sandbox, an execution";

export const codeTargets: readonly Target[] = [
  code(TRUSTED, "over an ask", 1_100, 500, "the request checked, its program found, its value made JSON and back"),
  code(TRUSTED, "compiled, over an ask", 1_100, 500, "the program found by its id, and no source looked up"),
  code(DEFAULT_TIER, "simple arithmetic, p50", 140, 60, "a clean context each time, made ahead"),
  code(
    DEFAULT_TIER,
    "the six published ones in turn, p95",
    0.5,
    0.15,
    "the published limit, where no isolation was given up for it",
  ),
  // What a start of the actor takes beside it is its own modules and the parser, once; that is a figure without a limit.
  code(STARTED, "time", 10, 8, "a process, confined, whatever it is started for"),
  code("a tool called from code, sandbox", "a call", 60, 40, "out of the sandbox, an ask, and back"),
  // One that is ready is used once, so it is not warm: a bare process takes most of this for its first line there and back, which the page
  // shows beside it. Its old limit of 100 µs, which no machine kept, is the aim.
  code(HANDED, "one that is ready", 1_400, 100, "the process is there, confined, and waits"),
  code(HANDED, "that of a session", 100, 50, "what runs in a session reuses its process"),
  code(MEMORY, "host heap slope", 75, 10, "1,000 executions leave nothing"),
  code(MEMORY, "host RSS slope", 1_000, 100, "a megabyte in 1,000 executions at most"),
  code(MEMORY, "pool RSS slope", 1_000, 100, "a megabyte in 1,000 executions at most"),
];
