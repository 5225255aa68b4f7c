import type { WebSocketHandler } from "bun";
import type { Address, AnyRef, Clock, Door, Logger, Metadata, Operation, OperationJsonSchema, System } from "../index";
import type { Disconnects } from "./disconnects";
import type { Preferences } from "./preferences";
import type { BunServer } from "./server";

/** The sender of a request, as `authenticate` found it. */
export interface Caller {
  /** Names the caller for limits, streams and sessions: the same text for each request of the same caller. */
  readonly id: string;
  /** More data for handlers, which read it in `ctx.metadata` beside `caller`, the id. It must be JSON. Default: none. */
  readonly metadata?: Metadata;
}

export type { BunServer };

/** One request on its way through the gateway. */
export interface Visit {
  readonly request: Request;
  /** Undefined where the gateway is mounted in another router. */
  readonly server: BunServer | undefined;
  /** The path below the gateway's base path. It begins with a slash, and is not decoded. */
  readonly path: string;
  /** The part of the URL after the `?`; empty if there is none. */
  readonly query: string;
  /** The decoded parts of the path that its route left open, in order. */
  readonly params: readonly string[];
  /** Undefined if the gateway does not authenticate. */
  readonly caller: Caller | undefined;
  /** Owns streams, sessions and limits: the caller's id, or the address of the network peer. */
  readonly owner: string;
  /** Goes with each message that the request sends. */
  readonly metadata: Metadata | undefined;
  readonly preferences: Preferences;
  /** Set when the request asked for `Server-Timing`. */
  readonly timing: Timing | null;
}

/** A part of a request whose time is told. */
export type TimedPart = "auth" | "lookup" | "validate" | "queue" | "handler" | "encode";

/** Collects how long the parts of a request took. */
export interface Timing {
  /** The time at which the request came, by the system's clock. */
  readonly begun: number;
  /** Adds milliseconds to a part. */
  add(part: TimedPart, duration: number): void;
  /** Adds the time of what does not wait to a part. */
  measure<Value>(part: TimedPart, run: () => Value): Value;
  /** Sends a message: measures how long its validation takes, and then how long it waits and how long its handler takes. */
  send<Value>(run: () => Value): Value;
  /** The metadata of a message that is measured. Those that are given belong to the request alone, and are changed. */
  mark(metadata: Metadata | undefined): Metadata;
  /** The value of the header `Server-Timing`. */
  toString(): string;
}

export type Handle = (visit: Visit) => Response | Promise<Response>;

/** The words of OpenAPI for a route. Parts of the path are added by the document itself. */
export interface RouteDescription {
  readonly summary: string;
  /** The JSON Schemas of the body and of the query's parameters. Default: none. */
  readonly body?: object;
  readonly isBodyRequired?: boolean;
  readonly query?: Readonly<Record<string, object>>;
  /**
   * The statuses that it gives beside 200 and those that follow from the rest: 400 for a query or an open part of the path; 400, 408, 413
   * and 415 for a body; 500, 503 and the gateway's own (`Site.guards`) unless the route is open.
   */
  readonly statuses?: readonly number[];
  /** The media type and the JSON Schema of the answer with status 200. Default: it never answers with 200. */
  readonly answer?: { readonly type: string; readonly schema: object };
  /** Another form in which any status from 400 may come, beside problem details. Default: none. */
  readonly failure?: { readonly type: string; readonly schema: object };
}

/** One method of one path. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Such as `/sessions/:id/events`. A part that begins with a colon is left open, and comes as one of `params`. */
  readonly path: string;
  /** True for a route that needs no caller, and is not limited, such as a probe of health. Default: false. */
  readonly isOpen?: boolean;
  readonly handle: Handle;
  /** Undefined for a route that OpenAPI does not list. */
  readonly description?: RouteDescription;
}

/** A family of metrics in OpenMetrics' terms. */
export interface MetricFamily {
  /** Such as `envoi_http_requests`, without the suffix `_total`. A family with a unit has it at the end: `envoi_http_request_seconds`. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly unit?: "seconds" | "bytes";
  readonly samples: readonly Sample[];
}

/** One value of a family. No label has a text of a request, or strangers could add rows without end. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** A number, or a histogram: counts by bucket, not added up. */
  readonly value: number | SampledHistogram;
}

