import { type AnyRef, type Clock, type Door, isDeliveryError, type Metadata, StreamError } from "../../index";
import { jsonOf } from "../json-of";
import { logOperation } from "../operation-log";
import { type Problem, problemOf, problemOfError } from "../problem";
import { AI_SDK, chatIn, type EventFormat } from "../streams/event-format";
import { LONG } from "../streams/event-response";
import type { LiveSession, NewEvent, Running } from "./live-session";
import { WriteError } from "./writer";

/** Most items that are written at once, and the characters after which no more are added. */
const TOGETHER = 64;
/** Items that are taken at once, and the characters after which they are taken one by one. */
const FEW = 16;
const SHORT = 16_384;
/** Milliseconds until a write that failed is tried again. */
const PAUSE = 1_000;

/** The parts that the messages of all sessions share. */
export interface Runtime {
  readonly clock: Clock;
  /** True once the process is about to end: nothing is tried again. */
  readonly isClosing: boolean;
}

/** The things that a message is sent with. */
export interface Sending {
  readonly ref: AnyRef;
  readonly door: Door;
  readonly operation: string;
  readonly payload: unknown;
  readonly metadata: Metadata | undefined;
  /** Milliseconds that an ask may take. */
  readonly timeout: number;
  readonly isStream: boolean;
  readonly format: EventFormat;
}

/** A message of a session that is being answered: what its actor gives goes into the log, whether its client is there or not. */
export class MessageRun implements Running {
  readonly isStream: boolean;
  readonly done: Promise<void>;
  readonly #session: LiveSession;
  readonly #message: number;
  readonly #runtime: Runtime;
  readonly #sending: Sending;
  #problem: Problem | null = null;
  #onStop: (() => void) | null = null;

  constructor(session: LiveSession, message: number, runtime: Runtime, sending: Sending) {
    this.#session = session;
    this.#message = message;
    this.#runtime = runtime;
    this.#sending = sending;
    this.isStream = sending.isStream;
    session.add(message, this);
    this.done = this.#run();
  }

  answers(chat: string): boolean {
    const { format, payload } = this.#sending;
    return format === AI_SDK && (chatIn(payload) ?? chat) === chat;
  }

  stop(problem: Problem): void {
    this.#problem ??= problem;
    this.#onStop?.();
    this.#session.letGo();
  }

  async #run(): Promise<void> {
    try {
      const last = this.#sending.isStream ? await this.#stream() : [await this.#ask()];
      await this.#store(last, true);
    } catch (thrown) {
      const { ref, operation } = this.#sending;
      logOperation(ref, operation, `${operation} of ${ref.address} could not be ended.`, { cause: thrown });
    } finally {
      this.#session.remove(this.#message);
    }
  }

  async #ask(): Promise<NewEvent> {
    const { door, operation, payload, timeout, metadata } = this.#sending;
    const control = new AbortController();
    this.#onStop = () => control.abort();
    const options = { timeout, signal: control.signal, ...(metadata !== undefined && { metadata }) };
    const reply = await door.ask(operation, payload, options);
    if (reply.isErr()) return this.#failed(reply.error);
    try {
      return { event: "reply", data: jsonOf(reply.value) };
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  /** Stores the items of the stream as they come. Gives the last ones, with the event that ends it. */
  async #stream(): Promise<NewEvent[]> {
    const { door, operation, payload, metadata } = this.#sending;
    const beside = metadata === undefined ? {} : { metadata };
    const options = { credit: TOGETHER, abandonedAfter: Number.POSITIVE_INFINITY, ...beside };
    const items = door.stream(operation, payload, options);
    this.#onStop = () => void items.return();
    let events: NewEvent[] = [];
    let length = 0;
    const add = (item: unknown): void => {
      const event = itemOf(item);
      events.push(event);
      length += event.data.length;
    };
    const isEnough = (): boolean => events.length >= TOGETHER || length >= LONG;
    try {
      let next = items.next();
      for (;;) {
        const step = await next;
        if (this.#problem !== null) break;
        if (step.done === true) return [...events, END];
        add(step.value);
        while (!isEnough()) {
          const ready = items.ready(length < SHORT ? FEW : 1);
          if (ready.length === 0) break;
          for (const item of ready) add(item);
        }
        next = items.next();
        // The end mostly comes right after the last item, and is stored with it then: each time takes 40 µs and more.
        if ((await isSettledSoon(next)) && !isEnough()) continue;
        const isStored = await this.#store(events, false);
        events = [];
        length = 0;
        if (!isStored) break;
        await this.#session.room(() => this.#problem !== null);
      }
    } catch (thrown) {
      if (this.#problem === null) return [...events, this.#failed(thrown)];
    } finally {
      void items.return(); // It goes on where an item could not be written.
    }
    return [...events, error(this.#problem ?? INTERNAL)];
  }

  /** The last event of a message that failed. What went wrong inside is logged, as the client is not told (P18). */
  #failed(thrown: unknown): NewEvent {
    if (this.#problem !== null) return error(this.#problem);
    const { ref, operation } = this.#sending;
    const failure = thrown instanceof StreamError ? thrown.error : thrown;
    const problem = isDeliveryError(failure) ? problemOfError(failure) : INTERNAL;
    if (problem.status === 500) {
      const sentence = `${operation} of ${ref.address} failed for a message of its session.`;
      logOperation(ref, operation, sentence, { cause: failure });
    }
    return error(problem);
  }

  /** Writes events. While that fails, as on a full disk, the message stands still. False once it was given up. */
  async #store(events: readonly NewEvent[], isEnd: boolean): Promise<boolean> {
    for (;;) {
      try {
        await this.#session.append(this.#message, events, isEnd);
        return true;
      } catch (thrown) {
        if (!(thrown instanceof WriteError)) throw thrown;
        const { ref, operation } = this.#sending;
        const sentence = `An event of ${ref.address} could not be stored: ${thrown.message}`;
        logOperation(ref, operation, sentence, { cause: thrown });
      }
      if (this.#runtime.isClosing || (this.#problem !== null && !isEnd)) return false;
      await new Promise<void>((resolve) => this.#runtime.clock.setTimer(resolve, PAUSE).unref());
    }
  }
}

const INTERNAL = problemOf("internal-error", "The service failed. Its log says why.");

const END: NewEvent = { event: "end", data: "{}" };

/** Microtasks that a step of a stream has to settle. A generator takes three for an item. */
const SOON = 8;

async function isSettledSoon(step: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  step.then(settle, settle);
  for (let turn = 0; turn < SOON && !isSettled; turn++) await null;
  return isSettled;
}

const itemOf = (item: unknown): NewEvent => ({ data: jsonOf(item) });

const error = (problem: Problem): NewEvent => ({ event: "error", data: JSON.stringify(problem) });
