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

const source = {
  code: Type.String({ description: "What it returns, or its last expression, is the value; it may await." }),
  /** Default: `"javascript"`. */
  language: Type.Optional(Language),
};

/** A reply that is what was asked for, or why it could not be had. */
const outcome = <Value extends TSchema>(value: Value) => outcomeSchema(value, CodeError);

/** What an execution asks for. */
export const ExecuteRequest = Type.Object({
  ...source,
  /** What the code sees as `input`; as JSON holds it. Default: undefined. */
  input: Type.Optional(Type.Unknown()),
  /** Longest run, in milliseconds; no more than the actor's own. Default: the actor's. */
  timeout: Type.Optional(Positive),
  /** Most memory, in bytes; no more than the actor's own. Default: the actor's. */
  memory: Type.Optional(Positive),
  /** How the code is kept from the machine: as the actor does, or stronger. Default: as the actor does. */
  isolation: Type.Optional(Isolation),
});
export type ExecuteRequest = Static<typeof ExecuteRequest>;

/** What became of code that ran to its end. */
export const ExecuteReply = Type.Object({
  /** As JSON holds it: a `Date` is a string, a `Map` is `{}`, `NaN` is null. Left out or undefined where there is none. */
  value: Type.Unknown(),
  /** In the order in which they were written. */
  logs: Type.Array(LogEntry),
  durationMs: Type.Number(),
  isolation: Isolation,
});
export type ExecuteReply = Static<typeof ExecuteReply>;

/** What a check asks for. */
export const CheckRequest = Type.Object(source);
export type CheckRequest = Static<typeof CheckRequest>;

/** How a code actor runs code, and what it has under way. */
export const CodeInspection = Type.Object({
  /** The weakest that a request may have. */
  isolation: Isolation,
  limits: Type.Object({ timeout: Positive, memory: Positive, maxOutput: Positive }),
  /** What is open of each way to run code. */
  tiers: Type.Array(
    Type.Object({ isolation: Isolation, processes: Count, idle: Count, running: Count, waiting: Count }),
  ),
});
export type CodeInspection = Static<typeof CodeInspection>;

/** What a code actor can be asked. Each reply is `{ ok: true, value }` or `{ ok: false, error }`. */
export const CodeExecution = defineProtocol("code-execution", {
  /** Runs code. */
  execute: { payload: ExecuteRequest, reply: outcome(ExecuteReply) },
  /** Looks whether code can be run, and runs nothing. */
  check: { payload: CheckRequest, reply: outcome(Type.Object({})) },
  inspect: { reply: outcome(CodeInspection) },
});

/** A reference to a code actor. */
export type CodeExecutionRef = RefTo<typeof CodeExecution>;
