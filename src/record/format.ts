import { defineProtocol, readJson, type Static, Type } from "../index";

// A recording is a text of lines, each of them a JSON object with a `kind`. It may be cut into parts, which are files of their own.

/** The version of the format of recordings, which stands in the header of each file. */
export const FORMAT = 1;

/** The deepest nesting of objects and arrays in a line. A reader passes over deeper ones. */
export const MAX_DEPTH = 512;
/** The longest line, in bytes. A writer drops longer ones, and a reader passes over them. */
export const MAX_LINE_BYTES = 64 * 2 ** 20;

const Whole = Type.Integer({ minimum: 1 });
const Count = Type.Integer({ minimum: 0 });
/** Milliseconds since `startedAt`, by a clock that never goes back. */
const At = Type.Number({ minimum: 0 });
const Flag = Type.Optional(Type.Literal(true));

const schemas = {
  header: Type.Object(
    {
      kind: Type.Literal("header"),
      format: Type.Literal(FORMAT),
      /** The same in all parts of a recording. */
      recording: Type.String({ minLength: 1 }),
      /** The number of the part, from 1. */
      part: Whole,
      /** The oldest part that was kept when this one began (`rotate.keep`): those before it were deleted. Absent where it is the first. */
      oldest: Type.Optional(Whole),
      /**
       * The first 16 hex digits of the HMAC-SHA-256 of `envoi/record` by the key of the hashes. Tells whether two recordings, or a recording and
       * its replay, have one key, and not which. Absent where an earlier version wrote the file.
       */
      key: Type.Optional(Type.String()),
      /** The version of envoi that wrote it. */
      envoi: Type.String(),
      /** The runtime and its version: `bun 1.4.5`. */
      runtime: Type.String(),
      /** The name of the system. */
      system: Type.String(),
      /** The time at which the recording began, as an ISO text. */
      startedAt: Type.String(),
      /** The seed of `recording.random()`. */
      seed: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
      /** Names the actors that are recorded. Absent where all are. */
      include: Type.Optional(Type.Array(Type.String())),
      /** Names the transforms that every value went through. */
      transforms: Type.Optional(Type.Array(Type.String())),
    },
    { description: "The first line of each part of a recording" },
  ),
  message: Type.Object(
    {
      kind: Type.Literal("message"),
      /** The number of the message in its recording, from 1. */
      id: Whole,
      at: At,
      pattern: Type.Union([Type.Literal("tell"), Type.Literal("ask"), Type.Literal("stream")]),
      /** The address of the actor that it was sent to. */
      to: Type.String(),
      /** The name of that actor's protocol. Absent where it has none. */
      protocol: Type.Optional(Type.String()),
      operation: Type.String(),
      /** Absent where the message had none. */
      payload: Type.Optional(Type.Unknown()),
      metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      /** The address of the actor that sent it. */
      from: Type.Optional(Type.String()),
      /** The id of the message whose handler sent it. */
      cause: Type.Optional(Whole),
      /** The milliseconds until its sender gives it up, of a message from outside. Absent where nothing limits it. */
      timeLeft: Type.Optional(Type.Number({ minimum: 0 })),
      /** It came through a door (`receive`, `parseMessage`). */
      door: Flag,
      /** The handler of `cause` handed its own message on (`ctx.forward`): this line's end is the answer to that one, too. */
      forwarded: Flag,
      /** It was answered by something that `recording.outside()` declared. */
      world: Flag,
      /** The name by which `recording.outside()` declared that. */
      outside: Type.Optional(Type.String()),
      /** The name of the one that its recipient is a part of: an actor that it made for itself. */
      within: Type.Optional(Type.String()),
    },
    { description: "A message that was sent" },
  ),
  item: Type.Object(
    {
      kind: Type.Literal("item"),
      /** The id of the stream's message. */
      of: Whole,
      at: At,
      value: Type.Optional(Type.Unknown()),
    },
    { description: "An item of a stream" },
  ),
  end: Type.Object(
    {
      kind: Type.Literal("end"),
      /** The id of the message. */
      of: Whole,
      at: At,
      outcome: Type.Union([
        Type.Literal("handled"),
        Type.Literal("failed"),
        Type.Literal("forwarded"),
        Type.Literal("stashed"),
        Type.Literal("abandoned"),
        Type.Literal("dead"),
        Type.Literal("sent"),
      ]),
      /** The reply of an ask. */
      value: Type.Optional(Type.Unknown()),
      /** The error of a handler that failed. */
      error: Type.Optional(
        Type.Object({
          name: Type.Optional(Type.String()),
          kind: Type.Optional(Type.String()),
          message: Type.String(),
        }),
      ),
      /** The reason of a dead letter. Of a stream that was `handled`: `left` where its reader left before the producer was done. */
      reason: Type.Optional(Type.String()),
      /** The address of the actor that handled it, where it is another one than the message was sent to: a pool's worker. */
      by: Type.Optional(Type.String()),
      /** It went out by a transport. Of a tell or an offer, `sent` is all that is known here. */
      carried: Flag,
    },
    { description: "How a message ended" },
  ),
  dropped: Type.Object(
    {
      kind: Type.Literal("dropped"),
      at: At,
      /** The lines that had no room in memory at this place of the recording. */
      lines: Whole,
      /** The number of messages among them. */
      messages: Count,
    },
    { description: "A loss: lines that came faster than they could be written" },
  ),
  close: Type.Object(
    {
      kind: Type.Literal("close"),
      at: At,
      /** The lines before this one, in all parts, without headers. */
      lines: Count,
      /** The messages that have no end, because they were still waiting or being handled. */
      open: Type.Optional(Count),
    },
    { description: "The last line of a recording that ended in order" },
  ),
};

