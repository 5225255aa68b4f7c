import type { TSchema } from "typebox";
import { defineProtocol, type RefTo, type Static, Type } from "../../index";
import { outcomeSchema } from "../reply";
import { CodeError, LogEntry } from "./code-error";

const Count = Type.Integer({ minimum: 0 });
const Positive = Type.Integer({ minimum: 1 });
const Language = Type.Union([Type.Literal("javascript"), Type.Literal("typescript")]);
const Isolation = Type.Union([
  Type.Literal("sandbox", { description: "Kept from the machine; for code that nobody has read." }),
  Type.Literal("process", { description: "Kept from the machine by its kernel; for code that needs speed." }),
  Type.Literal("trusted", { description: "Not kept from anything; for code that is trusted as the host's own." }),
]);

/** The earliest and the latest time of a `Date`, in milliseconds before and after 1970. */
const LONGEST_TIME = 8.64e15;

const source = {
  code: Type.String({
    description:
      "What it returns, or its last expression, is the value; it may await. Where it is one function, that is called with the input and the tools.",
  }),
  /** One of the actor's languages. Default: the first, which is `"javascript"` unless the actor's options say otherwise. */
  language: Type.Optional(Language),
};

const howToRun = {
  /** The code's `input`: a JSON value, nested at most 1,000 deep, within the actor's limit. Default: undefined. */
  input: Type.Optional(Type.Unknown()),
  /** Longest run, in milliseconds; at most the actor's. Default: the session's, or the actor's. */
  timeout: Type.Optional(Positive),
  /** Most memory, in bytes; at most the actor's. Default: the actor's. A session has its own limit instead. */
  memory: Type.Optional(Positive),
  /** The isolation of the code: the actor's, or a stronger one. Default: the session's, or the actor's. */
  isolation: Type.Optional(Isolation),
  /**
   * The seed of `Math.random`: the same seed gives the same numbers in each tier. In a session, an execution without a seed
   * continues where the one before ended. Default: random.
   */
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  /**
   * The time of `Date.now()` and `new Date()`, in milliseconds since 1970. It stands still while the code runs; timers still
   * run. Default: the host's clock.
   */
  now: Type.Optional(Type.Integer({ minimum: -LONGEST_TIME, maximum: LONGEST_TIME })),
  /** The id of a session. The code finds there what earlier code left. Default: no session. */
  session: Type.Optional(Type.String()),
};

/** The schema of a reply: the value, or the reason why there is none. */
const outcome = <Value extends TSchema>(value: Value) => outcomeSchema(value, CodeError);

/** The payload of `execute` and of `executeStream`. */
export const ExecuteRequest = Type.Object({ ...source, ...howToRun });
export type ExecuteRequest = Static<typeof ExecuteRequest>;

/** The payload of `run`. */
export const RunRequest = Type.Object({ program: Type.String({ description: "As `compile` gave it." }), ...howToRun });
export type RunRequest = Static<typeof RunRequest>;

/** The result of code that ran to its end. */
export const ExecuteReply = Type.Object({
  /**
   * The value as JSON holds it, nested at most 1,000 deep: a `Date` is a string, a `Map` is `{}`, `NaN` is null. Left out or
   * undefined if there is none.
   */
  value: Type.Unknown(),
  /** In the order in which they were written. */
  logs: Type.Array(LogEntry),
  durationMs: Type.Number(),
  isolation: Isolation,
});
export type ExecuteReply = Static<typeof ExecuteReply>;

/** An item of `executeStream`: a log entry, a progress value, or, as the last one, the outcome of the run. */
export const ExecuteItem = Type.Union([
  Type.Object({ kind: Type.Literal("log"), entry: LogEntry }),
  Type.Object({ kind: Type.Literal("progress"), value: Type.Unknown() }),
  Type.Object({ kind: Type.Literal("end"), outcome: outcome(ExecuteReply) }),
]);
export type ExecuteItem = Static<typeof ExecuteItem>;

/** The payload of `check` and of `compile`. */
export const CheckRequest = Type.Object(source);
export type CheckRequest = Static<typeof CheckRequest>;

