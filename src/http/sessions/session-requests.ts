import { publicIssues } from "../../index";
import { readBody } from "../body";
import type { Site, Visit } from "../contract";
import { refuse } from "../problem";
import { fieldsOf, keyOf, numberIn } from "./request-fields";
import type { SessionBook } from "./session-book";
import type { SessionRow } from "./store";

/** Most bytes of a session's metadata, as JSON. */
const METADATA = 16_384;
/** Most sessions of a page, and those of one whose client does not say. */
export const MOST = 200;
const USUAL = 50;
/** Comes after each id. */
const LAST = "~";

export const NOT_FOUND = "There is no such session: check its id.";
export const unavailable = (): Response =>
  refuse("unavailable", "The service takes nothing new at this moment: try again later.");
export const otherRequest = (): Response =>
  refuse("conflict", "This Idempotency-Key belongs to another request: each request needs a key of its own.");

/** Answers the requests about sessions as a whole. */
export class SessionRequests {
  readonly #site: Site;
  readonly #book: SessionBook;
  /** Most sessions of one owner. */
  readonly #most: number;
  /** Sessions that are being made, by idempotency key and owner. */
  readonly #creating = new Map<string, Promise<SessionRow>>();
  /** The number of sessions that are being made, by owner. */
  readonly #made = new Map<string, number>();

  constructor(site: Site, book: SessionBook, most: number) {
    this.#site = site;
    this.#book = book;
    this.#most = most;
  }

  async create(visit: Visit): Promise<Response> {
    if (this.#site.isDraining) return unavailable();
    const refusal = await this.#site.authorize(visit, `/${this.#book.name}`, "create");
    if (refusal !== undefined) return refusal;
    const key = keyOf(visit.request);
    if (key instanceof Response) return key;
    const body = await readBody(this.#site, visit.request);
    if (body instanceof Response) return body;
    const fields = fieldsOf(body.value ?? {}, ["metadata"]);
    if (fields instanceof Response) return fields;
    const metadata = this.#metadataOf(fields["metadata"] ?? {});
    if (metadata instanceof Response) return metadata;

    const { owner } = visit;
    if (key === null) return this.#make(owner, null, metadata);
    const named = `${key} ${owner}`; // No key has a space.
    if (this.#creating.has(named)) await this.#creating.get(named);
    const known = this.#book.store.findByKey(owner, key); // Nothing is awaited until it is among those that are made.
    if (known === null) return this.#make(owner, key, metadata);
    return known.metadata === metadata ? this.#created(known) : otherRequest();
  }

  async #make(owner: string, key: string | null, metadata: string): Promise<Response> {
    const { store, clock } = this.#book;
    const making = this.#made.get(owner) ?? 0;
    if (making + store.countOf(owner) >= this.#most) {
      return refuse("too-many-requests", `This caller has ${this.#most} sessions: delete one of them first.`);
    }
    const creating = store.create(Bun.randomUUIDv7("hex", Math.round(clock.wallTime())), owner, key, metadata);
    this.#made.set(owner, making + 1);
    if (key !== null) this.#creating.set(`${key} ${owner}`, creating);
    try {
      return this.#created(await creating);
    } finally {
      this.#creating.delete(`${key} ${owner}`);
      const left = (this.#made.get(owner) ?? 1) - 1;
      if (left > 0) this.#made.set(owner, left);
      else this.#made.delete(owner);
    }
  }

  #created(row: SessionRow): Response {
    const location = `${this.#site.basePath}/${this.#book.name}/${row.id}`;
    return Response.json(this.#shown(row), { status: 201, headers: { location } });
  }

  /** The metadata of a new session as it is stored, or the refusal. */
  #metadataOf(metadata: unknown): string | Response {
    const parsed = this.#book.parseMetadata(metadata);
    if (parsed?.isErr() === true) {
      const issues = publicIssues(parsed.error());
      return refuse("invalid-payload", "The metadata of the session is refused.", {}, { issues });
    }
    if (parsed === null && (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))) {
      return refuse("bad-request", 'The metadata is a JSON object: { "metadata": { "title": "A trip" } }.');
    }
    const text = JSON.stringify(metadata);
    if (Buffer.byteLength(text) <= METADATA) return text;
    return refuse("payload-too-large", `The metadata has more than ${METADATA} bytes: send less.`);
  }

  async list(visit: Visit): Promise<Response> {
    const refusal = await this.#site.authorize(visit, `/${this.#book.name}`, "list");
    if (refusal !== undefined) return refusal;
    const query = new URLSearchParams(visit.query);
    const limit = numberIn(query.get("limit"), "limit") ?? USUAL;
    if (limit instanceof Response) return limit;
    if (limit < 1 || limit > MOST) return refuse("bad-request", `The limit is a whole number from 1 to ${MOST}.`);
    const rows = this.#book.store.page(visit.owner, query.get("after") ?? LAST, limit + 1);
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? page.at(-1)?.id : undefined;
    return Response.json({ sessions: page.map((row) => this.#shown(row)), ...(next !== undefined && { next }) });
  }

  async show(visit: Visit): Promise<Response> {
    const refusal = await this.#site.authorize(visit, `/${this.#book.name}`, "read");
    if (refusal !== undefined) return refusal;
    const row = this.#book.find(visit.owner, visit.params[0] ?? "");
    return row === null ? refuse("not-found", NOT_FOUND) : Response.json(this.#shown(row));
  }

  async delete(visit: Visit): Promise<Response> {
    const refusal = await this.#site.authorize(visit, `/${this.#book.name}`, "delete");
    if (refusal !== undefined) return refusal;
    const live = this.#book.enter(visit.owner, visit.params[0] ?? "");
    if (live === null) return refuse("not-found", NOT_FOUND);
    try {
      await this.#book.delete(live);
      return new Response(null, { status: 204 });
    } finally {
      live.leave();
    }
  }

  /** A session as its owner sees it. */
  #shown(row: SessionRow): object {
    return {
      id: row.id,
      metadata: JSON.parse(row.metadata),
      createdAt: new Date(row.createdAt).toISOString(),
      usedAt: new Date(row.usedAt).toISOString(),
      firstEvent: row.firstEvent,
      lastEvent: row.lastEvent,
      messages: row.lastMessage,
      running: this.#book.runningOf(row.id),
    };
  }
}
