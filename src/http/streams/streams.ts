import type { Endpoint, MetricFamily, Part, Route, Site, Visit } from "../contract";
import { familyOf } from "../metric-family";
import { problemOf, refuse, refuseProblem } from "../problem";
import { durableResponse } from "./durable-streams";
import { formatOf } from "./event-format";
import { eventResponse, lastEventId, ticks } from "./event-response";
import { Ahead, CREDIT, ItemFeed, problemOfThrown } from "./item-feed";
import { type Kept, KeptStreams, refuseUnknownStream } from "./kept-streams";

/** The streams of exposed operations, and those that can be resumed. */
export class OpenStreams {
  readonly #site: Site;
  readonly #kept: KeptStreams;

  constructor(site: Site) {
    this.#site = site;
    this.#kept = new KeptStreams(site);
  }

  /** Answers with the stream of an exposed operation, or resumes one where the request has a `Last-Event-ID`. */
  async open(visit: Visit, endpoint: Endpoint, payload: unknown): Promise<Response> {
    const site = this.#site;
    const { options, actor, operation } = endpoint;
    if (options.resume !== undefined) {
      const id = visit.request.headers.get("last-event-id");
      if (id !== null) return this.#resume(visit, endpoint, id);
    }
    const release = site.enter(visit, "streams");
    if (release instanceof Response) return release;
    const items = actor.door.stream(operation.name, payload, {
      ...(visit.metadata !== undefined && { metadata: visit.metadata }),
      ...(options.resume === undefined ? { credit: CREDIT } : { abandonedAfter: Number.POSITIVE_INFINITY }), // Its log says when it is given up.
    });
    // A stream that fails at once gets a status of its own, and the first events go out with the headers.
    const first = new Ahead(items);
    for (let wait = 0; wait < 4 && first.isPending; wait++) await ticks();
    if (first.isPending) {
      // The turn of the actors may have been over, so that the stream has not begun.
      await new Promise<void>((go) => site.clock.macrotask(go));
      await ticks();
    }
    if (first.failure !== null) {
      release();
      return refuseProblem(problemOfThrown(endpoint, first.failure.thrown));
    }
    if (options.resume !== undefined) {
      const kept = this.#kept.keep(visit.owner, endpoint, payload, items);
      void kept.log.run(first.step());
      if (!first.isPending) await kept.log.filled();
      return this.#follow(visit, kept, 0, release);
    }
    const feed = new ItemFeed(endpoint, items, first, release);
    const ahead = first.isPending ? "" : await feed.read();
    return site.bodies.respond(feed, visit, ahead, formatOf(options).headers);
  }

  /**
   * Answers with the events of a stream after one of them.
   *
   * @param held gives back the place that the reader has already. Default: the stream's own, or a new one.
   */
  #follow(visit: Visit, kept: Kept, after: number, held?: () => void): Response {
    const { log, id, endpoint } = kept;
    const place = held ?? kept.place ?? this.#site.enter(visit, "streams");
    if (place instanceof Response) return place;
    kept.place = null;
    return eventResponse(this.#site, visit, log, {
      after,
      prefix: `${id}:`,
      format: formatOf(endpoint.options),
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
    const kept = this.#kept.find(visit.owner, id);
    if (kept instanceof Response) return kept;
    return kept.endpoint === endpoint ? this.#follow(visit, kept, Number(number)) : refuseUnknownStream();
  }

  /** The stream that a path names, if its caller may still use its operation. */
  async #ask(visit: Visit): Promise<Kept | Response> {
    const kept = this.#kept.find(visit.owner, visit.params[0] ?? "");
    if (kept instanceof Response) return kept;
    const { actor, operation } = kept.endpoint;
    const refusal = await this.#site.authorize(visit, actor.name, operation.name);
    return refusal ?? this.#kept.find(visit.owner, kept.id); // It may be gone by now.
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
    this.#kept.remove(kept);
    return new Response(null, { status: 204 });
  }

  /** For the AI SDK's `useChat({ resume: true })`: the stream that a chat waits for, from its beginning. */
  async #readChat(visit: Visit): Promise<Response> {
    const [name = "", operation = "", chat = ""] = visit.params;
    const endpoint = this.#site.exposure.get(name)?.endpoints.get(operation);
    if (endpoint?.options.format !== "ai-sdk" || endpoint.options.resume === undefined) return refuseUnknownStream();
    const refusal = await this.#site.authorize(visit, name, operation);
    if (refusal !== undefined) return refusal;
    const kept = this.#kept.ofChat(visit.owner, endpoint, chat);
    return kept === undefined || kept.log.isEnded ? new Response(null, { status: 204 }) : this.#follow(visit, kept, 0);
  }

  /** Those that the exposed operations need: nothing is there to be read where none of them can be resumed. */
  get #routes(): readonly Route[] {
    const resumed = [...this.#site.exposure.values()]
      .flatMap(({ endpoints }) => [...endpoints.values()])
      .filter(({ options }) => options.resume !== undefined);
    return [
      ...(resumed.length > 0 ? this.#streamRoutes : []),
      ...(resumed.some(({ options }) => options.format === "ai-sdk") ? [this.#chatRoute] : []),
    ];
  }

  get #streamRoutes(): readonly Route[] {
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
    ];
  }

  get #chatRoute(): Route {
    return {
      method: "GET",
      path: "/actors/:name/:operation/:chat/stream",
      handle: (visit) => this.#readChat(visit),
      description: {
        summary: "Gives the AI SDK's hooks the stream that a chat waits for; 204 if there is none",
        statuses: [204, 404, 410],
        answer: { type: "text/event-stream", schema: { type: "string" } },
      },
    };
  }

  #metrics(): readonly MetricFamily[] {
    const { bodies } = this.#site;
    return [
      familyOf("gauge", "envoi_http_streams", "Event streams that are being written.", bodies.size),
      familyOf("gauge", "envoi_http_kept_streams", "Streams in memory that can be resumed.", this.#kept.size),
    ];
  }

  get part(): Part {
    const close = (): void => this.#kept.close();
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

/** For readers in browsers, as the Durable Streams protocol advises. */
function secured(response: Response): Response {
  response.headers.set("x-content-type-options", "nosniff");
  return response;
}
