import {
  type ActorOptions,
  type AskName,
  type Context,
  checkOptions,
  type Handlers,
  type Hooks,
  type Infer,
  type OptionChecks,
  option,
  type Protocol,
  quote,
  type Schema,
  type StreamName,
} from "../../index";
import type { ExposedSessions } from "../exposes";

/** A session as its actor gets it. */
export interface Session<Metadata = Readonly<Record<string, unknown>>> {
  readonly id: string;
  /** The owner of the session: the caller's id, or the address of the network peer. */
  readonly owner: string;
  /** The metadata that the client gave with the new session. Without a schema it is a JSON object that nobody checked. */
  readonly metadata: Metadata;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * The stored events of the messages that have ended, from the oldest one that is kept: by them an actor that was passivated, or whose
   * process ended, becomes what it was. They are read in pages, while the loop goes on.
   */
  events(): Iterable<SessionEvent>;
}

/** A stored event of a session. */
export interface SessionEvent {
  /** Counts from 1 in its session. */
  readonly id: number;
  /** Counts from 1 in its session. */
  readonly message: number;
  /**
   * `request`: the message as it came, `data` is `{ operation, payload }`. `item`: an item of its stream. `reply`: the reply of an ask.
   * `end`: its stream came to its end. `error`: it failed, `data` is the problem.
   */
  readonly event: "request" | "item" | "reply" | "end" | "error";
  /** As JSON gave it back. */
  readonly data: unknown;
}

/** The way in which a streamed operation of sessions is served. */
export interface SessionStreamOptions {
  /** `"ai-sdk"` writes the UI message stream of the AI SDK (v1) in place of plain events. Default: `"sse"`. */
  readonly format?: "sse" | "ai-sdk";
}

/** The names of the operations of a protocol. */
export type OperationName<Signatures> = AskName<Signatures> | StreamName<Signatures>;

/** Operations by name; streams may have options. */
export type SessionOperations<Signatures, Name extends OperationName<Signatures> = OperationName<Signatures>> = {
  readonly [Each in Name]: Each extends StreamName<Signatures> ? true | SessionStreamOptions : true;
};

/** The options of sessions. */
export interface SessionsOptions<
  Signatures,
  Metadata extends Schema = Schema,
  Name extends OperationName<Signatures> = OperationName<Signatures>,
> {
  /** The protocol of the actor that each session has. */
  readonly protocol: Protocol<string, Signatures>;
  /** Makes the handlers of a session's actor, at its first message, and again after it was idle or failed. */
  readonly factory: NoInfer<
    (ctx: Context<Signatures>, session: Session<MetadataOf<Metadata>>) => Handlers<Signatures> & Hooks
  >;
  /** The operations that clients may call: their names, or a record of them where some have options. */
  readonly operations: readonly Name[] | SessionOperations<Signatures, Name>;
  /** Checks the metadata of a new session. Default: any JSON object. */
  readonly metadata?: Metadata;
  /** The first part of the routes and of the actors' addresses. Default: `"sessions"`. */
  readonly name?: string;
  /** The file, or `":memory:"`. Default: `"envoi-sessions.sqlite"`. */
  readonly path?: string;
  /**
   * The time at which what was committed is safe. `"process"`: it survives the death of the process, also by kill -9; a power cut may take the
   * last moments, and never damages the file. `"power"`: it survives a power cut, too, and each event waits for the disk. Default: `"process"`.
   */
  readonly durability?: "process" | "power";
  /** The bounds of what is kept. Default: those of `KeepOptions`. */
  readonly keep?: KeepOptions;
  /** Milliseconds after which an idle actor is stopped; the next message makes it again. Default: 60,000. */
  readonly idle?: number;
  /** Milliseconds that streams go on while nobody reads their session or sends to it, or `Infinity`. Default: 300,000. */
  readonly unread?: number;
  /** Most sessions of one owner. Default: 1,000. */
  readonly sessions?: number;
  /** Most messages of one session that are answered, or wait, at one time. Default: 16. */
  readonly messages?: number;
  /**
   * Called when a session is deleted, by its client or because it was not used for too long: to delete what its actor kept elsewhere, such as
   * files. The actor has stopped by then. The session is gone once this has resolved: where it throws, the process dies, or the actor does not stop
   * within `limits.time`, it is still there, and whoever deletes it next calls this again. Default: nothing is kept elsewhere.
   */
  readonly onDelete?: (session: Pick<Session, "id" | "owner">) => void | Promise<void>;
  /** The options of each actor. Default: none. */
  readonly actor?: ActorOptions;
}

