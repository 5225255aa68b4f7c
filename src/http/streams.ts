import { type ActorStream, logOf, quote, StreamError } from "../index";
import type { Endpoint, MetricFamily, Part, ResumeOptions, Route, Site, Visit } from "./contract";
import { durableResponse } from "./durable-streams";
import type { EventFeed } from "./event-body";
import { type AddEvent, AI_SDK, type Encoder, type EventFormat, SSE, unnumbered } from "./event-format";
import { eventResponse, LONG, lastEventId, ticks } from "./event-response";
import { type Problem, problemOf, problemOfError, refuse, refuseProblem } from "./problem";
import { type LogLimits, StreamLog } from "./stream-log";

const RESUME: LogLimits = { for: 30_000, items: 1_000, bytes: 1_048_576 };

/** Most items that the producer may be ahead, and that are written at once. */
const CREDIT = 64;

/** In milliseconds; longer where a log is kept for longer. */
const ABANDONED_AFTER = 300_000;

/** Most streams whose end is remembered, so that their owner gets 410 and not 404. */
const REMEMBERED = 10_000;

/** Most characters of a chat's id. */
const LONGEST_CHAT = 200;

/** A stream that can be resumed. */
interface Kept {
  readonly id: string;
  readonly owner: string;
  readonly endpoint: Endpoint;
  readonly log: StreamLog;
  /** Names the chat that it answers, with its owner and operation. */
  readonly chat: string | undefined;
  /** Gives back its place among the streams of its owner. Null while a reader holds that. */
  place: (() => void) | null;
}

/** The streams of exposed operations, and those that can be resumed. */
export class OpenStreams {
  readonly #site: Site;
  readonly #kept = new Map<string, Kept>();
  readonly #chats = new Map<string, Kept>();
  /** Streams that have ended, by owner: a bounded number of them is kept. */
  readonly #ended = new Map<string, Set<Kept>>();
  /** The owners of streams that are not kept any more. */
  readonly #gone = new Map<string, string>();

  /** @throws RangeError when an option of an exposed stream is invalid. */
  constructor(site: Site) {
    this.#site = site;
    for (const { name, endpoints } of site.exposure.values()) {
      for (const [operation, { options }] of endpoints) checkResume(`${name}.${operation}`, options.resume ?? {});
    }
  }

  /** Answers with the stream of an exposed operation, or resumes one where the request has a `Last-Event-ID`. */
  async open(visit: Visit, endpoint: Endpoint, payload: unknown): Promise<Response> {
    const site = this.#site;
    const { options, actor, operation } = endpoint;
    if (options.resume !== undefined) {
      const id = visit.request.headers.get("last-event-id");
      if (id !== null) return this.#resume(visit, endpoint, id);
    }
    const release = site.enter(visit.owner, "streams");
    if (release instanceof Response) return release;
    const limits = { ...RESUME, ...options.resume };
    const items = actor.door.stream(operation.name, payload, {
      ...(visit.metadata !== undefined && { metadata: visit.metadata }),
      ...(options.resume === undefined
        ? { credit: CREDIT }
        : { abandonedAfter: Math.max(limits.for, ABANDONED_AFTER) }),
    });
    // A stream that fails at once gets a status of its own, and the first events go out with the headers.
    const first = new Ahead(items);
    for (let wait = 0; wait < 4 && first.isPending; wait++) await ticks();
    if (first.failure !== null) {
      release();
      return refuseProblem(problemOfThrown(endpoint, first.failure.thrown));
    }
    const format = options.format === "ai-sdk" ? AI_SDK : SSE;
    if (options.resume !== undefined) {
      const kept = this.#keep(visit, endpoint, payload, items, limits, format, release);
      void kept.log.run(first.step());
      return this.#follow(visit, kept, 0);
    }
    const feed = new ItemFeed(endpoint, items, first, format, release);
    const ahead = first.isPending ? "" : await feed.read();
    visit.server?.timeout(visit.request, 0); // Else Bun ends a stream that is quiet for 10 seconds.
    return new Response(site.bodies.open(feed, visit.request, ahead), { headers: format.headers });
  }

