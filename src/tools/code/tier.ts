/** How code is kept from the rest of the machine, strongest first. */
export type Isolation = "sandbox" | "trusted";

/** Code that is ready to run: the body of an async function of one parameter, `input`, whose value is the run's. */
export interface Program {
  readonly body: string;
  /** Where a place in `body` is in the source that the caller wrote; lines and columns count from 1. Undefined for what is ours. */
  place(line: number, column: number): { readonly line: number; readonly column: number } | undefined;
}

export type Level = "debug" | "log" | "info" | "warn" | "error";

/** What code wrote by `console`; `text` is its arguments as a console shows them, `time` milliseconds since the run began. */
export interface LogEntry {
  readonly level: Level;
  readonly text: string;
  readonly time: number;
}

/** One run of a program. `input` and the value are JSON texts: what cannot be one does not cross. */
export interface Run {
  readonly program: Program;
  readonly input: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes. */
  readonly memory: number;
  /** Most bytes of logs and value together. */
  readonly maxOutput: number;
  readonly signal: AbortSignal;
}

/** What became of a run. `stack` is lines of the caller's own source, innermost first, without host paths. */
export type Ended =
  | {
      readonly kind: "value";
      readonly value: string | undefined;
      readonly logs: readonly LogEntry[];
      readonly durationMs: number;
    }
  | {
      readonly kind:
        | "runtime-error"
        | "timeout"
        | "out-of-memory"
        | "output-limit"
        | "unserializable-value"
        | "crashed"
        | "unavailable"
        | "busy";
      readonly message: string;
      readonly name?: string;
      readonly stack?: readonly { readonly line: number; readonly column: number }[];
      readonly logs: readonly LogEntry[];
      readonly durationMs: number;
    };

/** A way of running code. */
export interface Tier {
  readonly isolation: Isolation;
  run(run: Run): Promise<Ended>;
  /** What `inspect` tells of it. */
  inspect(): { readonly processes: number; readonly idle: number; readonly running: number; readonly waiting: number };
  /** Ends it: what runs ends as `crashed`, no process is left when it resolves. */
  dispose(): Promise<void>;
}