/** The payload of `session`. */
export const SessionRequest = Type.Object({
  /** The isolation of its code: the actor's, or a stronger one. Default: the actor's. */
  isolation: Type.Optional(Isolation),
  /** Most memory of the whole session, in bytes; at most the actor's `memory`. Default: the same. */
  memory: Type.Optional(Positive),
  /** Longest execution, in milliseconds, and the timeout of a request that names none; at most the actor's. Default: the same. */
  timeout: Type.Optional(Positive),
  /** Most bytes of an execution's logs, progress and value together; at most the actor's. Default: the same. */
  maxOutput: Type.Optional(Positive),
  /** Milliseconds without an execution after which it is ended; at most the actor's `sessionIdle`. Default: the same. */
  idleTimeout: Type.Optional(Positive),
});
export type SessionRequest = Static<typeof SessionRequest>;

/** The settings and the current work of a code actor. */
export const CodeInspection = Type.Object({
  /** The weakest isolation that a request may have. */
  isolation: Isolation,
  /** The actor's languages. A request that names none uses the first. */
  languages: Type.Array(Language),
  limits: Type.Object({ timeout: Positive, memory: Positive, maxInputBytes: Positive, maxOutput: Positive }),
  /** The processes and runs of each tier that is open. */
  tiers: Type.Array(
    Type.Object({ isolation: Isolation, processes: Count, idle: Count, running: Count, waiting: Count }),
  ),
  /** Open sessions. */
  sessions: Count,
  /** Programs that are kept. */
  programs: Count,
  /** Runs that wait for approval, or for their turn in a session. */
  held: Count,
});
export type CodeInspection = Static<typeof CodeInspection>;

const executeStream = {
  description: "Runs code, and streams its logs and its progress. The last item has its value, or why there is none.",
  hints: { destructive: true },
  payload: ExecuteRequest,
  stream: ExecuteItem,
};

/** The protocol of a code actor's streams. The last item of each is its `end`. */
export const CodeStreams = defineProtocol("code-streams", { executeStream });

/** The protocol of a code actor. Each reply is `{ ok: true, value }` or `{ ok: false, error }`. */
export const CodeExecution = defineProtocol("code-execution", {
  /** A run may take as long as an ask waits by default; `runCode` waits for as long as the run may take. */
  execute: {
    description: "Runs code, and replies with its value and its logs.",
    hints: { destructive: true },
    payload: ExecuteRequest,
    reply: outcome(ExecuteReply),
  },
  /** Leaving the loop ends the run. */
  executeStream,
  check: {
    description: "Checks whether code can be run, without running it.",
    hints: { readOnly: true },
    payload: CheckRequest,
    reply: outcome(Type.Object({})),
  },
  /** One source has one id. Only the last ones used are kept: others are `unavailable`. */
  compile: {
    description: "Keeps a program for run, and replies with its id.",
    hints: { destructive: false, idempotent: true },
    payload: CheckRequest,
    reply: outcome(Type.Object({ program: Type.String() })),
  },
  run: {
    description: "Runs a program that compile kept, as execute runs its source.",
    hints: { destructive: true },
    payload: RunRequest,
    reply: outcome(ExecuteReply),
  },
  /** Its executions run in order, beside other sessions. Every asker that has its id may use it. */
  session: {
    description: "Opens a session, in which code finds what earlier code left.",
    hints: { destructive: false },
    payload: SessionRequest,
    reply: outcome(Type.Object({ session: Type.String() })),
  },
  endSession: {
    description: "Ends a session, and the code that runs there.",
    hints: { destructive: true, idempotent: true },
    payload: Type.Object({ session: Type.String() }),
    reply: outcome(Type.Object({})),
  },
  inspect: {
    description: "Tells the limits and the isolation of code, and the work under way.",
    hints: { readOnly: true },
    reply: outcome(CodeInspection),
  },
});

/** A reference to a code actor. */
export type CodeExecutionRef = RefTo<typeof CodeExecution>;