  #keep(
    visit: Visit,
    endpoint: Endpoint,
    payload: unknown,
    items: ActorStream<unknown>,
    limits: LogLimits,
    format: EventFormat,
    place: () => void,
  ): Kept {
    const log = new StreamLog(
      this.#site.clock,
      limits,
      format.encoder(),
      items,
      (thrown) => problemOfThrown(endpoint, thrown),
      { end: () => this.#onEnd(kept), expiry: () => this.#remove(kept) },
    );
    const { owner } = visit;
    const kept: Kept = { id: crypto.randomUUID(), owner, endpoint, log, chat: chatOf(owner, endpoint, payload), place };
    this.#kept.set(kept.id, kept);
    if (kept.chat !== undefined) this.#chats.set(kept.chat, kept);
    return kept;
  }

  /** Answers with the events of a stream after one of them. */
  #follow(visit: Visit, kept: Kept, after: number): Response {
    const { log, id, endpoint } = kept;
    const place = kept.place ?? this.#site.enter(visit.owner, "streams");
    if (place instanceof Response) return place;
    kept.place = null;
    return eventResponse(this.#site, visit, log, {
      after,
      prefix: `${id}:`,
      format: endpoint.options.format === "ai-sdk" ? AI_SDK : SSE,
      headers: { "content-location": `${this.#site.basePath}/streams/${id}` },
      follow: (from) => log.follow(from),
      release: () => {
        // The stream keeps the place of its last reader until it has ended.
        if (log.isEnded || log.followers > 0 || kept.place !== null) place();
        else kept.place = place;
      },
    });
  }

  async #resume(visit: Visit, endpoint: Endpoint, eventId: string): Promise<Response> {
    const [, id, number] = /^([\w-]{1,64}):(\d{1,15})$/.exec(eventId) ?? [];
    if (id === undefined)
      return refuse("bad-request", "The Last-Event-ID is of no stream: leave it out, to begin one.");
    const kept = this.#find(visit, id);
    if (kept instanceof Response) return kept;
    return kept.endpoint === endpoint ? this.#follow(visit, kept, Number(number)) : NOT_FOUND();
  }

  /** The stream with an id, if it is of this owner. */
  #find({ owner }: Visit, id: string): Kept | Response {
    const kept = this.#kept.get(id);
    if (kept?.owner === owner) return kept;
    return this.#gone.get(id) === owner
      ? refuse("gone", "The stream is not kept any more: begin a new one.")
      : NOT_FOUND();
  }

  #onEnd(kept: Kept): void {
    kept.place?.();
    kept.place = null;
    const { owner } = kept;
    const ended = this.#ended.get(owner) ?? new Set();
    this.#ended.set(owner, ended.add(kept));
    const [oldest] = ended;
    if (ended.size > this.#site.limits.streams && oldest !== undefined) this.#remove(oldest);
  }

  #remove(kept: Kept): void {
    const { id, owner, chat, log } = kept;
    if (!this.#kept.delete(id)) return;
    log.close();
    if (chat !== undefined && this.#chats.get(chat) === kept) this.#chats.delete(chat);
    const ended = this.#ended.get(owner);
    ended?.delete(kept);
    if (ended?.size === 0) this.#ended.delete(owner);
    this.#gone.set(id, owner);
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > REMEMBERED && oldest !== undefined) this.#gone.delete(oldest);
  }

  /** The stream that a path names, if its caller may still use its operation. */
  async #ask(visit: Visit): Promise<Kept | Response> {
    const kept = this.#find(visit, visit.params[0] ?? "");
    if (kept instanceof Response) return kept;
    const { actor, operation } = kept.endpoint;
    return (await this.#site.authorize(visit, actor.name, operation.name)) ?? kept;
  }

  async #read(visit: Visit): Promise<Response> {
    const kept = await this.#ask(visit);
    if (kept instanceof Response) return secured(kept);
    const { headers } = visit.request;
    const wantsEvents = headers.has("last-event-id") || headers.get("accept")?.includes("text/event-stream") === true;
    if (wantsEvents && !/(?:^|&)(?:live|offset)=/.test(visit.query)) {
      const after = lastEventId(visit, `${kept.id}:`);
      return after instanceof Response ? after : this.#follow(visit, kept, after);
    }
    const { id, log } = kept;
    return durableResponse(this.#site, visit, log, { id, follow: (after) => log.follow(after) });
  }

  async #stop(visit: Visit): Promise<Response> {
    const kept = await this.#ask(visit);
    if (kept instanceof Response) return kept;
    kept.log.stop(problemOf("cancelled", "The stream was stopped by its owner."));
    this.#remove(kept);
    return new Response(null, { status: 204 });
  }

  /** For the AI SDK's `useChat({ resume: true })`: the stream that a chat waits for, from its beginning. */
  async #readChat(visit: Visit): Promise<Response> {
    const [name = "", operation = "", chat = ""] = visit.params;
    const endpoint = this.#site.exposure.get(name)?.endpoints.get(operation);
    if (endpoint?.options.format !== "ai-sdk" || endpoint.options.resume === undefined) return NOT_FOUND();
    const refusal = await this.#site.authorize(visit, name, operation);
    if (refusal !== undefined) return refusal;
    const kept = this.#chats.get(chatOf(visit.owner, endpoint, { id: chat }) ?? "");
    return kept === undefined || kept.log.isEnded ? new Response(null, { status: 204 }) : this.#follow(visit, kept, 0);
  }

  get #routes(): readonly Route[] {
    return [
      {
        method: "GET",
        path: "/streams/:id",
        handle: (visit) => this.#read(visit),
        description: {
          summary:
            "Reads a stream that can be resumed: by the Durable Streams protocol, or as server-sent events after Last-Event-ID",
          query: {
            offset: { type: "string", pattern: "^(-1|now|\\d{16})$" },
            live: { enum: ["long-poll", "sse"] },
            cursor: { type: "string" },
          },
          statuses: [204, 304, 404, 410],
          answer: { type: "application/json", schema: { type: "array" } },
        },
      },
      {
        method: "DELETE",
        path: "/streams/:id",
        handle: (visit) => this.#stop(visit),
        description: { summary: "Stops a stream that can be resumed", statuses: [204, 404, 410] },
      },
      {
        method: "GET",
        path: "/actors/:name/:operation/:chat/stream",
        handle: (visit) => this.#readChat(visit),
        description: {
          summary: "Gives the AI SDK's hooks the stream that a chat waits for; 204 if there is none",
          statuses: [204, 404, 410],
          answer: { type: "text/event-stream", schema: { type: "string" } },
        },
      },
    ];
  }

  #metrics(): readonly MetricFamily[] {
    const sample = (value: number) => [{ labels: {}, value }];
    return [
      {
        name: "envoi_http_streams",
        type: "gauge",
        help: "Event streams that are being written.",
        samples: sample(this.#site.bodies.size),
      },
      {
        name: "envoi_http_kept_streams",
        type: "gauge",
        help: "Streams in memory that can be resumed.",
        samples: sample(this.#kept.size),
      },
    ];
  }

  get part(): Part {
    const close = (): void => {
      for (const kept of [...this.#kept.values()]) this.#remove(kept);
    };
    return {
      routes: this.#routes,
      metrics: () => this.#metrics(),
      drain: async (signal) => {
        await this.#site.bodies.drain(signal);
        close();
      },
      close,
    };
  }
}

function checkResume(name: string, resume: ResumeOptions): void {
  for (const key of ["for", "items", "bytes"] as const) {
    const value = resume[key] ?? 1;
    if (!(value >= 1)) throw new RangeError(`resume.${key} of ${name} is a number from 1; got ${quote(value)}.`);
  }
}

const NOT_FOUND = (): Response => refuse("not-found", "There is no such stream of this caller: begin a new one.");

/** For readers in browsers, as the Durable Streams protocol advises. */
function secured(response: Response): Response {
  response.headers.set("x-content-type-options", "nosniff");
  return response;
}

/** The key of the chat that a request of the AI SDK's hooks belongs to. */
function chatOf(owner: string, { actor, operation, options }: Endpoint, payload: unknown): string | undefined {
  if (options.format !== "ai-sdk" || typeof payload !== "object" || payload === null || !("id" in payload))
    return undefined;
  const { id } = payload;
  if (typeof id !== "string" || id.length > LONGEST_CHAT) return undefined;
  return JSON.stringify([owner, actor.name, operation.name, id]);
}

/** A read of a stream, which says whether it is answered. */
class Ahead {
  isPending = true;
  failure: { readonly thrown: unknown } | null = null;
  readonly #step: Promise<IteratorResult<unknown, undefined>>;

  constructor(items: ActorStream<unknown>) {
    this.#step = items.next();
    this.#step.then(
      () => {
        this.isPending = false;
      },
      (thrown: unknown) => {
        this.isPending = false;
        this.failure = { thrown };
      },
    );
  }

  step(): Promise<IteratorResult<unknown, undefined>> {
    return this.#step;
  }
}

/** A failure as clients may know it. The rest is logged. */
function problemOfThrown(endpoint: Endpoint, thrown: unknown): Problem {
  tell(endpoint, thrown);
  return thrown instanceof StreamError
    ? problemOfError(thrown.error)
    : problemOf("internal-error", "An item of the stream could not be written. The service's log says why.");
}

function tell({ actor, operation }: Endpoint, thrown: unknown): void {
  if (thrown instanceof StreamError && thrown.kind !== "handler-failed") return;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  logOf(actor.ref).error(`${operation.name} of "${actor.name}" failed for a request: ${message}`, { cause: thrown });
}

/** Reads a stream for its one response. */
class ItemFeed implements EventFeed {
  isEnded = false;
  readonly goodbye: string;
  readonly #end: string | null;
  readonly #endpoint: Endpoint;
  readonly #items: ActorStream<unknown>;
  readonly #encoder: Encoder;
  readonly #release: () => void;
  #ahead: Ahead;
  #text = "";
  readonly #add: AddEvent = (data, event) => {
    this.#text += unnumbered(data, event, this.#end);
  };

  constructor(
    endpoint: Endpoint,
    items: ActorStream<unknown>,
    first: Ahead,
    { goodbye, end, encoder }: EventFormat,
    release: () => void,
  ) {
    this.goodbye = goodbye;
    this.#end = end;
    this.#endpoint = endpoint;
    this.#items = items;
    this.#ahead = first;
    this.#encoder = encoder();
    this.#release = release;
  }

  async read(): Promise<string> {
    const add = this.#add;
    let count = 0;
    try {
      while (!this.isEnded && count < CREDIT && this.#text.length < LONG) {
        if (count > 0 && this.#ahead.isPending) {
          await ticks(); // What comes at once goes out at once, in one chunk.
          if (this.#ahead.isPending) break;
        }
        const step = await this.#ahead.step();
        if (step.done === true) {
          this.isEnded = true;
          this.#encoder.end(add);
        } else {
          const ready = this.#items.ready(CREDIT);
          this.#encoder.item(step.value, add);
          for (const item of ready) this.#encoder.item(item, add);
          count += 1 + ready.length;
          this.#ahead = new Ahead(this.#items);
        }
      }
    } catch (thrown) {
      this.isEnded = true;
      this.#encoder.error(problemOfThrown(this.#endpoint, thrown), add);
    }
    const text = this.#text;
    this.#text = "";
    return text;
  }

  leave(): void {
    this.#release();
    void this.#items.return();
  }
}
