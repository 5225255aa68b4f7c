import { type Address, isAddress } from "../../message/address";
import { type AskError, fullnessOf } from "../../message/delivery-error";
import { checkOptions, type OptionChecks, option } from "../../message/option";
import { publicError } from "../../message/response";
import { publicIssues } from "../../message/withhold";
import type { Clock } from "../../runtime/clock";
import { isThenable } from "../../runtime/thenable";
import type { AskResult } from "../envelopes/ask";
import type { AskOptions, Progress, StreamOptions, TellOptions } from "../envelopes/call-options";
import { StreamError } from "../envelopes/stream-step";
import { type Answer, type AnswerFrame, isFrame, type MessageFrame, type RequestFrame } from "./frames";
import { ActorDoor, type Door } from "./receive";
import { ActorRef } from "./ref";
import { Call } from "./responder-call";

/** Most messages under way, where the owner says nothing else. */
const MOST = 1_000;

/** The options of a responder. */
export interface ResponderOptions {
  /**
   * Gives the door to an actor of this side (`receive`), which says what is exposed and carries metadata of its own, such as the
   * user of the connection: those of a message replace none of them. Undefined for an address that the other side may not reach, which is
   * `no-recipient`, as is one for which it throws. For a reference in place of a door, `take` throws. Called for each message. A tell to such an address is lost.
   */
  readonly doorTo: (at: Address) => Door | undefined;
  /**
   * Sends a frame to the other side. While a promise that it gives is pending, no further items of that stream are sent. If it throws or
   * rejects, as JSON does for a bigint, the message fails as `handler-failed`; a progress is logged, and lost.
   */
  readonly send: (frame: AnswerFrame) => unknown;
  /** Most messages whose senders wait at one time. Further ones come back as `mailbox-full`. A whole number from 1, or `Infinity`. Default: 1,000. */
  readonly most?: number;
  /** The longest time that a message may take, in milliseconds. Shorter times of its sender go before it. Default: `Infinity`. */
  readonly longest?: number;
  /**
   * The reading of streams here. `credit` is what a producer may be ahead of the reader on the other side's credit: with more than 1, one frame
   * has several items. `abandonedAfter` protects its actor from a reader that grants no credit any more. Default: `{ credit: 1 }`,
   * and an `abandonedAfter` of 5 minutes.
   */
  readonly streams?: Pick<StreamOptions, "credit" | "abandonedAfter">;
  /**
   * Gives the detail of the failure frame of a message whose door failed it: to word it in another way, or to log what the other side is
   * not told. It becomes known to the sender (P18). Default: `usual`, which is what the sender can mend, such as the issues of its payload.
   */
  readonly detailOf?: (error: AskError, message: MessageFrame, usual: unknown) => unknown;
}

/** The receiving end of a connection. */
export interface Responder {
  /**
   * Takes a frame from the other side. It never throws for what came from there, but for a mistake in `doorTo`. A frame about a message that is not under way is
   * ignored, as it may have crossed an answer; so is a message with the id of one that is.
   *
   * @returns false when it is no frame: end the connection.
   */
  take(frame: RequestFrame): boolean;
  /** True while the sender of the message with an id waits for it. */
  has(id: string): boolean;
  /** The number of messages whose senders wait. */
  readonly size: number;
  /** The connection is lost: gives up all messages that are under way, and ignores all frames from now on. Sends nothing any more. */
  close(cause?: unknown): void;
}

const UNSENT: Answer = { kind: "failure", error: "handler-failed", detail: "its outcome could not be sent" };

