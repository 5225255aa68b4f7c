import {
  type Address,
  type AnyRef,
  type Expose,
  isErrorKind,
  type Metadata,
  type Protocol,
  quote,
  type Ref,
  readJson,
} from "../index";
import { putBytes } from "./bytes";
import { revivedDied } from "./died";
import { Code, MAX_DEPTH, readPlace } from "./frames";
import type { LinkOptions } from "./options";
import { Outbox } from "./outbox";
import { Sending } from "./sending";
import { Serving } from "./serving";
import { revivedError, revivedRefusal } from "./told";
import { revivedVersions, type Versions } from "./versions";
import { Writing } from "./writing";

/**
 * One end of a connection between two systems, over anything that carries texts in order. It hands out what its own system sends, and
 * lets in what the other one sent. Both ends are alike.
 */
export interface Link {
  /** The messages of this side whose senders wait. */
  readonly waiting: number;
  /** The messages of the other side that are under way here. */
  readonly underWay: number;
  /** The references to actors of the other side, without those for one message. */
  readonly refs: number;
  /**
   * The reference to an actor of the other side, by the address that it has there. One for each address and protocol; it lives on over
   * `lost` and `resume`. It ends with its actor, and by `end`.
   *
   * @throws TypeError or Error as `system.attach` does.
   */
  ref<Signatures>(to: Address, protocol: Protocol<string, Signatures>): Ref<Signatures>;
  /**
   * The reference for one message, by an address of the other side, for those who send to ever more addresses and ask for it anew each
   * time. It ends after that message, unless it is among the 1,000 that were used last. Its actor is looked for at each message.
   *
   * @throws TypeError or Error as `system.attach` does.
   */
  transient<Signatures>(to: Address, protocol: Protocol<string, Signatures>): Ref<Signatures>;
  /**
   * Takes a text of the other side, and the bytes that came beside it. Never throws.
   *
   * @returns false when it is none, or has a frame that is none, or other bytes than its payload has places for: end the connection.
   */
  take(text: string, bytes?: readonly unknown[]): boolean;
  /**
   * The connection is lost. All that waits fails so: `timeout` where nobody knows whether it was handled. What has not left yet, and what
   * is sent from now on, is `unreachable`. References that came in payloads end, and their watchers are told; those of
   * `ref` live on. What the other side had under way is given up, and what it had of references is forgotten.
   *
   * @param kind `died` is `unreachable` of a side that may have begun what had left (`mayHaveBegun`).
   */
  lost(cause: unknown, kind: "timeout" | "unreachable" | "died"): void;
  /**
   * The actors of the other side are gone with it, until `restore`: watchers of its references are told `unreachable`, and the references live
   * on.
   */
  interrupt(cause: unknown): void;
  /** The other side is there again. */
  restore(): void;
  /** There is a connection again, to another system at the same place: references work again. */
  resume(): void;
  /** More actors of this side can be reached than when `exposed` was called: what the other side has of them leads there, and their ends are told. */
  lookAgain(): void;
  /** The ends of this side's actors are told no more: the whole side is about to leave, and another one may take its place. */
  leave(): void;
  /** Sends what waits for the end of the turn. */
  flush(): void;
  /** Hands the texts over again that were held, in order. They are `unreachable` if the connection is lost before. */
  release(): void;
  /** Ends all references as `unreachable`, and tells their watchers. What still waits fails as `timeout`, unless `lost` was called. */
  end(cause: unknown): void;
}

const MOST_REFS = 10_000;

class TextLink implements Link {
  readonly #sending: Sending;
  readonly #serving: Serving;
  readonly #outbox: Outbox;
  readonly #maxBytes: number;
  readonly #versions: Versions | undefined;
  readonly #unsubscribe: () => void;
  #isLost = false;
  #hasEnded = false;