export interface SampledHistogram {
  /** Upper bounds in the family's unit; the last bucket, without one, comes on top. */
  readonly bounds: readonly number[];
  readonly buckets: readonly number[];
  readonly sum: number;
  readonly count: number;
}

/** One event as it goes to clients, and into logs. */
export interface LoggedEvent {
  /** Grows from 1 on in its log. */
  readonly id: number;
  /** The number of its message, in a log of several. */
  readonly message?: number;
  /** The name of the event; undefined for an item. `error`: data is a `Problem`. `end`: the stream came to its end. */
  readonly event?: string;
  /** JSON, on one line. */
  readonly data: string;
}

/** Events in order, which readers follow from any place. */
export interface EventLog {
  /**
   * Gives the events that come after an id (0 for all), at most so many. `"gone"` when some of them are not kept any more. An empty
   * array when none has come yet, or none will.
   */
  read(after: number, most: number): readonly LoggedEvent[] | "gone";
  /** The id of the newest event; 0 if none has come. */
  readonly last: number;
  /** True once no more events will come. */
  readonly isEnded: boolean;
  /** True for a log that never ends by itself: a gateway that drains does not wait for its readers. Default: false. */
  readonly isEndless?: boolean;
  /** Resolves once there are events after an id, the log has ended, or the signal is aborted. */
  changed(after: number, signal: AbortSignal): Promise<void>;
}

/** The source of an event stream. */
export interface EventFeed {
  /** True once `read` has given the last text. */
  readonly isEnded: boolean;
  /** True where it never gives a last text by itself. Default: false. */
  readonly isEndless?: boolean;
  /** The text that ends the stream where the server goes away, and tells its reader to come back. */
  readonly goodbye: string;
  /** Waits for events, and gives the text of all that are there. It is called again only when that text was taken. */
  read(): Promise<string>;
  /** Called once: all is written, or the reader has gone. */
  leave(): void;
}

/** The event streams that are being written. */
export interface Bodies {
  readonly size: number;
  /** Answers a request with what a feed gives. `ahead` is the text of the events that are there already. */
  respond(
    feed: EventFeed,
    visit: Pick<Visit, "request" | "server">,
    ahead: string,
    headers: Readonly<Record<string, string>>,
  ): Response;
  /**
   * Resolves when all have ended. Once the signal is aborted, their clients are told to come back; those of streams without an end, once no
   * others are left.
   */
  drain(signal: AbortSignal): Promise<void>;
}

/** A part of a gateway: its routes, and what it has to tell and to end. */
export interface Part {
  readonly routes: readonly Route[];
  /** Default: none. */
  readonly metrics?: () => readonly MetricFamily[];
  /**
   * Called with each answer, for counting: the status, the milliseconds from the request to the response, and the route; undefined for a
   * path or a method that no route has.
   */
  readonly answered?: (route: Route | undefined, status: number, duration: number) => void;
  /** Of the one part that serves sockets. */
  readonly websocket?: WebSocketHandler<unknown>;
  /**
   * Called when the gateway drains: no new streams begin. It resolves when those of the part have ended. Once the signal is aborted, it
   * ends them, and tells their clients to come back.
   */
  readonly drain?: (signal: AbortSignal) => Promise<void>;
  /** Called after the actors have stopped. */
  readonly close?: () => void | Promise<void>;
}

/** Makes a part of a gateway, once the gateway is made. */
export type PartMaker = (site: Site) => Part;

/** An operation that is exposed. */
export interface Endpoint {
  readonly actor: ExposedActor;
  /** Of the actor's protocol. */
  readonly operation: Operation;
  readonly json: OperationJsonSchema;
  readonly options: EndpointOptions;
}

/** The way in which an exposed operation is served. */
export interface EndpointOptions {
  /**
   * For a stream: lets a client that was cut off come back. The stream goes on into a log, until the client has been away for too long.
   * Default: a disconnect cancels the stream.
   */
  readonly resume?: ResumeOptions;
  /** For a stream: `"ai-sdk"` writes the UI message stream of the AI SDK (v1) in place of plain events. Default: `"sse"`. */
  readonly format?: "sse" | "ai-sdk";
}