/** The TypeBox schema of each line of a recording, by its kind. Members that a schema does not name are ignored. */
export const RecordingSchemas: Readonly<typeof schemas> = schemas;

/** The first line of each part of a recording. */
export type HeaderLine = Static<typeof schemas.header>;
/** A message that was sent. It came from outside when it has neither `from` nor `cause`. */
export type MessageLine = Static<typeof schemas.message>;
/** An item of a stream. */
export type ItemLine = Static<typeof schemas.item>;
/** The end of a message. */
export type EndLine = Static<typeof schemas.end>;
/** Tells of lines that were lost because they came faster than they could be written. */
export type DroppedLine = Static<typeof schemas.dropped>;
/** The last line of a recording that ended in order. */
export type CloseLine = Static<typeof schemas.close>;

/** A line of a recording. */
export type RecordingLine = HeaderLine | MessageLine | ItemLine | EndLine | DroppedLine | CloseLine;

const Lines = defineProtocol("recording-line", {
  header: { payload: schemas.header },
  message: { payload: schemas.message },
  item: { payload: schemas.item },
  end: { payload: schemas.end },
  dropped: { payload: schemas.dropped },
  close: { payload: schemas.close },
});

const FAULTS = {
  "no-json": "is no JSON",
  "too-deep": `is nested more than ${MAX_DEPTH} deep`,
  "own-prototype": 'has a key "__proto__"',
} as const;

/** A line that was read, or the rest of a sentence that says what is wrong with it. `isNewer`: a newer envoi can read it. */
export type ReadLine =
  | { readonly line: RecordingLine; readonly wrong?: undefined; readonly isNewer?: undefined }
  | { readonly line?: undefined; readonly wrong: string; readonly isNewer?: true };

/** Reads a line of a recording, and checks it by its schema. */
export function readLine(text: string): ReadLine {
  const read = readJson(text, { depth: MAX_DEPTH });
  if (read.isErr()) return { wrong: FAULTS[read.error] };
  const kind = memberOf(read.value, "kind");
  const operation = typeof kind === "string" ? Lines.operations[kind] : undefined;
  if (operation === undefined) {
    return { wrong: typeof kind === "string" ? `is of the unknown kind ${clip(kind)}` : "has no kind" };
  }
  if (kind === "header") {
    const format = memberOf(read.value, "format");
    if (typeof format === "number" && format > FORMAT) {
      return { wrong: `is of format ${format}, and this version of envoi reads format ${FORMAT}`, isNewer: true };
    }
  }
  const parsed = operation.payload.parse(read.value);
  if (parsed.isOk()) return { line: read.value as RecordingLine }; // The schema of its kind holds.
  const [issue] = parsed.error();
  return { wrong: `is no ${kind}: ${issue === undefined ? "it does not fit" : `${issue.path} ${issue.message}`}` };
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const clip = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
