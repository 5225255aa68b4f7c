import type { EventFeed, EventLog, Site, Visit } from "../contract";
import { problemOf, refuse } from "../problem";
import { type EventFormat, failureOf, SSE, textOf } from "./event-format";

/** The format of a log in a response. */
export interface EventResponseOptions {
  /** The id of the last event that the reader has; 0 for none: `lastEventId` finds it in the request. */
  readonly after: number;
  /** Goes before the number in the id of each event, such as `name:`. Default: none. */
  readonly prefix?: string;
  /** Default: `SSE`. */
  readonly format?: EventFormat;
  /** More headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Told how far the reader is. Default: nobody. */
  readonly follow?: (after: number) => { at: number; leave(): void };
  /** Gives back the place among the streams of the reader. Default: a place is taken, and refused with 429 where there is none. */
  readonly release?: () => void;
}

/** Most events of one read, and the length of text after which no more are added to a chunk. */
const MOST = 100;
export const LONG = 65_536;
/** Microtasks. An asynchronous generator takes three for an item. */
const TICKS = 16;

const GONE = "Some events after this one are not kept any more: begin anew.";

/**
 * Answers with the events of a log from a place on, as server-sent events, and follows it to its end. The answer is 410 where events
 * are missing, and 204 where the reader has all of a log that has ended: then an `EventSource` does not come back.
 */
export function eventResponse(site: Site, visit: Visit, log: EventLog, options: EventResponseOptions): Response {
  const { after, prefix = "", format = SSE, headers } = options;
  let { release } = options;
  const refusal = refusalOf(site, log, after);
  if (refusal !== undefined) {
    release?.();
    return refusal;
  }
  if (release === undefined) {
    const entered = site.enter(visit, "streams");
    if (entered instanceof Response) return entered;
    release = entered;
  }
  const feed = new LogFeed(log, after, prefix, format, options.follow?.(after), release);
  return site.bodies.respond(feed, visit, aheadOf(feed), { ...format.headers, ...headers });
}

function aheadOf(feed: LogFeed): string {
  try {
    return feed.take();
  } catch (thrown) {
    feed.leave(); // Of a log that cannot be read.
    throw thrown;
  }
}

/**
 * Lets the actors run for a while, in the same turn of the event loop. What is ready then goes out with what is there already, and in the
 * same packet as the headers: a turn in between made a stream of 100 events twice as expensive.
 */
export async function ticks(): Promise<void> {
  for (let tick = 0; tick < TICKS; tick++) await undefined;
}

function refusalOf(site: Site, log: EventLog, after: number): Response | undefined {
  if (site.isDraining) return refuse("unavailable", "The server goes away: come back in a moment.");
  if (after > log.last || log.read(after, 1) === "gone") return refuse("gone", GONE);
  return log.isEnded && after === log.last ? new Response(null, { status: 204 }) : undefined;
}

/**
 * Gives the number in the `Last-Event-ID` of a request: 0 where it has none, and the refusal where it is of another log. The number
 * alone is taken as well.
 */
export function lastEventId({ request }: Pick<Visit, "request">, prefix = ""): number | Response {
  const header = request.headers.get("last-event-id");
  if (header === null) return 0;
  const id = header.startsWith(prefix) ? header.slice(prefix.length) : header;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  return refuse("bad-request", "The Last-Event-ID is of no event here: send the id of the last event that you have.");
}

/** Reads a log for one response. */
class LogFeed implements EventFeed {
  isEnded = false;
  readonly #log: EventLog;
  readonly #prefix: string;
  readonly #format: EventFormat;
  readonly goodbye: string;
  readonly #follower: { at: number; leave(): void } | undefined;
  readonly #release: () => void;
  /** Made for a read that waits: most feeds end without one. */
  #waiting: AbortController | null = null;
  #hasLeft = false;
  #at: number;

  constructor(
    log: EventLog,
    after: number,
    prefix: string,
    format: EventFormat,
    follower: { at: number; leave(): void } | undefined,
    release: () => void,
  ) {
    this.#log = log;
    this.#at = after;
    this.#prefix = prefix;
    this.#format = format;
    this.goodbye = format.goodbye;
    this.#follower = follower;
    this.#release = release;
  }

  get isEndless(): boolean {
    return this.#log.isEndless === true;
  }

  async read(): Promise<string> {
    // The socket has taken the last text, or this would not be called.
    if (this.#follower !== undefined && this.#at > this.#follower.at) this.#follower.at = this.#at;
    this.#waiting ??= new AbortController();
    await this.#log.changed(this.#at, this.#waiting.signal);
    let text = this.#hasLeft ? "" : this.take();
    while (text !== "" && text.length < LONG && !this.isEnded) {
      await ticks(); // Events that come together go out together, in one chunk.
      if (this.#log.last <= this.#at || this.#hasLeft) break;
      text += this.take();
    }
    return text;
  }

  /** Gives the text of the events that are there. */
  take(): string {
    const log = this.#log;
    let text = "";
    for (let before = -1; text.length < LONG && this.#at > before; ) {
      before = this.#at;
      const events = log.read(before, MOST);
      if (events === "gone") {
        this.isEnded = true;
        return text + failureOf(this.#format, problemOf("gone", GONE));
      }
      for (const event of events) {
        text += textOf(event, this.#prefix, this.#format);
        this.#at = event.id;
        if (text.length >= LONG) break;
      }
      if (this.#at >= log.last) break;
    }
    this.isEnded = log.isEnded && this.#at >= log.last;
    return text;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#waiting?.abort();
    this.#follower?.leave();
    this.#release();
  }
}
