import type { EventFeed, EventLog, LoggedEvent, Site, Visit } from "../contract";
import { keepOpen } from "../disconnects";
import { type Problem, refuse } from "../problem";
import { EVENT_STREAM } from "./event-format";

// Reads of the Durable Streams protocol (github.com/durable-streams/durable-streams, PROTOCOL.md). An offset is the id of the last
// event that the reader has, as 16 digits.

/** Writes the events of a log by this protocol. */
export interface DurableContent {
  readonly type: string;
  /** True where the data of server-sent events is in base64. */
  readonly isBinary?: boolean;
  body(events: readonly LoggedEvent[]): string | Uint8Array;
  /** The lines of one `data` event. */
  lines(events: readonly LoggedEvent[]): readonly string[];
}

const arrayOf = (events: readonly LoggedEvent[]): string => `[${events.map(({ data }) => data).join(",")}]`;

/** Each event is one message; reads give an array of them. */
export const JSON_CONTENT: DurableContent = {
  type: "application/json",
  body: arrayOf,
  lines: (events) => [arrayOf(events)],
};

export interface DurableOptions {
  /** Names the log, in tags. */
  readonly id: string;
  /** Default: JSON. */
  readonly content?: DurableContent;
  /** Milliseconds that a long poll waits. Default: 20,000. */
  readonly wait?: number;
  /** Told how far the reader is. Default: nobody. */
  readonly follow?: (after: number) => { at: number; leave(): void };
}

const WAIT = 20_000;
/** Most events of one answer. */
const MOST = 1_000;

/** Cursors count intervals of this length, in milliseconds, from a day that the protocol names. */
const INTERVAL = 20_000;
const EPOCH = Date.UTC(2024, 9, 9);
/** Most intervals that a cursor jumps ahead: an hour. */
const JITTER = 180;

const SECURE = { "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" };
const NOT_KEPT = "The events at this offset are not kept any more: begin anew.";

/** Answers a read of a log: what there is after an offset, or live by long poll or server-sent events. */
export async function durableResponse(
  site: Site,
  visit: Visit,
  log: EventLog,
  options: DurableOptions,
): Promise<Response> {
  const read = new DurableRead(site, visit, log, options);
  const response = await read.answer();
  for (const [name, value] of Object.entries(SECURE)) response.headers.set(name, value);
  return response;
}

class DurableRead {
  readonly #site: Site;
  readonly #visit: Visit;
  readonly #log: EventLog;
  readonly #options: DurableOptions;
  readonly #content: DurableContent;

  constructor(site: Site, visit: Visit, log: EventLog, options: DurableOptions) {
    this.#site = site;
    this.#visit = visit;
    this.#log = log;
    this.#options = options;
    this.#content = options.content ?? JSON_CONTENT;
  }

  answer(): Response | Promise<Response> {
    const log = this.#log;
    if (this.#visit.request.method === "HEAD") {
      return new Response(null, {
        headers: {
          "content-type": this.#content.type,
          "cache-control": "no-store",
          ...this.#place(log.last),
        },
      });
    }
    const query = new URLSearchParams(this.#visit.query);
    const offset = query.get("offset");
    const live = query.get("live");
    const after = this.#afterOf(offset);
    if (after === null || query.getAll("offset").length > 1) {
      return refuse("bad-request", "The offset is not valid: send -1, now, or the Stream-Next-Offset of an answer.");
    }
    if (live === null) return this.#catchUp(after, offset === "now");
    if (offset === null) return refuse("bad-request", "A live read needs an offset: add offset=-1, or offset=now.");
    if (live === "long-poll") return this.#poll(after, query.get("cursor"));
    if (live === "sse") return this.#follow(after, query.get("cursor"));
    return refuse("bad-request", "The mode of a live read is long-poll or sse.");
  }

  #afterOf(offset: string | null): number | null {
    if (offset === null || offset === "-1") return 0;
    if (offset === "now") return this.#log.last;
    const after = /^\d{16}$/.test(offset) ? Number(offset) : Number.NaN;
    return after <= this.#log.last ? after : null;
  }

  #catchUp(after: number, isNow: boolean): Response {
    const log = this.#log;
    const events = log.read(after, MOST);
    if (events === "gone") return refuse("gone", NOT_KEPT);
    this.#options.follow?.(after).leave(); // The reader has what is before, and is not away.
    const next = events.at(-1)?.id ?? after;
    const headers: Record<string, string> = {
      "content-type": this.#content.type,
      "cache-control": isNow ? "no-store" : "private, no-cache",
      ...this.#place(next),
    };
    if (!isNow) headers["etag"] = `"${this.#options.id}:${after}:${next}${log.isEnded ? ":end" : ""}"`;
    const known = this.#visit.request.headers.get("if-none-match")?.split(/\s*,\s*/) ?? [];
    if (!isNow && known.includes(headers["etag"] ?? "")) {
      return new Response(null, { status: 304, headers });
    }
    return new Response(this.#content.body(itemsOf(events)), { headers });
  }

