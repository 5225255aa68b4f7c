import type { AnyRef, AskError, Clock, Expose, Protocol, RefTo, SignaturesOf } from "../index";

// The types of a JSON-RPC peer and of its channels; no code.

/** The events that a channel reports to its peer. They come one after another, and never before `open` has returned. */
export interface ChannelEvents {
  /** The text of one message, or of one batch. */
  text(text: string): void;
  /**
   * A text was left out: it was longer than `maxBytes`, or its bytes were not UTF-8. Later texts still come.
   *
   * @param head the first 256 characters of one that was too long. With them, whoever waits for an answer is told. Default: not known.
   */
  refused(why: "too-long" | "not-text", head?: string): void;
  /** The input has ended; texts can still be sent. Some channels cannot tell this from their end, and call `closed` only. */
  ended(): void;
  /** The channel has ended in both directions. Called once, also after `close()`. */
  closed(cause?: Error): void;
  /** `unsent` has gone down to 0. */
  drained(): void;
}

/** The limits and the clock that a channel gets from its peer. */
export interface ChannelHost {
  /** Most bytes of a text. A longer one is left out without being kept. */
  readonly maxBytes: number;
  /** The clock of the peer's system. A channel sets its timers and its microtasks there. */
  readonly clock: Clock;
}

/** Carries texts both ways: lines of stdio, a WebSocket, a message port, or a pair in memory. Its methods do not throw. */
export interface Channel {
  /** Sends the text of one message, or of one batch. It has no line break. False when the channel is closed: nothing was sent. */
  send(text: string): boolean;
  /** Begins to read. Called once, by the peer that the channel belongs to. */
  open(events: ChannelEvents, host: ChannelHost): void;
  /** Bytes that were sent, and that the pipe to the other side has not taken yet. */
  readonly unsent: number;
  /** Hands on no text until `resume`. Texts that come meanwhile wait with their sender, or in the channel up to a bound. */
  pause(): void;
  resume(): void;
  /** Ends both directions. Texts sent before still leave if the pipe takes them. A second call does nothing. */
  close(): void;
}

/** Names a request. A fraction, or an integer that a number cannot hold exactly, is not a valid id. */
export type RequestId = string | number | null;

/** A method that the other side may call. */
export interface Served {
  /**
   * The actor that handles it, or a function that finds the actor by the params, such as that of a session. The params are not
   * validated yet. Undefined, or a throw, refuses the message as -32602.
   */
  readonly ref: AnyRef | ((params: unknown) => AnyRef | undefined);
  /** The operation. Its payload is the params. A request is answered with its reply, or null if it has none. Streams cannot be served. */
  readonly operation: string;
  /** The name of a capability. While `Peer.capabilities` lacks it, the method is unknown (-32601). Default: none. */
  readonly needs?: string;
  /** The longest time that a request may take, in milliseconds, or `Infinity`. Default: that of the peer. */
  readonly longest?: number;
}

/** The methods that the other side may call, by name. */
export type Serves = Readonly<Record<string, Served>>;

/** A method of the other side. */
export interface Called {
  readonly method: string;
  /** The name of a capability. While `Peer.capabilities` lacks it, nothing is sent: `unknown-operation`. Default: none. */
  readonly needs?: string;
}

/** A part of the other side, as a reference. */
export interface Calling<P extends Protocol = Protocol> {
  /**
   * The protocol of this part. It checks the replies. An ask is a request; a tell and an offer are notifications. A payload is an object
   * or an array, or left out. Streams have no form in JSON-RPC.
   */
  readonly protocol: P;
  /** The method of each operation. Operations that are left out are `unknown-operation`. */
  readonly methods: { readonly [Name in keyof SignaturesOf<P>]?: string | Called };
  /** As in `AttachOptions`. Default: none. */
  readonly expose?: Expose;
}

/** The protocols of the parts of the other side, by names of one's own. */
export type Protocols = Readonly<Record<string, Protocol>>;

/** Parts of the other side, by names of one's own. */
export type Calls<Parts extends Protocols = Protocols> = { readonly [Name in keyof Parts]: Calling<Parts[Name]> };

/** The notification that cancels a request. */
export type CancelName = "$/cancel_request" | "$/cancelRequest" | "notifications/cancelled";

/** The notification that reports the progress of a request. */
export type ProgressName = "$/progress" | "notifications/progress";

