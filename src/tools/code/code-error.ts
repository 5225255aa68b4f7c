import { type Static, Type } from "../../index";

/** The reasons why code gave no value. */
const Kind = Type.Union([
  Type.Literal("compile-error"),
  Type.Literal("runtime-error"),
  Type.Literal("timeout"),
  Type.Literal("out-of-memory"),
  Type.Literal("input-limit"),
  Type.Literal("output-limit"),
  Type.Literal("unserializable-value"),
  Type.Literal("crashed"),
  Type.Literal("stopped"),
  Type.Literal("unavailable"),
  Type.Literal("busy"),
  Type.Literal("refused"),
]);

/** An entry that code wrote with `console`. */
export const LogEntry = Type.Object({
  level: Type.Union([
    Type.Literal("debug"),
    Type.Literal("log"),
    Type.Literal("info"),
    Type.Literal("warn"),
    Type.Literal("error"),
  ]),
  /** The arguments, as a console shows them. */
  text: Type.String(),
  /** Milliseconds since the run began. */
  time: Type.Number(),
});
export type LogEntry = Static<typeof LogEntry>;

/** A place in the caller's source. Line and column count from 1; columns are UTF-16 code units. */
const Place = Type.Object({ line: Type.Integer(), column: Type.Integer() });
export type Place = Static<typeof Place>;

/** A call in a stack. */
const StackPlace = Type.Object({
  ...Place.properties,
  /** True when the call is in the source of an earlier execution of the session. Default: false. */
  isEarlier: Type.Optional(Type.Literal(true)),
});

/**
 * The reason why code gave no value, as plain data:
 *
 * | kind | what happened |
 * | --- | --- |
 * | `compile-error` | the code is none, or has what cannot be run here; `line` and `column` say where. Nothing of it ran |
 * | `runtime-error` | the code threw; `name`, `line`, `column` and `stack` are of what it threw |
 * | `timeout` | it had not ended when its time was up |
 * | `out-of-memory` | it needed more memory than it may have |
 * | `input-limit` | the input is more bytes than the actor's limit. Nothing ran |
 * | `output-limit` | its logs and its value are more bytes than the actor's limit |
 * | `unserializable-value` | its value, or the input, is nothing that JSON can hold, or is nested too deep |
 * | `crashed` | what ran it ended in the middle |
 * | `stopped` | it was ended from outside: the actor was stopped, the session was ended, or the asker gave up |
 * | `unavailable` | this actor or this machine does not run code in that way, or what the request names is not there any more |
 * | `busy` | too many runs wait, or too many sessions are open; ask again later |
 * | `refused` | whoever approves what runs did not |
 */
export const CodeError = Type.Object({
  kind: Kind,
  /** A sentence that says what happened and what to do. For a `runtime-error`, the message of the thrown error. */
  message: Type.String(),
  /** The line in the caller's source, from 1. */
  line: Type.Optional(Type.Integer()),
  /** The column in the caller's source, from 1. */
  column: Type.Optional(Type.Integer()),
  /** The name of the thrown error, such as `TypeError`. */
  name: Type.Optional(Type.String()),
  /** The calls that led to the error, innermost first. */
  stack: Type.Optional(Type.Array(StackPlace)),
  /** The entries that were logged before the error. */
  logs: Type.Array(LogEntry),
});
export type CodeError = Static<typeof CodeError>;
