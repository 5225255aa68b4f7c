import { type AskResult, type Operation, publicIssues, quote, receive } from "../../index";
import { askFor } from "../actors";
import { type Settle, takePosted } from "../body";
import type { Site, Visit } from "../contract";
import { responseOf } from "../json-of";
import { logOperation } from "../operation-log";
import { problemOf, refuse, refuseError } from "../problem";
import { AI_SDK, type EventFormat, SSE } from "../streams/event-format";
import { eventResponse } from "../streams/event-response";
import { FormattedView } from "./formatted-view";
import type { LiveSession } from "./live-session";
import { answered, refuseAgain, refuseUnknownMessage } from "./message-answers";
import { MessageRun } from "./message-run";
import { fieldsOf, keyOf, numberIn, placeOf } from "./request-fields";
import type { Entry, SessionBook } from "./session-book";
import { NOT_FOUND, otherRequest, unavailable } from "./session-requests";
import type { MessageRow } from "./store";

/** An operation that clients of sessions may call. */
export interface SessionOperation {
  readonly operation: Operation;
  /** The format of its streams. */
  readonly format: EventFormat;
}

/** A message that came in a request. */
interface Sent {
  readonly visit: Visit;
  /** The session. */
  readonly id: string;
  readonly entry: Entry;
}

/** The part of a message that is stored. */
interface Kept {
  /** Its idempotency key; null for none. */
  readonly key: string | null;
  /** The place from which its events are wanted; null for the beginning. */
  readonly after: number | null;
}

const FIELDS = ["operation", "payload"];

/** True for an ask that changes nothing, and whose client waits for the answer. */
const isQuestion = ({ operation: { hints, isStream } }: SessionOperation, { visit }: Sent): boolean =>
  hints?.readOnly === true && !isStream && !visit.preferences.isAsync;

const STOPPED = problemOf("cancelled", "A client ended this message.");

/** Answers the requests about the messages of a session, and their events. */
export class MessageRequests {
  /** The number of messages so far. */
  count = 0;
  readonly #site: Site;
  readonly #book: SessionBook;
  readonly #operations: ReadonlyMap<string, SessionOperation>;
  /** Most messages of one session at one time. */
  readonly #most: number;
  /** The number of messages that are being answered, by owner. */
  readonly #busy = new Map<string, number>();

  constructor(site: Site, book: SessionBook, operations: ReadonlyMap<string, SessionOperation>, most: number) {
    this.#site = site;
    this.#book = book;
    this.#operations = operations;
    this.#most = most;
  }

