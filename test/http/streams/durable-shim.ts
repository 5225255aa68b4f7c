import type { EventLog, LoggedEvent, PartMaker, Visit } from "../../../src/http/contract";
import { refuse } from "../../../src/http/problem";
import { type DurableContent, durableResponse, JSON_CONTENT } from "../../../src/http/streams/durable-streams";

// The writes of the Durable Streams protocol, in as far as its tests of reads need them. The reads are envoi's own.

class WrittenLog implements EventLog {
  isEnded = false;
  readonly content: DurableContent;
  readonly #events: LoggedEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(readonly type: string) {
    this.content = isJson(type) ? { ...JSON_CONTENT, type } : type.startsWith("text/") ? textOf(type) : bytesOf(type);
  }

  get last(): number {
    return this.#events.length;
  }

  append(body: Buffer): boolean {
    for (const data of this.#messagesIn(body)) this.#events.push({ id: this.last + 1, data });
    this.#wake();
    return true;
  }

  #messagesIn(body: Buffer): string[] {
    if (!isJson(this.type)) return [body.toString(this.content.isBinary === true ? "base64" : "utf8")];
    const value: unknown = JSON.parse(body.toString());
    return (Array.isArray(value) ? value : [value]).map((message) => JSON.stringify(message));
  }

  end(): void {
    this.isEnded = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  read(after: number, most: number): readonly LoggedEvent[] {
    return this.#events.slice(after, after + most);
  }

  changed(after: number, signal: AbortSignal): Promise<void> {
    if (this.last > after || this.isEnded || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      signal.addEventListener("abort", () => resolve());
    });
  }
}

const isJson = (type: string): boolean => /^application\/json\b/i.test(type);

const textOf = (type: string): DurableContent => ({
  type,
  body: (events) => events.map(({ data }) => data).join(""),
  lines: (events) =>
    events
      .map(({ data }) => data)
      .join("")
      .split(/\r\n|\r|\n/),
});

const bytes = (events: readonly LoggedEvent[]): Buffer =>
  Buffer.concat(events.map(({ data }) => Buffer.from(data, "base64")));

const bytesOf = (type: string): DurableContent => ({
  type,
  isBinary: true,
  body: bytes,
  lines: (events) => [bytes(events).toString("base64")],
});

/** A part that takes writes at `/v1/stream/:name`. A long poll waits for 300 ms. */
export const durableShim: PartMaker = (site) => {
  const logs = new Map<string, WrittenLog>();
  const secure = { "x-content-type-options": "nosniff" };
  const missing = () => refuse("not-found", "There is no such stream.", secure);
  const nameOf = ({ params }: Visit): string => params[0] ?? "";
  const place = (log: WrittenLog) => ({
    ...secure,
    "stream-next-offset": String(log.last).padStart(16, "0"),
    ...(log.isEnded && { "stream-closed": "true" }),
  });
  const closes = ({ request }: Visit): boolean => request.headers.get("stream-closed") === "true";

  async function put(visit: Visit): Promise<Response> {
    const type = visit.request.headers.get("content-type") ?? "application/octet-stream";
    const known = logs.get(nameOf(visit));
    if (known !== undefined) {
      const status = known.type.toLowerCase() === type.toLowerCase() && known.isEnded === closes(visit) ? 200 : 409;
      return new Response(null, { status, headers: { ...place(known), "content-type": known.type } });
    }
    const log = new WrittenLog(type);
    const body = Buffer.from(await visit.request.arrayBuffer());
    if (body.length > 0) log.append(body);
    if (closes(visit)) log.end();
    logs.set(nameOf(visit), log);
    return new Response(null, {
      status: 201,
      headers: { ...place(log), "content-type": type, location: visit.request.url },
    });
  }

  async function append(visit: Visit): Promise<Response> {
    const log = logs.get(nameOf(visit));
    if (log === undefined) return missing();
    const body = Buffer.from(await visit.request.arrayBuffer());
    if (log.isEnded && body.length > 0) return new Response(null, { status: 409, headers: place(log) });
    if (body.length > 0) {
      const type = visit.request.headers.get("content-type");
      if (type === null) return refuse("bad-request", "The content-type is missing.", secure);
      if (type.toLowerCase() !== log.type.toLowerCase()) return refuse("conflict", "Another content-type.", secure);
      if (isJson(type) && (!isValid(body) || body.toString() === "[]"))
        return refuse("bad-request", "No JSON.", secure);
      log.append(body);
    } else if (!closes(visit)) return refuse("bad-request", "The body is empty.", secure);
    if (closes(visit)) log.end();
    return new Response(null, { status: 204, headers: place(log) });
  }

  return {
    routes: [
      { method: "PUT", path: "/v1/stream/:name", handle: put },
      { method: "POST", path: "/v1/stream/:name", handle: append },
      {
        method: "DELETE",
        path: "/v1/stream/:name",
        handle: (visit) => (logs.delete(nameOf(visit)) ? new Response(null, { status: 204 }) : missing()),
      },
      {
        method: "GET",
        path: "/v1/stream/:name",
        handle: (visit) => {
          const log = logs.get(nameOf(visit));
          const id = nameOf(visit);
          return log === undefined
            ? missing()
            : durableResponse(site, visit, log, { id, content: log.content, wait: 300 });
        },
      },
    ],
  };
};

function isValid(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
