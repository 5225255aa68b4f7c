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

/** Milliseconds before and after 1970 that a `Date` can tell. */
const LONGEST_TIME = 8.64e15;

const source = {
  code: Type.String({
    description:
      "What it returns, or its last expression, is the value; it may await. Where it is one function, that is called with the input.",
  }),
  /** One of those that the actor runs. Default: the first of them, which is `"javascript"` unless its owner says otherwise. */
  language: Type.Optional(Language),
};

const howToRun = {
  /** What the code sees as `input`; as JSON holds it, nested no more than 1,000 deep, within the actor's limit. Default: undefined. */
  input: Type.Optional(Type.Unknown()),
  /** Longest run, in milliseconds; no more than the actor's own. Default: the session's, or the actor's. */
  timeout: Type.Optional(Positive),
  /** Most memory, in bytes; no more than the actor's own. Default: the actor's. That of a session is the session's. */
  memory: Type.Optional(Positive),
  /** How the code is kept from the machine: as the actor does, or stronger. Default: as the session, or the actor, does. */
  isolation: Type.Optional(Isolation),
  /**
   * What `Math.random` begins with: the same numbers for the same seed, in each tier. In a session, an execution that names
   * none goes on where the one before ended. Default: by chance.
   */
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  /**
   * The time that `Date.now()` and `new Date()` tell, in milliseconds since 1970: it stands still while the code runs, its
   * timers do not. Default: the time of the host's clock.
   */
  now: Type.Optional(Type.Integer({ minimum: -LONGEST_TIME, maximum: LONGEST_TIME })),
  /** The id of a session, in which the code finds what earlier code left there. Default: it finds nothing. */
  session: Type.Optional(Type.String()),
};

/** A reply that is what was asked for, or why it could not be had. */
const outcome = <Value extends TSchema>(value: Value) => outcomeSchema(value, CodeError);

/** What an execution asks for. */
export const ExecuteRequest = Type.Object({ ...source, ...howToRun });
export type ExecuteRequest = Static<typeof ExecuteRequest>;

/** What a run of a compiled program asks for. */
export const RunRequest = Type.Object({ program: Type.String({ description: "As `compile` gave it." }), ...howToRun });
export type RunRequest = Static<typeof RunRequest>;

/** What became of code that ran to its end. */
export const ExecuteReply = Type.Object({
  /**
   * As JSON holds it, nested no more than 1,000 deep: a `Date` is a string, a `Map` is `{}`, `NaN` is null. Left out or
   * undefined where there is none.
   */
  value: Type.Unknown(),
  /** In the order in which they were written. */
  logs: Type.Array(LogEntry),
  durationMs: Type.Number(),
  isolation: Isolation,
});
export type ExecuteReply = Static<typeof ExecuteReply>;

/** What is told of a run while it lasts: what it logs, how far it says it is, and at last what became of it. */
export const ExecuteItem = Type.Union([
  Type.Object({ kind: Type.Literal("log"), entry: LogEntry }),
  Type.Object({ kind: Type.Literal("progress"), value: Type.Unknown() }),
  Type.Object({ kind: Type.Literal("end"), outcome: outcome(ExecuteReply) }),
]);
export type ExecuteItem = Static<typeof ExecuteItem>;

/** What a check, or a compilation, asks for. */
export const CheckRequest = Type.Object(source);
export type CheckRequest = Static<typeof CheckRequest>;

/** What a session is opened with. */
export const SessionRequest = Type.Object({
  /** How it is kept from the machine: as the actor does, or stronger. Default: as the actor does. */
  isolation: Type.Optional(Isolation),
  /** Most memory of all that it holds, in bytes; no more than a run of the actor has. Default: as much. */
  memory: Type.Optional(Positive),
  /** Longest execution, and that of a request which names none, in milliseconds; no more than the actor's. Default: as much. */
  timeout: Type.Optional(Positive),
  /** Most bytes of an execution's logs, progress and value together; no more than the actor's. Default: as much. */
  maxOutput: Type.Optional(Positive),
  /** Milliseconds without an execution after which it is ended; no more than the actor's `sessionIdle`. Default: as much. */
  idleTimeout: Type.Optional(Positive),
});
export type SessionRequest = Static<typeof SessionRequest>;

/** How a code actor runs code, and what it has under way. */
export const CodeInspection = Type.Object({
  /** The weakest that a request may have. */
  isolation: Isolation,
  /** What it runs; the first one is that of a request which names none. */
  languages: Type.Array(Language),
  limits: Type.Object({ timeout: Positive, memory: Positive, maxInputBytes: Positive, maxOutput: Positive }),
  /** What is open of each way to run code. */
  tiers: Type.Array(
    Type.Object({ isolation: Isolation, processes: Count, idle: Count, running: Count, waiting: Count }),
  ),
  /** How many are open. */
  sessions: Count,
  /** How many are kept. */
  programs: Count,
  /** How many runs wait to be approved, or for their turn in their session. */
  held: Count,
});
export type CodeInspection = Static<typeof CodeInspection>;

/** Streams of a code actor: each last item is the end. */
export const CodeStreams = defineProtocol("code-streams", {
  executeStream: { payload: ExecuteRequest, stream: ExecuteItem },
});

/** What a code actor can be asked. Each reply is `{ ok: true, value }` or `{ ok: false, error }`. */
export const CodeExecution = defineProtocol("code-execution", {
  /** Runs code. A run may take as long as an ask waits by default: `runCode` asks for as long as the run may take. */
  execute: { payload: ExecuteRequest, reply: outcome(ExecuteReply) },
  /** Runs code, and tells of it while it runs; leaving the loop ends the run. */
  executeStream: { payload: ExecuteRequest, stream: ExecuteItem },
  /** Looks whether code can be run, and runs nothing. */
  check: { payload: CheckRequest, reply: outcome(Type.Object({})) },
  /** Keeps a program for `run`: that of one source has one id. Many are kept, the last ones used; others are `unavailable`. */
  compile: { payload: CheckRequest, reply: outcome(Type.Object({ program: Type.String() })) },
  /** Runs a program that was compiled, as `execute` runs its source. */
  run: { payload: RunRequest, reply: outcome(ExecuteReply) },
  /** Opens a session. What runs there runs in order, beside other sessions; whoever has its id may use it. */
  session: { payload: SessionRequest, reply: outcome(Type.Object({ session: Type.String() })) },
  /** Ends a session, and what runs there. */
  endSession: { payload: Type.Object({ session: Type.String() }), reply: outcome(Type.Object({})) },
  inspect: { reply: outcome(CodeInspection) },
});

/** A reference to a code actor. */
export type CodeExecutionRef = RefTo<typeof CodeExecution>;