/** The log of a stream that can be resumed. */
export interface ResumeOptions {
  /** Milliseconds that the stream is kept after its last reader has left. Default: 30,000. */
  readonly for?: number;
  /** Most items in the log. A full log pauses the stream until the reader has read on. Default: 1,000. */
  readonly items?: number;
  /** Most bytes in the log, as JSON. Default: 1,048,576. */
  readonly bytes?: number;
}

/** An actor that is exposed. */
export interface ExposedActor {
  readonly name: string;
  readonly ref: AnyRef;
  readonly address: Address;
  /** Validates once (`receive`). */
  readonly door: Door;
  /** Those that its owner listed, by name. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
}

/** The exposed actors by name. */
export type Exposure = ReadonlyMap<string, ExposedActor>;

/** The bounds of what comes from outside. */
export interface Limits {
  /** Most bytes of a body. Default: 1,048,576. */
  readonly body: number;
  /** Deepest nesting of a body. Default: 64. */
  readonly depth: number;
  /** Milliseconds in which a body must have come. Default: 10,000. */
  readonly bodyTime: number;
  /**
   * Milliseconds that an ask may take; `Prefer: wait=n` (seconds) may shorten it. `authenticate` and `authorize` may each take as long, and then the
   * request is refused with 503. Default: 30,000.
   */
  readonly time: number;
  /** Most streams of one caller at one time. Default: 100. */
  readonly streams: number;
  /** Most sockets of one caller at one time. Default: 100. */
  readonly sockets: number;
  /** Most requests of one caller that wait for their answer at one time. Default: Infinity. */
  readonly requests: number;
}

/** The surroundings that all parts of a gateway share. */
export interface Site {
  readonly system: System;
  readonly clock: Clock;
  /** The system's log, for what a client is not told. */
  readonly log: Logger;
  readonly exposure: Exposure;
  readonly limits: Limits;
  /** The name and version of the service, for its documents. */
  readonly name: string;
  readonly version: string;
  /** Below which all routes are, such as `/api`; empty for none. */
  readonly basePath: string;
  /** All routes of all parts: for the documents. Complete once the gateway is made. */
  readonly routes: readonly Route[];
  /** The statuses that the gateway itself may give on each route that is not open, by its options: such as 401, 403 and 429. */
  readonly guards: readonly number[];
  /** The headers in which callers send their credentials, for OpenAPI. Empty if nobody is asked. */
  readonly credentials: readonly string[];
  /** The metrics of all parts: for the page. */
  metrics(): readonly MetricFamily[];
  /** True once the gateway drains. */
  readonly isDraining: boolean;
  /** Watches for clients that leave, and for bodies that are slow. */
  readonly disconnects: Disconnects;
  /**
   * Says who sent a request, for a part whose route is open: the caller, undefined, or the refusal. Undefined where the gateway does not
   * authenticate.
   */
  readonly authenticate:
    | ((request: Request) => Caller | Response | undefined | Promise<Caller | Response | undefined>)
    | undefined;
  /** True for an origin whose pages may use the gateway (`cors`), beside its own. */
  allows(origin: string): boolean;
  /** The event streams that are being written. `eventResponse` writes one from a log. */
  readonly bodies: Bodies;
  /** Answers with the stream of an exposed operation, or resumes one where the request has a `Last-Event-ID`. */
  readonly streams: { open(visit: Visit, endpoint: Endpoint, payload: unknown): Promise<Response> };
  /**
   * Undefined when the caller may; else the refusal. It takes from the caller's rate limits, too: call it once for each message. `actor` is
   * `/inspect` and the like for the gateway's own pages.
   */
  authorize(
    visit: Pick<Visit, "caller" | "request" | "owner">,
    actor: string,
    operation: string,
  ): Promise<Response | undefined> | Response | undefined;
  /** Takes a handshake from the rate limits of its caller: of its address, while the caller is not known. Undefined when it may; else the refusal. */
  handshake(visit: Pick<Visit, "caller" | "owner">): Promise<Response | undefined> | Response | undefined;
  /** Takes one of the streams or sockets that a caller may have. Gives the function that gives it back, or the refusal. */
  enter(visitor: Pick<Visit, "caller" | "owner">, what: "streams" | "sockets"): (() => void) | Response;
}
