/** How code is kept from the rest of the machine, strongest first. */
export type Isolation = "sandbox" | "process" | "trusted";

/** Strongest first. */
export const ISOLATIONS: readonly Isolation[] = ["sandbox", "process", "trusted"];

/**
 * Code that is ready to run: the body of a sloppy async function of `input`, `tools` and `progress`, with `console` around
 * it, whose value is the run's.
 */
export interface Program {
  readonly body: string;
  /**
   * In a session, the names that the code declares at its top level: the body assigns to them and does not declare them,
   * and they are there in all later runs. Empty anywhere else.
   */
  readonly declares: readonly string[];
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

/** The clock of one run. It stands still while it is stopped at least once and the code only waits. */
export interface RunClock {
  stop(): void;
  start(): void;
}

/** How code reaches its tools: texts of JSON, opaque to tiers. */
export interface Calls {
  /** What code sees as `tools`: the first argument of `toolsInCode`, as JSON. */
  readonly tools: string;
  /** Never rejects; it has settled, or is dropped, when the run has ended. */
  call(request: string, clock: RunClock): Promise<string>;
}

/** The calls of one run, and what closes them. */
export interface OpenCalls extends Calls {
  close(): void;
}

/** Tells whether whoever asked for a run gave up: an AbortSignal, or what costs less. */
export interface Asker {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** One run of a program. `input` and the value are JSON texts: what cannot be one does not cross. */
export interface Run {
  readonly program: Program;
  readonly input: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes. */
  readonly memory: number;
  /** Most bytes of logs, progress and value together. */
  readonly maxOutput: number;
  readonly signal: Asker;
  /** What `Math.random` begins with. Default: chance, or what the run before in its room left. */
  readonly seed?: number;
  /** The time that `Date` tells all the while, in milliseconds since 1970. Default: it goes on. */
  readonly now?: number;
  /** Default: the code has no `tools`. */
  readonly calls?: Calls;
  /** Told as it happens, before the run's end; the end has the same entries. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Told what the code says by `progress(value)`, as JSON. */
  readonly onProgress?: (value: string) => void;
}

/** A call in a stack, in the source of one of the programs of its session. */
export interface Frame {
  readonly program: Program;
  readonly line: number;
  readonly column: number;
}

/** What became of a run. `stack` is innermost first, without host paths, and has only what is in a caller's source. */
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
      readonly stack?: readonly Frame[];
      readonly logs: readonly LogEntry[];
      readonly durationMs: number;
    };

/** A place of its own where code finds what runs before it left: what it declared, and what it changed. */
export interface Room {
  /**
   * One after the other, in the order in which they were asked for. `memory` is the room's, whatever the run says. No
   * promise where it has ended without having waited.
   */
  run(run: Run): Ended | Promise<Ended>;
  /** Whether what was there is lost, because its process ended; each further run ends as `crashed`. */
  readonly isLost: boolean;
  /** Ends it, and what runs there as `crashed`; no process of it is left when this resolves. */
  close(): Promise<void>;
}

/** A way of running code. */
export interface Tier {
  readonly isolation: Isolation;
  /** No promise where it has ended without having waited. */
  run(run: Run): Ended | Promise<Ended>;
  /** A room with so many bytes of memory. It takes no place in the pool; the first run waits until it is there. */
  open(memory: number): Room;
  /** What `inspect` tells of it; rooms are counted among `processes`, where each has one. */
  inspect(): { readonly processes: number; readonly idle: number; readonly running: number; readonly waiting: number };
  /** Ends it, and its rooms: what runs ends as `crashed`, no process is left when it resolves. */
  dispose(): Promise<void>;
}
