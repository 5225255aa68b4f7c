import type { ActorStream } from "../../index";
import type { Endpoint, Site } from "../contract";
import { refuse } from "../problem";
import { chatIn, formatOf } from "./event-format";
import { problemOfThrown } from "./item-feed";
import { type LogLimits, StreamLog } from "./stream-log";

const RESUME: LogLimits = { for: 30_000, items: 1_000, bytes: 1_048_576 };

/** Most streams whose end is remembered, so that their owner gets 410 and not 404. */
const REMEMBERED = 10_000;

/** Most characters of a chat's id. */
const LONGEST_CHAT = 200;

/** A stream that can be resumed. */
export interface Kept {
  readonly id: string;
  readonly owner: string;
  readonly endpoint: Endpoint;
  readonly log: StreamLog;
  /** Names the chat that it answers, with its owner and operation. */
  readonly chat: string | undefined;
  /** Gives back its place among the streams of its owner. Null while a reader holds that, or is about to come. */
  place: (() => void) | null;
}

/** The bounds of the log of an endpoint's streams. */
const logLimitsOf = ({ options }: Endpoint): LogLimits => ({ ...RESUME, ...options.resume });

export const refuseUnknownStream = (): Response =>
  refuse("not-found", "There is no such stream of this caller: begin a new one.");

/** The streams that can be resumed: those that run, and for a while those that have ended. */
export class KeptStreams {
  readonly #site: Pick<Site, "clock" | "limits">;
  readonly #kept = new Map<string, Kept>();
  readonly #chats = new Map<string, Kept>();
  /** Streams that have ended, by owner: a bounded number of them is kept. */
  readonly #ended = new Map<string, Set<Kept>>();
  /** The owners of streams that are not kept any more. */
  readonly #gone = new Map<string, string>();

  constructor(site: Pick<Site, "clock" | "limits">) {
    this.#site = site;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Keeps a stream from now on. Nothing is read of it before its log runs. Its first reader has its place among those of its owner. */
  keep(owner: string, endpoint: Endpoint, payload: unknown, items: ActorStream<unknown>): Kept {
    const log = new StreamLog(
      this.#site.clock,
      logLimitsOf(endpoint),
      formatOf(endpoint.options).encoder(),
      items,
      (thrown) => problemOfThrown(endpoint, thrown),
      { end: () => this.#onEnd(kept), expiry: () => this.remove(kept) },
    );
    const chat = chatOf(owner, endpoint, payload);
    const kept: Kept = { id: crypto.randomUUID(), owner, endpoint, log, chat, place: null };
    this.#kept.set(kept.id, kept);
    if (kept.chat !== undefined) this.#chats.set(kept.chat, kept);
    return kept;
  }

  /** The stream with an id, if it is of this owner; else the refusal. */
  find(owner: string, id: string): Kept | Response {
    const kept = this.#kept.get(id);
    if (kept?.owner === owner) return kept;
    return this.#gone.get(id) === owner
      ? refuse("gone", "The stream is not kept any more: begin a new one.")
      : refuseUnknownStream();
  }

  /** The last stream of a chat of the AI SDK's hooks. */
  ofChat(owner: string, endpoint: Endpoint, id: string): Kept | undefined {
    return this.#chats.get(chatOf(owner, endpoint, { id }) ?? "");
  }

  remove(kept: Kept): void {
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

  close(): void {
    for (const kept of [...this.#kept.values()]) this.remove(kept);
  }

  #onEnd(kept: Kept): void {
    kept.place?.();
    kept.place = null;
    const { owner } = kept;
    const ended = this.#ended.get(owner) ?? new Set();
    this.#ended.set(owner, ended.add(kept));
    const [oldest] = ended;
    if (ended.size > this.#site.limits.streams && oldest !== undefined) this.remove(oldest);
  }
}

/** The key of the chat that a request of the AI SDK's hooks belongs to. */
function chatOf(owner: string, { actor, operation, options }: Endpoint, payload: unknown): string | undefined {
  const id = options.format === "ai-sdk" ? chatIn(payload) : undefined;
  if (id === undefined || id.length > LONGEST_CHAT) return undefined;
  return JSON.stringify([owner, actor.name, operation.name, id]);
}
