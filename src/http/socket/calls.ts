import {
  type Address,
  type AnswerFrame,
  type AskError,
  createResponder,
  type MessageFrame,
  type Metadata,
  type Responder,
  traceOf,
} from "../../index";
import { logFailure } from "../actors";
import type { Caller } from "../contract";
import { refuseBytes } from "../json-of";
import { type Problem, problemOf, problemOfError } from "../problem";
import { Admission, type Decision, type Refusal } from "./admission";
import type { ClientFrame, MessageOfClient, ServerFrame, TellOfClient } from "./frames";
import type { Hub, Visitor } from "./hub";
import { fits, type Output } from "./output";
import { Subscriptions } from "./subscriptions";

/** Items in one frame at most, so far as the client has granted credit. */
const AHEAD = 16;
/** Characters beyond which the items of a frame are sent one by one, each when there is room. */
const LARGE = 65_536;

/** A frame that begins something. */
export type Beginning = MessageOfClient | TellOfClient | Extract<ClientFrame, { kind: "subscribe" }>;

/** All that is under way on a socket whose caller is known: messages, and subscriptions. */
export class Calls {
  readonly #hub: Hub;
  readonly #visitor: Visitor;
  readonly #output: Output;
  readonly #onIdle: () => void;
  readonly #metadata: Metadata | undefined;
  readonly #responder: Responder;
  readonly #admission = new Admission<Beginning>((...begun) => this.#begin(...begun));
  readonly #subscriptions: Subscriptions;
  /** Give back the places of the streams among those of the owner. */
  readonly #streams = new Map<string, () => void>();
  #isDraining = false;