/** The retention of sessions. */
export interface KeepOptions {
  /** Most events of a session; a tenth more for a moment. Default: 10,000. */
  readonly events?: number;
  /** Milliseconds that an event is kept, or `Infinity`. Default: 604,800,000 (7 days). */
  readonly age?: number;
  /** Milliseconds that a session is kept after its last message, or `Infinity`. Default: 2,592,000,000 (30 days). */
  readonly idle?: number;
}

/** The type of a session's metadata. */
export type MetadataOf<Metadata extends Schema> = Schema extends Metadata
  ? Readonly<Record<string, unknown>>
  : Infer<Metadata>;

/** All that a client may know of the sessions of a gateway; never where it has none. */
export type SessionsOf<Signatures, Metadata extends Schema, Name> = [Signatures] extends [never]
  ? never
  : ExposedSessions<Pick<Signatures, Name & keyof Signatures>, MetadataOf<Metadata>>;

const DAY = 86_400_000;

export const DEFAULTS = {
  name: "sessions",
  path: "envoi-sessions.sqlite",
  durability: "process",
  keep: { events: 10_000, age: 7 * DAY, idle: 30 * DAY },
  idle: 60_000,
  unread: 300_000,
  sessions: 1_000,
  messages: 16,
} as const;

const FROM_ONE = option.rule(
  "is a number from 1, or Infinity",
  (value) => typeof value === "number" && value >= 1,
  RangeError,
);
const STREAM: OptionChecks<SessionStreamOptions> = { format: option.oneOf("sse", "ai-sdk") };
const KEEP: OptionChecks<KeepOptions> = { events: FROM_ONE, age: FROM_ONE, idle: FROM_ONE };
const CHECKS: OptionChecks<SessionsOptions<unknown>> = {
  protocol: option.rule(
    "is made by defineProtocol()",
    (value) => typeof value === "object" && value !== null && "operations" in value,
  ),
  factory: option.function(" of a context and a session"),
  operations: option.rule(
    "are an array of names, or an object such as { say: true }",
    (value) => typeof value === "object" && value !== null,
  ),
  metadata: option.any,
  name: option.rule(
    'is made of letters, digits, and . _ ~ - between them, such as "chats"',
    (value) => typeof value === "string" && /^[A-Za-z0-9_][A-Za-z0-9_.~-]*$/.test(value),
  ),
  path: option.text,
  durability: option.oneOf("process", "power"),
  keep: option.group(KEEP, "{ events: 1_000 }"),
  idle: FROM_ONE,
  unread: FROM_ONE,
  sessions: FROM_ONE,
  messages: FROM_ONE,
  onDelete: option.function(" of the session that is deleted"),
  actor: option.any,
};
const NEEDED = ["protocol", "factory", "operations"] as const;

/** @throws TypeError or RangeError when an option cannot be one. */
export function checkSessionsOptions(options: SessionsOptions<unknown>): void {
  checkOptions(options, CHECKS, "sessions", '{ protocol: Chat, factory: createChat, operations: ["say"] }');
  const missing = NEEDED.find((option) => options[option] === undefined);
  if (missing !== undefined) {
    throw new TypeError(
      `Sessions need the option ${missing}, beside ${NEEDED.filter((each) => each !== missing).join(" and ")}.`,
    );
  }
  const { operations } = options.protocol;
  for (const [name, given] of listedIn(options.operations)) {
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (operation === undefined) {
      const known = Object.keys(operations).join(", ");
      throw new TypeError(`Sessions have no operation ${quote(name)} to expose: write one of ${known}.`);
    }
    if (given === true) continue;
    checkOptions(given, STREAM, `the operation ${name} of sessions`, '{ format: "ai-sdk" }');
    if (!operation.isStream) {
      throw new TypeError(`The operation ${name} of sessions is no stream, and has no options: write true.`);
    }
  }
}

/** The operations as they were listed, each with its options. */
export const listedIn = (
  operations: SessionsOptions<unknown>["operations"],
): readonly (readonly [string, true | SessionStreamOptions])[] =>
  Array.isArray(operations) ? operations.map((name: string) => [name, true] as const) : Object.entries(operations);
