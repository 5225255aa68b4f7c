/** The ways in which code is isolated from the rest of the machine, strongest first. */
export type Isolation = "sandbox" | "process" | "trusted";

/** Strongest first. */
export const ISOLATIONS: readonly Isolation[] = ["sandbox", "process", "trusted"];

/**
 * Code that is ready to run: the body of a sloppy async function with the parameters `input`, `tools` and `progress`, and with
 * `console` in scope. The value of the function is the value of the run.
 */
export interface Program {
  readonly body: string;
  /**
   * In a session, the names that the code declares at its top level. The body assigns to them without declaring them, and
   * all later runs find them. Empty outside sessions.
   */
  readonly declares: readonly string[];
  /** Maps a place in `body` to the caller's source. Lines and columns count from 1. Undefined for text that envoi added. */
  place(line: number, column: number): { readonly line: number; readonly column: number } | undefined;
}

export type Level = "debug" | "log" | "info" | "warn" | "error";

/** An entry that code wrote with `console`: its arguments as a console shows them, and milliseconds since the run began. */
export interface LogEntry {
  readonly level: Level;
  readonly text: string;
  readonly time: number;
}

/** The clock of one run. It stands still while it has more stops than starts and the code only waits. */
export interface RunClock {
  stop(): void;
  start(): void;
}

/** Connects code to its tools. Requests and answers are JSON texts, which tiers do not read. */
export interface Calls {
  /** The first argument of `toolsInCode`, as JSON. */
  readonly tools: string;
  /** Never rejects. When the run ends, an open call settles or is dropped. */
  call(request: string, clock: RunClock): Promise<string>;
}

/** The calls of one run, which can be closed. */
export interface OpenCalls extends Calls {
  close(): void;
}

/** Tells when the asker of a run gives up: an AbortSignal, or a cheaper object of that shape. */
export interface Asker {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** One run of a program. The input and the value are passed as JSON texts; other values cannot be passed. */
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
  /** The seed of `Math.random`. Default: random, or the state that the run before left in the room. */
  readonly seed?: number;
  /** The fixed time of `Date`, in milliseconds since 1970. Default: time goes on. */
  readonly now?: number;
  /** Default: the code has no `tools`. */
  readonly calls?: Calls;
  /** Called for each entry as it is written. The run's end has the same entries. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Called with each value that the code passes to `progress(value)`, as JSON. */
  readonly onProgress?: (value: string) => void;
}

/** A call in a stack, in the source of one of the session's programs. */
export interface Frame {
  readonly program: Program;
  readonly line: number;
  readonly column: number;
}

/** The end of a run. `stack` is innermost first. It has only places in a caller's source, and no host paths. */
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
        | "stopped"
        | "unavailable"
        | "busy";
      readonly message: string;
      readonly name?: string;
      readonly stack?: readonly Frame[];
      readonly logs: readonly LogEntry[];
      readonly durationMs: number;
    };

/** A separate place where code finds what earlier runs left: their declarations and their changes. */
export interface Room {
  /**
   * Runs one after the other, in the order of the calls. The room's limit of memory counts, not that of the run. Returns no
   * promise if the run ended without waiting.
   */
  run(run: Run): Ended | Promise<Ended>;
  /** True once its process has ended and its contents are lost. Each further run ends as `crashed`. */
  readonly isLost: boolean;
  /** Closes the room; code that runs there ends as `stopped`. Resolves when no process of it is left. */
  close(): Promise<void>;
}

/** A way of running code. */
export interface Tier {
  readonly isolation: Isolation;
  /** Returns no promise if the run ended without waiting. */
  run(run: Run): Ended | Promise<Ended>;
  /** Opens a room with so many bytes of memory. It takes no place in the pool; its first run waits until it is ready. */
  open(memory: number): Room;
  /** The tier's part of the actor's `inspect`. `processes` includes those of rooms. */
  inspect(): { readonly processes: number; readonly idle: number; readonly running: number; readonly waiting: number };
  /** Closes the tier and its rooms; code that runs ends as `stopped`. Resolves when no process is left. */
  dispose(): Promise<void>;
}
