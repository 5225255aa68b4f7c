import {
  type Address,
  type AskError,
  type AskResult,
  type Attachment,
  type AttachOptions,
  type Door,
  type Metadata,
  type Outgoing,
  type Progress,
  type Protocol,
  publicError,
  publicIssues,
  type Ref,
  StreamError,
  type System,
  type Transport,
} from "../index";
import type { Answer, Frame, Outcome } from "./link-frame";

/** A message of this end that waits for its answers. */
interface Sent {
  readonly out: Outgoing;
  /** The number of the next answer, and the answers that came before their turn. */
  next: number;
  readonly early: Map<number, Answer>;
}

/** A message of the other end that is handled here. */
interface Served {
  readonly controller: AbortController;
  /** Items that the reader has room for, and what is called when there is room again. */
  credit: number;
  wake: () => void;
}

type Incoming = Extract<Frame, { kind: "message" }>;

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
  readonly #served = new Map<string, Served>();
  /** Messages that were cancelled before they came, or after they were over. The last KEPT. */
  readonly #cancelled = new Set<string>();

  constructor(system: System, carry: (frame: Frame) => void) {
    this.#system = system;
    this.#carry = carry;
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
    const limit = Number.isFinite(timeLeft) ? timeLeft : null;
    const beside = { metadata, timeLeft: limit, credit, wantsProgress };
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

  take(frame: Frame): void {
    switch (frame.kind) {
      case "message":
        if (!this.#cancelled.delete(frame.id)) void this.#serve(frame);
        return;
      case "cancel":
        this.#cancel(frame.id);
        return;
      case "credit":
        this.#grant(frame.id, frame.count);
        return;
      case "progress": {
        const { done, total, note } = frame.progress;
        this.#sent.get(frame.id)?.out.progress(done, total, note);
        return;
      }
      case "stopped":
        this.#attachments.get(frame.to)?.end("stopped");
        return;
      default:
        this.#answer(frame);
    }
  }

  #cancel(id: string): void {
    const served = this.#served.get(id);
    if (served === undefined) addTo(this.#cancelled, id);
    else {
      served.controller.abort(new Error("its sender gave up"));
      served.wake();
    }
  }

  #grant(id: string, count: number): void {
    const served = this.#served.get(id);
    if (served === undefined) return;
    served.credit += count;
    served.wake();
  }

  async #serve(frame: Incoming): Promise<void> {
    const { id, to, type, payload, pattern, isAwaited, credit } = frame;
    const door = this.#doors.get(to)?.door;
    if (door === undefined) {
      if (isAwaited) this.#carry({ kind: "failure", id, index: 0, error: "no-recipient" });
      return;
    }
    if (!isAwaited) {
      door.tell(type, payload, { ...besideOf(frame), deadline: timeOf(frame) });
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const served: Served = { controller, credit, wake: () => undefined };
    this.#served.set(id, served);
    let index = 0;
    const answer = (outcome: Outcome): void => {
      if (!signal.aborted) this.#carry({ ...outcome, id, index: index++ });
    };
    if (pattern === "stream") await this.#stream(frame, door, served, answer);
    else {
      const options = { ...besideOf(frame), timeout: timeOf(frame), signal };
      const result: AskResult =
        pattern === "ask"
          ? await door.ask(type, payload, { ...options, ...this.#listening(frame) })
          : await door.offer(type, payload, options);
      answer(result.isOk() ? { kind: "reply", payload: result.value } : failureOf(result.error));
    }
    this.#served.delete(id);
  }

  #listening({ id, wantsProgress }: Incoming): { onProgress?: (progress: Progress) => void } {
    return wantsProgress ? { onProgress: (progress) => this.#carry({ kind: "progress", id, progress }) } : {};
  }

  /** Reads as many items as the other end's reader has room for. */
  async #stream(frame: Incoming, door: Door, served: Served, answer: (outcome: Outcome) => void): Promise<void> {
    const { signal } = served.controller;
    const options = { ...besideOf(frame), deadline: timeOf(frame), credit: 1, signal };
    try {
      for await (const item of door.stream(frame.type, frame.payload, options)) {
        answer({ kind: "items", items: [item] });
        served.credit--;
        while (served.credit <= 0 && !signal.aborted) {
          await new Promise<void>((resolve) => {
            served.wake = resolve;
          });
        }
      }
      answer({ kind: "reply" });
    } catch (thrown) {
      if (!(thrown instanceof StreamError)) throw thrown;
      answer(failureOf(thrown.error));
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
    for (const { controller, wake } of [...this.#served.values()]) {
      controller.abort(cause);
      wake();
    }
    this.#sent.clear();
    this.#givenUp.clear();
    this.#cancelled.clear();
    this.#doors.clear();
  }
}

/** The options beside the payload of a message. */
const besideOf = ({ metadata }: Incoming): { metadata?: Metadata } => (metadata === undefined ? {} : { metadata });

const timeOf = ({ timeLeft }: Incoming): number => timeLeft ?? Number.POSITIVE_INFINITY;

/** The part of a failure that the other end may know: its kind, and what its sender can mend. */
function failureOf(error: AskError): Outcome {
  const { kind } = error;
  switch (kind) {
    case "timeout":
      return { kind: "failure", error: kind, detail: error.timeout };
    case "mailbox-full":
      return { kind: "failure", error: kind, detail: error.capacity };
    case "payload-too-large":
      return { kind: "failure", error: kind, detail: error.limit };
    case "invalid-payload":
      return { kind: "failure", error: kind, detail: publicIssues(error.issues) };
    case "handler-failed":
      return { kind: "failure", error: kind, detail: publicError(error).message };
    default:
      return { kind: "failure", error: kind };
  }
}