  constructor(options: LinkOptions) {
    const { system, prefix, send, exposed, metadata, tellsErrors = false, withheldBy, versions, detailOf } = options;
    const { carriesBytes = false, mostUnread = Number.POSITIVE_INFINITY } = options;
    const versionOf = versions && ((operations: Protocol["operations"]) => versions.of(operations));
    const { maxBytes = Number.POSITIVE_INFINITY, mostRefs = MOST_REFS } = options;
    const { most = Number.POSITIVE_INFINITY, longest = Number.POSITIVE_INFINITY, streams = {} } = options;
    this.#maxBytes = maxBytes;
    this.#outbox = new Outbox(system.clock, maxBytes, send, (out, cause) => this.#sending.unsent(out, cause));
    const revive: Expose = (at, wanted) => this.#revive(at, wanted);
    const lend = (ref: AnyRef): boolean => this.#serving.lend(ref);
    const takeBack = (ref: AnyRef): void => this.#serving.takeBack(ref);
    const homeOf = (at: Address): Address | undefined => this.#sending.homeOf(at);
    const writing = new Writing({ lend, takeBack, homeOf, carriesBytes });
    this.#sending = new Sending(
      { system, prefix, mostRefs, maxBytes, mostUnread, revive, writing, withheldBy, versionOf },
      this.#outbox,
    );
    const responder = { most, longest, streams: { abandonedAfter: Number.POSITIVE_INFINITY, ...streams } };
    const serving = { exposed, mostRefs, metadata, tellsErrors, detailOf, responder, revive, writing, versions };
    this.#versions = versions;
    this.#serving = new Serving(serving, this.#outbox);
    this.#unsubscribe = system.events.subscribe((event) => this.#serving.heard(event));
  }

  get waiting(): number {
    return this.#sending.size;
  }

  get underWay(): number {
    return this.#serving.size;
  }

  get refs(): number {
    return this.#sending.refs;
  }

  ref<Signatures>(to: Address, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    return this.#sending.refTo(to, protocol);
  }

  transient<Signatures>(to: Address, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    return this.#sending.transientTo(to, protocol);
  }

  /** The reference for a text of the other side, where a schema has one. */
  #revive(text: string, wanted: Protocol | undefined): AnyRef | undefined {
    const place = readPlace(text);
    if (place === undefined || this.#isLost) return undefined;
    return place.isTheirs ? this.#sending.revive(place.at, wanted) : this.#serving.home(place.at);
  }

  take(text: string, bytes?: readonly unknown[]): boolean {
    if (this.#isLost) return true; // It crossed the end of the connection.
    if (typeof text !== "string" || text.length > this.#maxBytes) return false;
    const read = readJson(text, { depth: MAX_DEPTH });
    if (read.isErr() || !Array.isArray(read.value)) return false;
    const frames: unknown[] = read.value;
    if (bytes !== undefined && !(putBytes(frames, bytes) && frames.shift())) return false;
    for (const frame of frames) {
      if (this.#isLost) return true;
      if (!Array.isArray(frame) || !this.#takeFrame(frame)) return false;
    }
    return true;
  }

  #takeFrame(frame: readonly unknown[]): boolean {
    const [code, first] = frame;
    switch (code) {
      case Code.tell:
        return this.#takeTell(frame);
      case Code.open:
      case Code.release:
      case Code.stopped:
      case Code.mark:
      case Code.read:
        return Number.isSafeInteger(first) && this.#takeTarget(frame, first as number); // It was just looked at.
      default:
        return typeof first === "string" && this.#takeNamed(frame, first);
    }
  }

  #takeTell([, target, type, time, metadata, payload]: readonly unknown[]): boolean {
    return this.#message(target, "", "tell", type, time, metadata, 0, payload, false, false);
  }

  /** Takes a frame that begins with a number. */
  #takeTarget([code, , second, third, fourth]: readonly unknown[], target: number): boolean {
    if (code === Code.open) {
      if (typeof second !== "string") return false;
      this.#serving.open(target, `@(${second})`, third === 1, fourth);
    } else if (code === Code.release) this.#serving.release(target);
    else if (code === Code.mark) this.#outbox.add(`[${Code.read},${target}]`);
    else if (code === Code.read) this.#sending.read(target);
    else this.#sending.ended(target, second === 1 ? "unreachable" : "stopped", revivedError(third));
    return true;
  }

  /** Takes a frame about a message whose sender waits. */
  #takeNamed(frame: readonly unknown[], id: string): boolean {
    const [code, , second, third, fourth] = frame;
    switch (code) {
      case Code.ask:
        return this.#takeAwaited(frame, id, "ask", false);
      case Code.askWithProgress:
        return this.#takeAwaited(frame, id, "ask", true);
      case Code.offer:
        return this.#takeAwaited(frame, id, "tell", false);
      case Code.stream:
        return this.#takeAwaited(frame, id, "stream", false);
      case Code.cancel:
        this.#serving.cancel(id);
        return true;
      case Code.credit:
        this.#serving.credit(id, second as number); // The responder looks whether it is one.
        return true;
      case Code.reply:
        this.#sending.reply(id, second);
        return true;
      case Code.failure:
        if (!isErrorKind(second)) return false;
        this.#sending.fail(id, second, revivedRefusal(revivedDied(revivedVersions(revivedError(third)))));
        return true;
      case Code.items:
        this.#sending.produce(id, frame.length > 3 ? frame.slice(2) : [second]);
        return true;
      case Code.progress:
        // `Outgoing.progress` looks whether they are what they should be.
        this.#sending.progress(id, second as number, (third ?? undefined) as number, (fourth ?? undefined) as string);
        return true;
      case Code.versions:
        if (typeof second === "string") this.#versions?.heard(id, second);
        return typeof second === "string";
      default:
        return false;
    }
  }

  #takeAwaited(
    frame: readonly unknown[],
    id: string,
    pattern: "ask" | "tell" | "stream",
    wantsProgress: boolean,
  ): boolean {
    const [, , target, type, time, metadata, credit, payload] = frame;
    return this.#message(target, id, pattern, type, time, metadata, credit, payload, pattern === "tell", wantsProgress);
  }

  #message(
    target: unknown,
    id: string,
    pattern: "ask" | "tell" | "stream",
    type: unknown,
    time: unknown,
    metadata: unknown,
    credit: unknown,
    payload: unknown,
    isAwaited: boolean,
    wantsProgress: boolean,
  ): boolean {
    // The responder and its door look at all of them (P18).
    return this.#serving.message(target, {
      id,
      pattern,
      isAwaited,
      type: type as string,
      payload,
      metadata: metadata === 0 ? undefined : (metadata as Metadata),
      timeLeft: time === 0 ? null : (time as number),
      credit: credit as number,
      wantsProgress,
    });
  }

  lost(cause: unknown, kind: "timeout" | "unreachable" | "died"): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#outbox.lose(cause);
    this.#sending.lose(cause, kind);
    this.#serving.lose(cause);
  }

  interrupt(cause: unknown): void {
    this.#sending.interrupt(cause);
  }

  restore(): void {
    this.#sending.restore();
  }

  resume(): void {
    if (!this.#isLost || this.#hasEnded) return;
    this.#isLost = false;
    this.#outbox.resume();
    this.#serving.resume();
    this.#sending.resume();
  }

  lookAgain(): void {
    this.#serving.lookAgain();
  }

  leave(): void {
    this.#serving.leave();
    this.#unsubscribe();
  }

  flush(): void {
    this.#outbox.flush();
  }

  release(): void {
    this.#outbox.release();
  }

  end(cause: unknown): void {
    if (this.#hasEnded) return;
    this.lost(cause, "timeout");
    this.#hasEnded = true;
    this.#unsubscribe();
    this.#sending.end(cause);
  }
}

/**
 * Makes one end of a connection between two systems.
 *
 * @throws TypeError when an option is none.
 * @example
 * const link = createLink({ system, prefix: "node-7/", send: (text) => port.post(text), exposed: () => undefined });
 * port.onText = (text) => link.take(text) || port.close();
 * const files = link.ref(address("files"), Files);
 */
export function createLink(options: LinkOptions): Link {
  if (typeof options?.prefix !== "string" || !options.prefix.endsWith("/")) {
    throw new TypeError(`The prefix of a link ends with a slash, as "node-7/" does; got ${quote(options?.prefix)}.`);
  }
  return new TextLink(options);
}
