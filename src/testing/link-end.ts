import {
  type Address,
  type AnswerFrame,
  type Attachment,
  type AttachOptions,
  createResponder,
  type Door,
  type Outgoing,
  type Protocol,
  type Ref,
  type RequestFrame,
  type Responder,
  type System,
  type Transport,
} from "../index";

/** A frame from one end of a link to the other, as JSON. */
export type Frame = RequestFrame | AnswerFrame | { readonly kind: "stopped"; readonly to: Address };

/** The outcome of a message, or a part of it. */
type Answer = Exclude<AnswerFrame, { kind: "progress" }>;

/** A message of this end that waits for its answers. */
interface Sent {
  readonly out: Outgoing;
  /** The number of the next answer, and the answers that came before their turn. */
  next: number;
  readonly early: Map<number, Answer>;
}

/** The number of given-up messages that an end remembers. */
const KEPT = 1_000;

/** Remembers an id. Forgets the oldest one beyond KEPT, and returns it. */
function addTo(ids: Set<string>, id: string): string[] {
  ids.add(id);
  if (ids.size <= KEPT) return [];
  const [oldest = id] = ids; // It has more than KEPT.
  ids.delete(oldest);
  return [oldest];
}

/** One end of a link: it hands on what its own system sends, and lets in what the other end's system sent. */
export class End {
  readonly #system: System;
  readonly #carry: (frame: Frame) => void;
  /** The actors of this system that the other end may reach, by the address they have there. */
  readonly #doors = new Map<Address, { readonly door: Door; readonly of: Address }>();
  readonly #attachments = new Map<Address, Attachment<never>>();
  readonly #sent = new Map<string, Sent>();
  /** Those of them whose senders gave up: an answer may be on its way, or never come. The last KEPT. */
  readonly #givenUp = new Set<string>();
  /** Messages of the other end that were cancelled before they came, or after they were over. The last KEPT. */
  readonly #cancelled = new Set<string>();
  /** Handles the messages of the other end. */
  #responder: Responder;

  constructor(system: System, carry: (frame: Frame) => void) {
    this.#system = system;
    this.#carry = carry;
    this.#responder = this.#respond();
    system.events.subscribe((event) => {
      if (event.kind !== "stopped") return;
      for (const [to, { door, of }] of this.#doors) {
        if (of === event.address && door.isStopped) carry({ kind: "stopped", to }); // One by address goes on.
      }
    });
  }

  // ——— What this system sends

  attach<Signatures>(at: Address, protocol: Protocol<string, Signatures>, options: AttachOptions): Ref<Signatures> {
    const transport: Transport = {
      send: (out) => this.#send(out),
      cancel: ({ id }) => {
        for (const oldest of addTo(this.#givenUp, id)) this.#sent.delete(oldest);
        this.#carry({ kind: "cancel", id });
      },
      credit: ({ id }, count) => this.#carry({ kind: "credit", id, count }),
      close: () => {
        this.#attachments.delete(at);
        for (const [id, { out }] of this.#sent) if (out.to === at) this.#sent.delete(id);
      },
    };
    const attachment = this.#system.attach(at, protocol, transport, options);
    this.#attachments.set(at, attachment as Attachment<never>); // Only its end is called.
    return attachment.ref;
  }

  #send(out: Outgoing): void {
    const { id, to, pattern, isAwaited, type, payload, metadata, timeLeft, credit, wantsProgress } = out;
    const beside = { metadata, timeLeft, credit, wantsProgress };
    this.#carry({ kind: "message", id, to, pattern, isAwaited, type, payload, ...beside });
    if (isAwaited) this.#sent.set(id, { out, next: 0, early: new Map() });
  }

  /** Answers in the order in which the other end gave them, whatever order they come in. */
  #answer(answer: Answer): void {
    const sent = this.#sent.get(answer.id);
    if (sent === undefined) return; // Its attachment has ended.
    sent.early.set(answer.index, answer);
    for (let next = sent.early.get(sent.next); next !== undefined; next = sent.early.get(sent.next)) {
      sent.early.delete(sent.next++);
      this.#apply(sent.out, next);
    }
  }

  #apply(out: Outgoing, answer: Answer): void {
    if (answer.kind === "items") {
      out.produce(answer.items);
      return;
    }
    this.#sent.delete(answer.id);
    this.#givenUp.delete(answer.id);
    if (answer.kind === "reply") out.complete(answer.payload);
    else out.fail(answer.error, answer.detail);
  }

  // ——— What the other system sends

  /** Lets the other end reach an actor of this system. */
  expose(at: Address, door: Door, of: Address): void {
    this.#doors.set(at, { door, of });
  }

  #respond(): Responder {
    return createResponder({
      doorTo: (at) => this.#doors.get(at)?.door,
      send: (frame) => this.#carry(frame),
      most: Number.POSITIVE_INFINITY,
    });
  }

  take(frame: Frame): void {
    switch (frame.kind) {
      case "message":
        if (!this.#cancelled.delete(frame.id)) this.#responder.take(frame);
        return;
      case "cancel":
        if (!this.#responder.has(frame.id)) addTo(this.#cancelled, frame.id);
        this.#responder.take(frame);
        return;
      case "credit":
        this.#responder.take(frame);
        return;
      case "progress":
        this.#sent.get(frame.id)?.out.progress(frame.done, frame.total, frame.note);
        return;
      case "stopped":
        this.#attachments.get(frame.to)?.end("stopped");
        return;
      default:
        this.#answer(frame);
    }
  }

  // ——— The end of the link

  /**
   * Both ends know that the link is down. Nobody knows what became of the messages that were sent (P17): they come back as
   * `timeout`, and later ones as `unreachable`.
   */
  disconnect(cause: Error): void {
    for (const { out } of [...this.#sent.values()]) out.fail("timeout", cause);
    for (const attachment of [...this.#attachments.values()]) attachment.end("unreachable", cause);
    this.#responder.close(cause);
    this.#responder = this.#respond();
    this.#sent.clear();
    this.#givenUp.clear();
    this.#cancelled.clear();
    this.#doors.clear();
  }
}
