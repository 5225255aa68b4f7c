import type { ActorOptions, AskName, Context, Handlers, Hooks, Infer, Protocol, Schema, StreamName } from "../../index";
import { quote } from "../../index";
import { type Checks, checkOptions, oneOf } from "../options";

/** A session as its actor gets it. */
export interface Session<Metadata = Readonly<Record<string, unknown>>> {
  readonly id: string;
  /** The owner of the session: the caller's id, or the address of the network peer. */
  readonly owner: string;
  /** What its client gave when it made the session. Without a schema it is a JSON object that nobody checked. */
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

/** How a streamed operation of sessions is served. */
export interface SessionStreamOptions {
  /** `"ai-sdk"` writes the UI message stream of the AI SDK (v1) in place of plain events. Default: `"sse"`. */
  readonly format?: "sse" | "ai-sdk";
}

/** Operations by name; streams may have options. */
export type SessionOperations<Signatures> = { readonly [Name in AskName<Signatures>]?: true } & {
  readonly [Name in StreamName<Signatures>]?: true | SessionStreamOptions;
};

/** The options of sessions. */
export interface SessionsOptions<Signatures, Metadata extends Schema = Schema> {
  /** The protocol of the actor that each session has. */
  readonly protocol: Protocol<string, Signatures>;
  /** Makes the handlers of a session's actor, at its first message, and again after it was idle or failed. */
  readonly factory: (ctx: Context<Signatures>, session: Session<MetadataOf<Metadata>>) => Handlers<Signatures> & Hooks;
  /** The operations that clients may call: their names, or a record of them where some have options. */
  readonly operations: readonly (AskName<Signatures> | StreamName<Signatures>)[] | SessionOperations<Signatures>;
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
  /** What is kept, and for how long. Default: each bound has its own, which `KeepOptions` says. */
  readonly keep?: KeepOptions;
  /** Milliseconds after which an idle actor is stopped; the next message makes it again. Default: 60,000. */
  readonly idle?: number;
  /** Milliseconds that streams go on while nobody reads their session, or `Infinity`. Default: 300,000. */
  readonly unread?: number;
  /** Most sessions of one owner. Default: 1,000. */
  readonly sessions?: number;
  /** Most messages of one session that are answered, or wait, at one time. Default: 16. */
  readonly messages?: number;
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

const NUMBERS = ["idle", "unread", "sessions", "messages"] as const;

/** @throws TypeError or RangeError when an option cannot be one. */
export function checkSessionsOptions(options: SessionsOptions<unknown>): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `The options of sessions are an object with protocol, factory and operations; got ${quote(options)}.`,
    );
  }
  const { protocol, factory, operations, name = DEFAULTS.name, path = DEFAULTS.path, durability, keep = {} } = options;
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of sessions is made by defineProtocol(); got ${quote(protocol)}.`);
  }
  if (typeof factory !== "function") {
    throw new TypeError(`The factory of sessions is a function of a context and a session; got ${quote(factory)}.`);
  }
  if (typeof operations !== "object" || operations === null) {
    throw new TypeError(
      `The operations of sessions are an array of names, or an object such as { say: true }; got ${quote(operations)}.`,
    );
  }
  for (const [name, given] of listedIn(operations)) {
    const operation = Object.hasOwn(protocol.operations, name) ? protocol.operations[name] : undefined;
    if (operation === undefined) {
      const known = Object.keys(protocol.operations).join(", ");
      throw new TypeError(`Sessions have no operation ${quote(name)} to expose: write one of ${known}.`);
    }
    if (given === true) continue;
    checkOptions(given, STREAM, `the operation ${name} of sessions`, '{ format: "ai-sdk" }');
    if (!operation.isStream) {
      throw new TypeError(`The operation ${name} of sessions is no stream, and has no options: write true.`);
    }
  }
  if (typeof name !== "string" || !/^[A-Za-z0-9_][A-Za-z0-9_.~-]*$/.test(name)) {
    throw new TypeError(
      `Sessions cannot be named ${quote(name)}: write letters, digits, and . _ ~ - between them, such as "chats".`,
    );
  }
  if (typeof path !== "string" || path === "") {
    throw new TypeError(`The path of sessions is that of a file, or ":memory:"; got ${quote(path)}.`);
  }
  if (durability !== undefined && durability !== "process" && durability !== "power") {
    throw new TypeError(`The durability of sessions is "process" or "power"; got ${quote(durability)}.`);
  }
  for (const option of NUMBERS) checkNumber(option, options[option]);
  for (const [option, value] of Object.entries(keep)) checkNumber(`keep.${option}`, value);
}

const STREAM: Checks<SessionStreamOptions> = { format: oneOf("sse", "ai-sdk") };

/** The operations as they were listed, each with its options. */
export const listedIn = (
  operations: SessionsOptions<unknown>["operations"],
): readonly (readonly [string, true | SessionStreamOptions])[] =>
  Array.isArray(operations) ? operations.map((name: string) => [name, true] as const) : Object.entries(operations);

function checkNumber(option: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value >= 1)) return;
  throw new RangeError(`The ${option} of sessions is a number from 1; got ${quote(value)}.`);
}