/** An error in a response. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The options of a peer. */
export interface PeerOptions<Parts extends Protocols = Protocols> {
  /** Its references are at `@(name)` and `@(name/…)`. Default: `rpc/1`, `rpc/2` and so on. */
  readonly name?: string;
  /** The methods that the other side may call. Default: none. */
  readonly serves?: Serves;
  /** The parts of the other side that become references. Default: none. */
  readonly calls?: Calls<Parts>;
  /** The capabilities that hold from the beginning (`Served.needs`, `Called.needs`). Default: none. */
  readonly capabilities?: Iterable<string>;
  /**
   * The notification of a cancellation, both ways: `$/cancel_request` (ACP), `$/cancelRequest` (LSP) or `notifications/cancelled`
   * (MCP, where a cancelled request is not answered). Default: `$/cancel_request`.
   */
  readonly cancel?: CancelName;
  /** The notification of progress, both ways: `$/progress` (LSP) or `notifications/progress` (MCP). Default: `notifications/progress`. */
  readonly progress?: ProgressName;
  /**
   * True to send the trace of a message with it, and to take that of the other side: `traceparent` and `tracestate` (W3C Trace Context) in the
   * `_meta` of the params, where MCP and ACP have them. Handlers read them in `ctx.metadata`, and what they send is in the same trace. Nothing
   * else of the metadata travels, and params that are an array have no place for it. False for another side that refuses members that it
   * does not know. Default: true.
   */
  readonly trace?: boolean;
  /**
   * Makes the error of a request that failed, in place of the table of codes. The other side learns all of it (P18). The table applies
   * where it returns undefined. Default: the table.
   */
  readonly errorOf?: (error: AskError, method: string) => RpcErrorObject | undefined;
  /**
   * Most requests of the other side under way; fewer once their texts exceed 16 times `maxBytes`. The channel is then paused, for a second
   * at most, because answers and cancellations come over it, too. Requests beyond are refused as `mailbox-full`; while requests of this
   * side wait for answers, they are refused without a pause. A whole number from 1. Default: 1,000.
   */
  readonly most?: number;
  /** The longest time that a request of the other side may take, in milliseconds, or `Infinity`. Default: 600,000. */
  readonly longest?: number;
  /** Most bytes of a text. A longer one is refused as -32600 and not kept. Default: 4,194,304. */
  readonly maxBytes?: number;
  /** Deepest nesting of a text: a whole number from 1 to 512. Default: 512. */
  readonly maxDepth?: number;
  /** Most messages in a batch. A larger one is refused as a whole. 0 refuses all batches. Default: 100. */
  readonly maxBatch?: number;
  /**
   * Most bytes that wait to be sent. Beyond it, messages to references are refused as `mailbox-full`. Beyond as many bytes of answers,
   * nothing more is read. While this side waits for an answer, that lasts for a second at most, and then requests are refused as
   * `mailbox-full`. Default: 4,194,304.
   */
  readonly maxUnsent?: number;
  /** Milliseconds after which a channel that takes nothing is closed, once `maxUnsent` is reached. Default: 30,000. */
  readonly stalledAfter?: number;
}

/** The counts of a peer since it was made. */
export interface PeerCounts {
  /** Messages that came, those in batches included. */
  readonly received: number;
  /** Those among them that were refused. */
  readonly refused: number;
  /** Responses to unknown requests. */
  readonly orphaned: number;
  /** Responses whose asker had given up. */
  readonly late: number;
}

/** One side of a JSON-RPC connection. */
export interface Peer<Parts extends Protocols = Record<never, never>> {
  /** Stands for the connection: watch it to learn that it has ended (`unreachable`). It takes no messages. */
  readonly ref: AnyRef;
  /** The parts of the other side (`calls`), as references like any other. */
  readonly refs: { readonly [Name in keyof Parts]: RefTo<Parts[Name]> };
  /** The capabilities that hold now. Add and delete names as they are agreed on; each message is checked against them. */
  readonly capabilities: Set<string>;
  readonly counts: PeerCounts;
  /** Requests of the other side that are under way. */
  readonly serving: number;
  /** Requests of this side that wait for their answers. */
  readonly waiting: number;
  /** Adds a method, replaces it, or takes it away. */
  serve(method: string, served: Served | undefined): void;
  /** Resolves once either side has ended the connection; with the error, if one ended it. Never rejects. */
  readonly closed: Promise<Error | undefined>;
  /**
   * Ends the connection. Asks that were sent end as `timeout`, handlers of the other side's requests are cancelled, and the references
   * end as `unreachable`. A second call does nothing.
   */
  close(): void;
}