  /** @param onIdle called while it drains, when something has ended. */
  constructor(hub: Hub, visitor: Visitor, output: Output, onIdle: () => void) {
    this.#hub = hub;
    this.#visitor = visitor;
    this.#output = output;
    this.#onIdle = onIdle;
    this.#metadata = metadataOf(visitor.caller);
    this.#subscriptions = new Subscriptions(output, hub.unsent);
    this.#responder = createResponder({
      doorTo: (at) => hub.doors.get(at),
      send: (frame) => this.#answer(frame),
      most: hub.limits.messages,
      streams: { credit: AHEAD },
      detailOf: (error, message) => this.#problemFor(error, message),
    });
  }

  /** The number of messages under way. */
  get size(): number {
    return this.#responder.size + this.#admission.size;
  }

  /** True for the id of what is under way. */
  has(id: string): boolean {
    return this.#responder.has(id) || this.#subscriptions.has(id) || this.#admission.has(id);
  }

  /** Takes a message or a subscription, and lets it begin once its caller may. Its id is new. */
  take(frame: Beginning): void {
    const decision = this.#decide(frame);
    const id = frame.kind === "tell" ? undefined : frame.id;
    if (this.#admission.isAtOnce(decision)) this.#begin(frame, decision, 0);
    else if (this.size < this.#hub.limits.messages) this.#admission.await(id, frame, decision);
    else if (id !== undefined) this.#fail(id, this.#tooMany("messages under way"));
  }

  cancel(id: string): void {
    if (!this.#admission.cancel(id)) {
      this.#subscriptions.end(id);
      this.#endStream(id);
      this.#responder.take({ kind: "cancel", id });
    }
    this.#settled();
  }

  /** The reader of a stream has room for more items. */
  grant(id: string, count: number): void {
    if (!this.#admission.grant(id, count)) this.#responder.take({ kind: "credit", id, count });
  }

  /** The client reads again. */
  drained(): void {
    this.#subscriptions.drained();
  }

  /** Lets nothing begin any more but tells. */
  drain(): void {
    this.#isDraining = true;
  }

  close(): void {
    this.#admission.clear();
    this.#responder.close(new Error("the client has gone"));
    this.#subscriptions.close();
    for (const release of this.#streams.values()) release();
    this.#streams.clear();
  }

  #decide(frame: Beginning): Decision {
    const { site, relays } = this.#hub;
    try {
      if (frame.kind === "subscribe") {
        if (!relays.has(frame.topic)) return NO_TOPIC;
        return this.#careful(site.authorize(this.#visitor, `/topics/${frame.topic}`, "subscribe"));
      }
      if (site.exposure.get(frame.to)?.endpoints.has(frame.type) !== true) return NO_OPERATION;
      return this.#careful(site.authorize(this.#visitor, frame.to, frame.type));
    } catch (cause) {
      return this.#undecided(cause);
    }
  }

  /** A decision that does not reject. */
  #careful(told: Promise<Response | undefined> | Response | undefined): Decision {
    return told instanceof Promise ? told.catch((cause: unknown) => this.#undecided(cause)) : told;
  }

  #undecided(cause: unknown): Problem {
    this.#hub.site.log.error("A message of a socket could not be authorized: it is refused.", { cause });
    return FAILED;
  }

  #begin(frame: Beginning, refusal: Refusal | undefined, credit: number): void {
    if (frame.kind === "tell") {
      if (refusal === undefined) this.#send(frame, "", 0);
    } else if (refusal !== undefined) this.#refuse(frame.id, refusal);
    else if (this.#isDraining) this.#fail(frame.id, GOING);
    else if (frame.kind === "subscribe") this.#subscribe(frame.id, frame.topic);
    else if (frame.kind !== "stream" || this.#takePlace(frame.id)) {
      this.#send(frame, frame.id, (frame.credit ?? 0) + credit, frame.wantsProgress);
    }
  }

  /** Takes a place among the streams of the owner. False when there is none: that is told. */
  #takePlace(id: string): boolean {
    const release = this.#hub.site.enter(this.#visitor, "streams");
    if (release instanceof Response) this.#refuse(id, release);
    else this.#streams.set(id, release);
    return this.#streams.has(id);
  }

  #refuse(id: string, refusal: Refusal): void {
    if (!(refusal instanceof Response)) {
      this.#fail(id, refusal);
      return;
    }
    void refusal.json().then(
      (problem) => this.#fail(id, problem as Problem), // The gateway makes all refusals of problems.
      () => this.#fail(id, FAILED),
    );
  }

  #subscribe(id: string, topic: string): void {
    const { relays, limits } = this.#hub;
    const relay = relays.get(topic);
    if (relay === undefined) this.#fail(id, NO_TOPIC);
    else if (this.#subscriptions.size < limits.subscriptions) this.#subscriptions.begin(id, relay);
    else this.#fail(id, this.#tooMany("subscriptions"));
  }

  /** Hands a message to its actor. */
  #send(frame: MessageOfClient | TellOfClient, id: string, credit: number, wantsProgress = false): void {
    const { kind, to, type, payload, timeLeft = Number.POSITIVE_INFINITY } = frame;
    const trace = traceOf(frame);
    const { addresses, site } = this.#hub;
    const isBounded = kind === "ask" || kind === "offer";
    this.#responder.take({
      kind: "message",
      id,
      to: addresses.get(to) as Address, // All exposed actors have one.
      pattern: kind === "offer" ? "tell" : kind,
      isAwaited: kind !== "tell",
      type,
      payload,
      metadata: trace === undefined ? this.#metadata : { ...this.#metadata, ...trace },
      timeLeft: isBounded ? Math.min(timeLeft, site.limits.time) : timeLeft,
      credit,
      wantsProgress,
    });
  }

  /** Sends what becomes of a message. While a promise that it gives is pending, the stream waits. */
  #answer(frame: AnswerFrame): unknown {
    const { id } = frame;
    switch (frame.kind) {
      case "items":
        return this.#sayItems(id, frame.items);
      case "progress":
        if (!this.#output.isFull) this.#output.say(JSON.stringify(frame));
        return undefined;
      case "reply":
        if (this.#endStream(id)) this.#say({ kind: "end", id });
        else this.#sayReply(id, frame.payload);
        return this.#settled();
      case "failure":
        this.#endStream(id);
        return this.#fail(id, this.#problemIn(frame));
    }
  }

  #sayReply(id: string, payload: unknown): void {
    const text = this.#written({ kind: "reply", id, payload });
    if (!fits(text, this.#hub.unsent)) this.#fail(id, this.#tooLarge());
    else if (this.#responder.size > 1) this.#output.say(text);
    else this.#output.sayLast(text); // A microtask for it would cost 0.5 µs.
  }

  /** Says items at once where there is room: other streams may have filled the network since this one last looked. */
  #sayItems(id: string, items: readonly unknown[]): Promise<void> | undefined {
    const text = this.#written({ kind: "items", id, items });
    if (items.length > 1 && text.length > LARGE) return this.#sayInTime(id, items, 1);
    if (this.#output.isFull) return this.#sayInTime(id, items, items.length);
    this.#sayText(id, text);
    return this.#output.room;
  }

  /** Says so many items at a time, each when the client has read. */
  async #sayInTime(id: string, items: readonly unknown[], count: number): Promise<void> {
    const place = this.#streams.get(id);
    for (let from = 0; from < items.length; from += count) {
      // Streams that wait go on one after the other: the first ones may fill the network again.
      for (let { room } = this.#output; room !== undefined; room = this.#output.room) await room;
      if (this.#streams.get(id) !== place) return; // It has ended, and its id may be that of another one.
      this.#sayText(id, this.#written({ kind: "items", id, items: items.slice(from, from + count) }));
    }
    await this.#output.room;
  }

  #sayText(id: string, text: string): void {
    if (fits(text, this.#hub.unsent)) this.#output.say(text);
    else {
      this.cancel(id);
      this.#fail(id, this.#tooLarge());
    }
  }

  /** @throws for what JSON cannot write: the message then fails. */
  #written(frame: ServerFrame): string {
    try {
      if (frame.kind === "reply") refuseBytes(frame.payload);
      else if (frame.kind === "items") for (const item of frame.items) refuseBytes(item);
      return JSON.stringify(frame);
    } catch (cause) {
      this.#hub.site.log.error("An answer of a socket cannot be sent: JSON cannot write it.", { cause });
      throw cause;
    }
  }

  /** True for the id of a stream: gives back its place. */
  #endStream(id: string): boolean {
    if (this.#streams.size === 0) return false;
    this.#streams.get(id)?.();
    return this.#streams.delete(id);
  }

  #say(frame: ServerFrame): void {
    this.#output.say(JSON.stringify(frame));
  }

  #fail(id: string, problem: Problem): void {
    this.#say({ kind: "failure", id, problem });
    this.#settled();
  }

  #settled(): void {
    if (this.#isDraining) this.#onIdle();
  }

  #problemFor(error: AskError, { to, type }: MessageFrame): Problem {
    const endpoint = this.#hub.site.exposure.get(to.slice("@(".length, -1))?.endpoints.get(type);
    if (endpoint !== undefined) logFailure(endpoint, error);
    return problemOfError(error);
  }

  /** The failure as its client reads it. Those without a problem are the responder's own. */
  #problemIn({ error, detail }: Extract<AnswerFrame, { kind: "failure" }>): Problem {
    if (typeof detail === "object" && detail !== null) return detail as Problem; // `detailOf` made it.
    return error === "mailbox-full" ? this.#tooMany("messages under way") : UNWRITABLE;
  }

  #tooMany(what: string): Problem {
    return problemOf("too-many-requests", `This socket has the most ${what}: wait until one of them has ended.`);
  }

  #tooLarge(): Problem {
    const { unsent } = this.#hub;
    return problemOf("payload-too-large", `The answer has more than ${unsent} bytes: ask for less, or for a stream.`);
  }
}

/** The sentence for the clients of a service that ends. */
export const AGAIN = "The service ends: connect again.";

const FAILED = problemOf("internal-error", "The service failed. Its log says why.");
const UNWRITABLE = problemOf("handler-failed", "The answer cannot be written as JSON.");
const NO_OPERATION = problemOf(
  "not-found",
  "There is no such operation here: check the name of the actor and that of the operation.",
);
const NO_TOPIC = problemOf("not-found", "There is no such topic: check the spelling.");
const GOING = problemOf("unavailable", AGAIN);

/** The metadata of what a caller sends. */
const metadataOf = (caller: Caller | undefined): Metadata | undefined =>
  caller === undefined ? undefined : { ...caller.metadata, caller: caller.id };
