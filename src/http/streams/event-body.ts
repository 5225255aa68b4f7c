import { type Clock, quote } from "../../index";
import type { Bodies, EventFeed, Visit } from "../contract";
import { keepOpen } from "../disconnects";

/** Bun sends the headers with the first chunk, so that one comes before the first event. */
const OPEN = ": open\n\n";
const KEEP_ALIVE = ": alive\n\n";

/** Milliseconds after which a reader that takes nothing counts as gone. */
const STALLED = 300_000;

const encoder = new TextEncoder();

/** The body of one response that is an event stream. */
class EventBody {
  readonly #feed: EventFeed;
  readonly #request: Request;
  readonly #bodies: Set<EventBody>;
  readonly #onEnd: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array>; // Set by start, which the stream's constructor calls.
  #isOpen = true;
  /** True since the last look, if nothing was written. */
  #isQuiet = false;
  /** The looks in a row that found the reader taking nothing. */
  #stalled = 0;
  #ahead: string;

  constructor(feed: EventFeed, request: Request, ahead: string, bodies: Set<EventBody>, onEnd: () => void) {
    this.#feed = feed;
    this.#request = request;
    this.#ahead = ahead;
    this.#bodies = bodies;
    this.#onEnd = onEnd;
    bodies.add(this);
  }

  get isEndless(): boolean {
    return this.#feed.isEndless === true;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    controller.enqueue(encoder.encode(OPEN + this.#ahead));
  }

  /** Called when the socket takes more: nothing is read for a socket that does not. */
  async pull(): Promise<void> {
    let text: string;
    try {
      text = await this.#feed.read();
    } catch (thrown) {
      this.#end(); // Of a log that cannot be read. Bun cuts the connection, and the client comes back.
      throw thrown;
    }
    if (!this.#isOpen) return;
    this.#write(text);
    if (this.#feed.isEnded) this.#close();
  }

  cancel(): void {
    this.#end();
  }

  /** Tells the client to come back. */
  sayGoodbye(): void {
    if (!this.#isOpen) return;
    this.#write(this.#feed.goodbye);
    this.#close();
  }

  /** Keeps a quiet connection open, and lets go of one that takes nothing. `looks` in a row find that the reader has gone. */
  look(looks: number): void {
    if ((this.#controller.desiredSize ?? 0) > 0) {
      this.#stalled = 0;
      if (this.#isQuiet) this.#controller.enqueue(encoder.encode(KEEP_ALIVE));
    } else if (this.#isQuiet && (++this.#stalled >= looks || this.#request.signal.aborted)) {
      this.#end();
      this.#controller.error(new Error("The reader takes nothing."));
      return;
    }
    this.#isQuiet = true;
  }

  #write(text: string): void {
    this.#isQuiet = false;
    if (text !== "") this.#controller.enqueue(encoder.encode(text));
  }

  #close(): void {
    this.#end();
    this.#controller.close();
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#bodies.delete(this);
    this.#feed.leave();
    this.#onEnd();
  }
}

/** The event streams that are being written: it keeps them alive, and ends them when the gateway drains. */
export class EventBodies implements Bodies {
  readonly #clock: Clock;
  readonly #keepAlive: number;
  readonly #bodies = new Set<EventBody>();
  #isLooking = false;
  /** Called when one has ended, while the gateway drains. */
  #onLeft: (() => void) | null = null;

  /**
   * `keepAlive` is the longest time without a byte, in milliseconds.
   *
   * @throws RangeError when it is below 1.
   */
  constructor(clock: Clock, keepAlive: number) {
    if (!(keepAlive >= 1))
      throw new RangeError(`keepAlive is a number of milliseconds from 1; got ${quote(keepAlive)}.`);
    this.#clock = clock;
    this.#keepAlive = keepAlive;
  }

  /** The number of streams that are being written. */
  get size(): number {
    return this.#bodies.size;
  }

  /** Answers a request with what a feed gives. `ahead` is the text of the events that are there already. */
  respond(
    feed: EventFeed,
    { request, server }: Pick<Visit, "request" | "server">,
    ahead: string,
    headers: Readonly<Record<string, string>>,
  ): Response {
    if (feed.isEnded) {
      feed.leave(); // All of it is there, and needs no stream, which costs 10 µs and more.
      return new Response(OPEN + ahead, { headers });
    }
    keepOpen(server, request); // Else Bun ends a stream that is quiet for 10 seconds.
    const onEnd = (): void => this.#onLeft?.();
    const body = new ReadableStream(new EventBody(feed, request, ahead, this.#bodies, onEnd));
    if (!this.#isLooking) this.#lookLater();
    return new Response(body, { headers });
  }

  async drain(signal: AbortSignal): Promise<void> {
    const goodbye = (): void => {
      for (const body of this.#bodies) body.sayGoodbye();
    };
    const allEnded = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#bodies.size === 0) resolve();
        else if ([...this.#bodies].every(({ isEndless }) => isEndless)) goodbye();
      };
      this.#onLeft = look;
      look();
    });
    if (signal.aborted) goodbye();
    else signal.addEventListener("abort", goodbye, { once: true });
    await allEnded;
  }

  /** One timer for all. A body that wrote nothing between two looks has been quiet for half of the time, at least. */
  #lookLater(): void {
    this.#isLooking = true;
    const pause = this.#keepAlive / 2;
    const timer = this.#clock.setTimer(() => {
      for (const body of this.#bodies) body.look(STALLED / pause);
      this.#isLooking = false;
      if (this.#bodies.size > 0) this.#lookLater();
    }, pause);
    timer.unref();
  }
}