  send(visit: Visit): Promise<Response> | Response {
    if (this.#site.isDraining) return unavailable();
    const id = visit.params[0] ?? "";
    const entry = this.#lookUp(visit, id);
    if (entry === null) return refuse("not-found", NOT_FOUND);
    return takePosted(this.#site, visit.request, (body, settle) => this.#taken({ visit, entry, id }, body, settle));
  }

  /** Sends the message in a body that has come. */
  #taken(sent: Sent, body: unknown, settle: Settle): void {
    const fields = fieldsOf(body, FIELDS);
    if (fields instanceof Response) {
      settle.resolve(fields);
      return;
    }
    const { operation: name, payload } = fields;
    const found = typeof name === "string" ? this.#operations.get(name) : undefined;
    if (found === undefined) {
      const names = [...this.#operations.keys()].join(", ");
      settle.resolve(refuse("not-found", `Sessions have no such operation: write one of ${names}.`));
      return;
    }
    const { operation } = found;
    const told = this.#site.authorize(sent.visit, this.#book.name, operation.name);
    if (told === undefined && isQuestion(found, sent)) this.#ask(sent, operation, payload, settle);
    else settle.resolve(this.#sendIf(told, sent, found, payload));
  }

  /** Sends a message to a session, if nobody refuses it. */
  async #sendIf(
    told: ReturnType<Site["authorize"]>,
    sent: Sent,
    found: SessionOperation,
    payload: unknown,
  ): Promise<Response> {
    const refusal = await told;
    if (refusal !== undefined) return refusal;
    if (isQuestion(found, sent)) {
      return new Promise((resolve, reject) => this.#ask(sent, found.operation, payload, { resolve, reject }));
    }
    const { visit } = sent;
    const key = keyOf(visit.request);
    if (key instanceof Response) return key;
    const after = placeOf(visit.request, null);
    if (after instanceof Response) return after;
    const live = this.#book.enter(visit.owner, sent.id);
    if (live === null) return refuse("not-found", NOT_FOUND); // Deleted meanwhile.
    try {
      return await this.#sendTo(live, visit, { key, after }, found, payload);
    } finally {
      live.leave();
    }
  }

  /** The session that a request names, if it is its owner's. */
  #lookUp({ owner, timing }: Visit, id: string): Entry | null {
    const book = this.#book;
    return timing === null ? book.entryOf(owner, id) : timing.measure("lookup", () => book.entryOf(owner, id));
  }

  async #sendTo(
    live: LiveSession,
    visit: Visit,
    { key, after }: Kept,
    found: SessionOperation,
    payload: unknown,
  ): Promise<Response> {
    const { operation } = found;
    const text = JSON.stringify({ operation: operation.name, payload });

    if (key !== null && live.beginning.has(key)) await live.beginning.get(key);
    // Nothing is awaited from here on until the message is among those that begin: a key begins one message.
    const known = key === null ? null : this.#book.store.messageByKey(live.row.number, key);
    if (known !== null) {
      const [first] = this.#book.store.events(live.row.number, known.firstEvent - 1, 1);
      if (first?.id === known.firstEvent && first.data !== text) return otherRequest();
      return this.#answer(live, visit, found, known, after);
    }
    if (live.isDeleted) return refuse("not-found", NOT_FOUND); // While its twin was being stored.
    // Handled a second time, its answer would begin in the middle.
    if (after !== null && after > 0) return refuseUnknownMessage(key);
    // Before it is stored: what does not fit must not fill the disk.
    const parsed = operation.payload.parse(payload);
    if (parsed.isErr()) {
      const issues = publicIssues(parsed.error());
      return refuse("invalid-payload", `${quote(operation.name)} has a payload that is refused.`, {}, { issues });
    }
    if (live.running.size + live.beginning.size >= this.#most) {
      return refuse("too-many-requests", `The session answers ${this.#most} messages already: wait for one of them.`);
    }
    const { owner } = live.row;
    const busy = this.#busy.get(owner) ?? 0;
    if (busy >= this.#site.limits.streams) {
      return refuse("too-many-requests", `The sessions of this caller answer ${busy} messages: wait for one of them.`);
    }
    this.#busy.set(owner, busy + 1);
    const beginning = this.#begin(live, visit, found, payload, text, key);
    const entry = key ?? Symbol();
    live.beginning.set(entry, beginning);
    let message: MessageRow;
    try {
      message = await beginning;
    } finally {
      live.beginning.delete(entry); // From here on it is counted as one that runs.
    }
    return this.#answer(live, visit, found, message, after);
  }

  /** An ask that changes nothing: it leaves no trace in the log, and ends with its client. */
  #ask({ visit, entry }: Sent, { name, hasReply }: Operation, payload: unknown, settle: Settle): void {
    const { ref, door } = entry;
    const encode = (reply: AskResult): Response => {
      if (reply.isOk()) return hasReply ? responseOf(reply.value ?? null) : answered(null);
      if (reply.error.kind === "handler-failed") {
        const sentence = `${name} of ${ref.address} failed for a request: ${reply.error.message}`;
        logOperation(ref, name, sentence, { kind: reply.error.kind, cause: reply.error.cause });
      }
      return refuseError(reply.error);
    };
    askFor(this.#site, visit, door, name, payload, this.#site.limits.time, encode, settle);
  }

  /** Stores a message, and then sends it: a client that repeats its key never has it handled twice. */
  async #begin(
    live: LiveSession,
    visit: Visit,
    { operation: { name: operation, isStream }, format }: SessionOperation,
    payload: unknown,
    text: string,
    key: string | null,
  ): Promise<MessageRow> {
    let done: Promise<void> | undefined;
    try {
      const message = await live.begin(text, key);
      this.count++;
      if (live.isDeleted) {
        live.cut(message.number); // It is not handled.
        return message;
      }
      const ref = this.#book.refOf(live.row.id);
      const { time: timeout } = this.#site.limits;
      const sending = {
        ref,
        door: receive(ref),
        operation,
        payload,
        metadata: visit.metadata,
        timeout,
        isStream,
        format,
      };
      ({ done } = new MessageRun(live, message.number, this.#book, sending));
      return message;
    } finally {
      void (done ?? Promise.resolve()).finally(() => this.#leave(live.row.owner));
    }
  }

  #leave(owner: string): void {
    const left = (this.#busy.get(owner) ?? 1) - 1;
    if (left > 0) this.#busy.set(owner, left);
    else this.#busy.delete(owner);
  }

  async #answer(
    live: LiveSession,
    visit: Visit,
    { operation, format }: SessionOperation,
    message: MessageRow,
    after: number | null,
  ): Promise<Response> {
    if (live.isDeleted) return refuse("not-found", NOT_FOUND);
    const { basePath } = this.#site;
    const form = format === AI_SDK ? "&format=ai-sdk" : "";
    const location = `${basePath}/${this.#book.name}/${live.row.id}/events?message=${message.number}${form}`;
    if (visit.preferences.isAsync) {
      return new Response(null, { status: 202, headers: { location, "preference-applied": "respond-async" } });
    }
    if (operation.isStream) return this.#follow(live, visit, message, format, after ?? 0, { location });
    await this.#endOf(live.running.get(message.number));
    const [event] = live.isDeleted
      ? []
      : this.#book.store.eventsOf(live.row.number, message.number, message.firstEvent, 1);
    if (live.isDeleted) return refuse("gone", "The session was deleted, which ended this message.");
    if (event === undefined) return unavailable();
    if (event.event === "error") return refuseAgain(JSON.parse(event.data));
    return answered(operation.hasReply ? event.data : null, { location });
  }

  #follow(
    live: LiveSession,
    visit: Visit,
    message: MessageRow | null,
    format: EventFormat,
    given: number,
    headers: Readonly<Record<string, string>> = {},
  ): Response {
    const view = live.view(message);
    const log = format === SSE ? view : new FormattedView(view, format);
    const after = Math.max(given, message?.firstEvent ?? 0);
    return eventResponse(this.#site, visit, log, { after, format, headers, follow: (at) => live.follow(view, at) });
  }

  /** Resolves when a message has ended, or takes too long: an ask may wait for a disk that is full. */
  #endOf(running: { readonly done: Promise<void> } | undefined): Promise<void> | undefined {
    if (running === undefined) return undefined;
    return new Promise((resolve) => {
      const timer = this.#site.clock.setTimer(resolve, this.#site.limits.time + 1_000);
      void running.done.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  async stop(visit: Visit): Promise<Response> {
    const refusal = await this.#site.authorize(visit, `/${this.#book.name}`, "stop");
    if (refusal !== undefined) return refusal;
    const live = this.#book.enter(visit.owner, visit.params[0] ?? "");
    if (live === null) return refuse("not-found", NOT_FOUND);
    try {
      const number = numberIn(visit.params[1] ?? "", "message");
      const message = typeof number === "number" ? this.#book.store.message(live.row.number, number) : null;
      if (message === null) return refuse("not-found", "The session has no such message: check its number.");
      const running = live.running.get(message.number);
      running?.stop(STOPPED);
      await this.#endOf(running);
      return new Response(null, { status: 204 });
    } finally {
      live.leave();
    }
  }

  async read(visit: Visit): Promise<Response> {
    const refusal = await this.#site.authorize(visit, `/${this.#book.name}`, "read");
    if (refusal !== undefined) return refusal;
    const live = this.#book.enter(visit.owner, visit.params[0] ?? "");
    if (live === null) return refuse("not-found", NOT_FOUND);
    try {
      const query = new URLSearchParams(visit.query);
      const after = placeOf(visit.request, query.get("after"));
      if (after instanceof Response) return after;
      const number = numberIn(query.get("message"), "message");
      if (number instanceof Response) return number;
      const form = query.get("format") ?? "sse";
      if (form !== "sse" && (form !== "ai-sdk" || number === null)) {
        return refuse("bad-request", "The format is sse, or, for the events of one message, ai-sdk.");
      }
      if (number === null) return this.#follow(live, visit, null, SSE, after ?? live.first - 1);
      const message = this.#book.store.message(live.row.number, number);
      if (message === null) {
        return number > 0 && number <= live.lastMessage
          ? refuse("gone", "The events of this message are not kept any more.")
          : refuse("not-found", "The session has no such message: check its number.");
      }
      return this.#follow(live, visit, message, form === "ai-sdk" ? AI_SDK : SSE, after ?? 0);
    } finally {
      live.leave();
    }
  }

  /** For the AI SDK's `useChat({ resume: true })`: the newest message that a chat waits for, from its beginning. */
  async readChat(visit: Visit): Promise<Response> {
    const refusal = await this.#site.authorize(visit, `/${this.#book.name}`, "read");
    if (refusal !== undefined) return refusal;
    const live = this.#book.enter(visit.owner, visit.params[0] ?? "");
    if (live === null) return refuse("not-found", NOT_FOUND);
    try {
      await Promise.allSettled(live.beginning.values()); // A page may be loaded anew right after it has sent its message.
      const numbers = [...live.running].flatMap(([number, run]) =>
        run.answers(visit.params[1] ?? "") ? [number] : [],
      );
      const message = this.#book.store.message(live.row.number, numbers.at(-1) ?? 0);
      return message === null ? new Response(null, { status: 204 }) : this.#follow(live, visit, message, AI_SDK, 0);
    } finally {
      live.leave();
    }
  }
}