  async #poll(after: number, cursor: string | null): Promise<Response> {
    const log = this.#log;
    const { clock, disconnects, limits } = this.#site;
    const release = this.#site.enter(this.#visit, "streams");
    if (release instanceof Response) return release;
    const wait = Math.min(this.#options.wait ?? WAIT, limits.time);
    const follower = this.#options.follow?.(after);
    keepOpen(this.#visit.server, this.#visit.request);
    const watched = disconnects.watch(this.#visit.request);
    const over = new AbortController();
    const timer = clock.setTimer(() => over.abort(), wait);
    watched.signal.addEventListener("abort", () => over.abort(), { once: true });
    if (!log.isEnded) await log.changed(after, over.signal);
    timer.cancel();
    watched.end();
    follower?.leave();
    release();
    const events = log.read(after, MOST);
    if (events === "gone") return refuse("gone", NOT_KEPT);
    const next = events.at(-1)?.id ?? after;
    const items = itemsOf(events);
    const headers = { ...this.#place(next), "stream-cursor": this.#cursorAfter(cursor), "cache-control": "no-store" };
    return items.length === 0
      ? new Response(null, { status: 204, headers })
      : new Response(this.#content.body(items), { headers: { ...headers, "content-type": this.#content.type } });
  }

  #follow(after: number, cursor: string | null): Response {
    const log = this.#log;
    if (this.#site.isDraining) return refuse("unavailable", "The server goes away: come back in a moment.");
    if (log.read(after, 1) === "gone") return refuse("gone", NOT_KEPT);
    const release = this.#site.enter(this.#visit, "streams");
    if (release instanceof Response) return release;
    const feed = new DurableFeed(log, this.#content, after, () => this.#cursorAfter(cursor), {
      follower: this.#options.follow?.(after),
      release,
    });
    return this.#site.bodies.respond(feed, this.#visit, feed.take(true), {
      ...EVENT_STREAM,
      ...(this.#content.isBinary === true && { "stream-sse-data-encoding": "base64" }),
    });
  }

  /** The headers that say where a reader is. */
  #place(next: number): Record<string, string> {
    const { isEnded, last } = this.#log;
    const isThere = next >= last;
    const problem = isThere && isEnded ? problemIn(this.#log) : null;
    return {
      "stream-next-offset": offsetOf(next),
      ...(isThere && { "stream-up-to-date": "true" }),
      ...(isThere && isEnded && { "stream-closed": "true" }),
      ...(problem !== null && { "stream-error": problem.kind }),
    };
  }

  /** A cursor that is later than that of the request, so that no cache answers the next one with this answer. */
  #cursorAfter(cursor: string | null): string {
    const now = Math.floor((this.#site.clock.wallTime() - EPOCH) / INTERVAL);
    const given = cursor !== null && /^\d{1,15}$/.test(cursor) ? Number(cursor) : -1;
    return String(given < now ? now : given + 1 + Math.floor(Math.random() * JITTER));
  }
}

const offsetOf = (id: number): string => String(id).padStart(16, "0");

/** The events that are items of the stream: its end is told in other ways. */
const itemsOf = (events: readonly LoggedEvent[]): readonly LoggedEvent[] =>
  events.filter(({ event }) => event !== "end" && event !== "error");

/** The failure that a log has ended with. */
function problemIn(log: EventLog): Problem | null {
  const events = log.read(log.last - 1, 1);
  const event = events === "gone" ? undefined : events[0];
  return event?.event === "error" ? (JSON.parse(event.data) as Problem) : null; // It was made by `problemOf`.
}

/** Writes a log as this protocol's `data` and `control` events. */
class DurableFeed implements EventFeed {
  isEnded = false;
  readonly goodbye = ""; // Its readers come back with their offset, without being told.
  readonly #log: EventLog;
  readonly #content: DurableContent;
  readonly #cursor: () => string;
  readonly #on: { readonly follower: { at: number; leave(): void } | undefined; readonly release: () => void };
  readonly #left = new AbortController();
  #at: number;

  constructor(
    log: EventLog,
    content: DurableContent,
    after: number,
    cursor: () => string,
    on: { readonly follower: { at: number; leave(): void } | undefined; readonly release: () => void },
  ) {
    this.#log = log;
    this.#content = content;
    this.#at = after;
    this.#cursor = cursor;
    this.#on = on;
  }

  async read(): Promise<string> {
    const { follower } = this.#on;
    if (follower !== undefined && this.#at > follower.at) follower.at = this.#at; // The socket has taken the last text.
    await this.#log.changed(this.#at, this.#left.signal);
    return this.#left.signal.aborted ? "" : this.take();
  }

  /** Gives what is there; at the beginning, and at the end, also where that is nothing. */
  take(isFirst = false): string {
    const log = this.#log;
    const events = log.read(this.#at, MOST);
    if (events === "gone") {
      this.isEnded = true; // The reader comes back with its offset, and gets 410.
      return "";
    }
    this.#at = events.at(-1)?.id ?? this.#at;
    const isUpToDate = this.#at >= log.last;
    this.isEnded = isUpToDate && log.isEnded;
    const items = itemsOf(events);
    if (items.length === 0 && !isFirst && !this.isEnded) return "";
    const lines = items.length === 0 ? [] : this.#content.lines(items);
    const data = lines.length === 0 ? "" : `event: data\n${lines.map((line) => `data:${line}\n`).join("")}\n`;
    const control = {
      streamNextOffset: offsetOf(this.#at),
      ...(!this.isEnded && { streamCursor: this.#cursor() }),
      ...(isUpToDate && { upToDate: true }),
      ...(this.isEnded && { streamClosed: true, error: problemIn(log) ?? undefined }),
    };
    return `${data}event: control\ndata:${JSON.stringify(control)}\n\n`;
  }

  leave(): void {
    this.#left.abort();
    this.#on.follower?.leave();
    this.#on.release();
  }
}