class DoorResponder implements Responder {
  readonly #options: ResponderOptions;
  readonly #calls = new Map<string, Call>();
  /** Calls whose asks have settled in this turn. */
  readonly #settled: Call[] = [];
  #isClosed = false;
  /** The last address that a message had: mostly that of the next one, too, and to look whether a text is one takes 50 ns. */
  #known: Address | undefined;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#calls.size;
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  take(frame: RequestFrame): boolean {
    if (!isFrame(frame)) return false;
    const call = this.#calls.get(frame.id);
    if (frame.kind === "credit") call?.grant(frame.count);
    else if (frame.kind === "cancel") this.#giveUp(call, new Error("its sender gave up"));
    else if (call === undefined && !this.#isClosed) this.#begin(frame);
    return true;
  }

  close(cause: unknown = new Error("the connection is closed")): void {
    this.#isClosed = true;
    for (const call of this.#calls.values()) this.#giveUp(call, cause);
  }

  #giveUp(call: Call | undefined, cause: unknown): void {
    if (call === undefined) return;
    this.#calls.delete(call.frame.id);
    call.giveUp(cause);
  }

  #begin(frame: MessageFrame): void {
    const { longest = Number.POSITIVE_INFINITY, most = MOST } = this.#options;
    const { id, type, payload, metadata, timeLeft, pattern, isAwaited } = frame;
    const door = this.#doorTo(frame.to);
    if (this.#isClosed) return; // By its owner's function: the connection ends there.
    const time = typeof timeLeft === "number" && timeLeft < longest ? Math.max(timeLeft, 1) : longest;
    const its = metadata && { ...metadata, ...door?.metadata }; // Its own go last (P18).
    if (pattern === "tell" && isAwaited !== true) {
      door?.tell(type, payload, its === undefined ? { deadline: time } : { deadline: time, metadata: its });
      return;
    }
    const call = new Call(frame);
    if (door === undefined) void this.#answer(call, { kind: "failure", error: "no-recipient" });
    else if (this.size >= most) void this.#answer(call, { kind: "failure", error: "mailbox-full", detail: most });
    else {
      this.#calls.set(id, call);
      if (pattern === "stream") {
        const options = its === undefined ? { deadline: time } : { deadline: time, metadata: its };
        void this.#answer(call, this.#read(call, door, options));
      } else if (pattern === "ask" && frame.wantsProgress !== true && door instanceof ActorDoor) {
        call.ask = door.askInto(type, payload, time, its, (result) => this.#settle(call, result, door.clock));
      } else
        void this.#answer(
          call,
          this.#ask(call, door, its === undefined ? { timeout: time } : { timeout: time, metadata: its }),
        );
    }
  }

  #doorTo(to: unknown): Door | undefined {
    let door: Door | undefined;
    try {
      if (to !== this.#known && isAddress(to)) this.#known = to;
      if (to === this.#known && this.#known !== undefined) door = this.#options.doorTo(this.#known);
    } catch {
      return undefined;
    }
    if (!(door instanceof ActorRef)) return door;
    throw new TypeError(
      `doorTo gives a door for ${door.address}, and not the reference, which validates nothing: return receive(ref).`,
    );
  }

  async #answer(call: Call, answer: Answer | Promise<Answer>): Promise<void> {
    try {
      const sent = this.#send(call, await answer);
      if (isThenable(sent)) await sent;
      this.#forget(call);
    } catch {
      await this.#giveUpSending(call);
    }
  }

  /** Sends the outcome of an ask once the actor's turn is over: to await each would cost 0.4 µs. */
  #settle(call: Call, result: AskResult, clock: Clock): void {
    call.result = result;
    if (this.#settled.push(call) === 1) clock.microtask(this.#sendSettled);
  }

  readonly #sendSettled = (): void => {
    for (let index = 0; index < this.#settled.length; index++) this.#sendResult(this.#settled[index] as Call); // There is one.
    this.#settled.length = 0;
  };

  #sendResult(call: Call): void {
    try {
      const sent = this.#send(call, this.#outcomeOf(call.result as AskResult, call)); // It has settled.
      if (!isThenable(sent)) {
        this.#forget(call);
        return;
      }
      void Promise.resolve(sent).then(
        () => this.#forget(call),
        () => this.#giveUpSending(call),
      );
    } catch {
      void this.#giveUpSending(call);
    }
  }

  async #giveUpSending(call: Call): Promise<void> {
    await this.#sendUnsent(call);
    this.#forget(call);
  }

  #outcomeOf(result: AskResult, call: Call): Answer {
    return result.isOk() ? { kind: "reply", payload: result.value } : this.#failureOf(result.error, call);
  }

  /**
   * A part of an outcome could not be sent, so its sender is told that. If `send` fails again, its owner knows, for it is the owner's
   * function, and nobody else is left to tell: the sender waits until its own timeout.
   */
  async #sendUnsent(call: Call): Promise<void> {
    try {
      await this.#send(call, UNSENT);
    } catch {}
  }

  #forget(call: Call): void {
    const { id } = call.frame;
    if (this.#calls.get(id) === call) this.#calls.delete(id);
  }

  /** Nothing is sent once its sender has given up, or the connection is lost: a refused message is not under way. */
  #send(call: Call, outcome: Answer): unknown {
    if (!call.isOpen || this.#isClosed) return undefined;
    const { id } = call.frame;
    const { index } = call;
    // A spread would cost each reply 100 ns.
    const frame: AnswerFrame =
      outcome.kind === "reply" ? { kind: "reply", payload: outcome.payload, id, index } : { ...outcome, id, index };
    const sent: unknown = this.#options.send(frame);
    if (isThenable(sent)) return Promise.resolve(sent).then(() => void call.index++);
    call.index++; // A frame that could not be sent takes no number, so it leaves no gap.
    return undefined;
  }

  /** Asks or offers, where more than an outcome is wanted, or by a door that is not ours. */
  async #ask(call: Call, door: Door, beside: AskOptions): Promise<Answer> {
    const { type, payload, pattern, wantsProgress } = call.frame;
    const options = { ...beside, signal: call.signal };
    if (pattern === "tell") return this.#outcomeOf(await door.offer(type, payload, options), call);
    const listening = wantsProgress === true ? { ...options, onProgress: this.#progressOf(call) } : options;
    return this.#outcomeOf(await door.ask(type, payload, listening), call);
  }

  /** Sends how far an ask has come. */
  #progressOf(call: Call): (progress: Progress) => void {
    const { id } = call.frame;
    return (progress) => (call.isOpen ? this.#options.send({ ...progress, kind: "progress", id }) : undefined);
  }

  /** Reads as many items as the reader on the other side has room for. */
  async #read(call: Call, door: Door, beside: TellOptions): Promise<Answer> {
    const { type, payload } = call.frame;
    const { signal } = call;
    const stream = door.stream(type, payload, { credit: 1, ...this.#options.streams, ...beside, signal });
    stream.ready(1); // Begins it. It has its deadline, and its producer a limit, though no credit may ever come.
    try {
      for (;;) {
        if (call.credit < 1) await call.untilRoom(); // Given up meanwhile, the next read throws.
        const step = await stream.next();
        if (step.done === true) return { kind: "reply" };
        const more = call.credit > 1 ? stream.ready(call.credit - 1) : [];
        call.credit -= 1 + more.length;
        const sent = this.#send(call, { kind: "items", items: [step.value, ...more] });
        if (isThenable(sent)) await sent;
      }
    } catch (thrown) {
      if (!(thrown instanceof StreamError)) throw thrown;
      return call.isOpen ? this.#failureOf(thrown.error, call) : { kind: "reply" }; // Nothing is sent once its sender gave up.
    } finally {
      void stream.return();
    }
  }

  /** The part of a failure that the other side may know: its kind, and what its sender can mend (P18). */
  #failureOf(error: AskError, { frame }: Call): Answer {
    const usual = detailOf(error);
    const detail = this.#options.detailOf === undefined ? usual : this.#options.detailOf(error, frame, usual);
    return { kind: "failure", error: error.kind, detail };
  }
}

function detailOf(error: AskError): unknown {
  switch (error.kind) {
    case "timeout":
      return error.timeout;
    case "mailbox-full":
      return fullnessOf(error);
    case "payload-too-large":
      return error.limit;
    case "invalid-payload":
      return publicIssues(error.issues);
    default:
      return publicError(error).message;
  }
}

/**
 * Makes the receiving end of a connection: it takes the frames in which the messages of the other side came, hands each message to a
 * door, and gives the frames of its answers. It keeps what is under way, obeys cancellations and credit, and forgets what was given
 * up. It does no input or output of its own, so it serves any transport that can carry plain data; the frames may be written in any way.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * const responder = createResponder({
 *   doorTo: (at) => (at === files.address ? receive(files) : undefined),
 *   send: (frame) => socket.send(JSON.stringify(frame)),
 * });
 * socket.onmessage = ({ data }) => responder.take(JSON.parse(data)) || socket.close();
 * socket.onclose = () => responder.close();
 */
export function createResponder(options: ResponderOptions): Responder {
  checkOptions(options, CHECKS, OWNER, "{ doorTo, send }");
  for (const name of ["doorTo", "send"] as const) CHECKS[name](options[name], name, OWNER); // Both must be there.
  return new DoorResponder(options);
}

const OWNER = "a responder";
const STREAMS: OptionChecks<NonNullable<ResponderOptions["streams"]>> = {
  credit: option.count,
  abandonedAfter: option.duration,
};
const CHECKS: OptionChecks<ResponderOptions> = {
  doorTo: option.function(),
  send: option.function(),
  most: option.bound,
  longest: option.duration,
  detailOf: option.function(" of an error and its message"),
  streams: option.group(STREAMS, "{ credit: 4 }"),
};
