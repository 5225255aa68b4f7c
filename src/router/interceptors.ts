import { err, ok, type Result } from "neverthrow";
import type { ActorEnvironment } from "../actor/cell/cell";
import type { Audit } from "../actor/contract";
import type { AskResult } from "../actor/envelopes/ask";
import {
  type AskOptions,
  checkAskOptions,
  checkOfferOptions,
  type OfferOptions,
  type StreamOptions,
} from "../actor/envelopes/call-options";
import { PendingStream } from "../actor/envelopes/stream";
import type { ActorStream } from "../actor/refs/stream-reader";
import { type Address, quote } from "../message/address";
import type { DeliveryError } from "../message/delivery-error";
import { inPattern, type Message, type Metadata, type Pattern } from "../message/message";
import type { Runnable } from "../runtime/dispatcher";
import { Mailbox } from "../runtime/mailbox";
import { InterceptedStream } from "./intercepted-stream";
import type { Interceptor } from "./interceptor";
import { type Delivery, type Outcome, Transit } from "./transit";

/** The destination of messages that have passed the interceptors. */
interface Directory {
  put(message: Message): DeliveryError | null;
  offer(message: Message, options: OfferOptions): Promise<Result<void, DeliveryError>>;
  ask(message: Message, options: AskOptions): Promise<AskResult>;
  open(message: Message, options: StreamOptions): PendingStream | DeliveryError;
}

const TAKEN: Promise<Outcome> = Promise.resolve(ok(undefined));

/** The interceptors of a router, and the messages in them. */
export class Interceptors {
  readonly #environment: ActorEnvironment;
  readonly #directory: Directory;
  readonly #whenUnused: () => void;
  #chain: readonly Interceptor[] = [];
  /** A lane for each address that has a message in an interceptor, or waiting behind one. */
  readonly #lanes = new Map<Address, Lane>();
  /** The message whose interceptors are being called now, on this stack. */
  #entering: Transit | null = null;
  readonly #put: Delivery;

  constructor(environment: ActorEnvironment, directory: Directory, whenUnused: () => void) {
    this.#environment = environment;
    this.#directory = directory;
    this.#whenUnused = whenUnused;
    this.#put = (message) => {
      const error = directory.put(message);
      return error === null ? TAKEN : Promise.resolve(err(error));
    };
  }

  use(interceptor: Interceptor): () => void {
    if (typeof interceptor !== "function") {
      const example = "router.use((message, next) => next())";
      throw new TypeError(`An interceptor is a function, as in ${example}; got ${quote(interceptor)}.`);
    }
    const own: Interceptor = (message, next) => interceptor(message, next); // The same function may be in use twice.
    this.#chain = [...this.#chain, own];
    return () => {
      if (!this.#chain.includes(own)) return;
      this.#chain = this.#chain.filter((other) => other !== own);
      this.#lookWhetherUsed();
    };
  }

  /** They are unused once all messages have left them: those inside keep their order. */
  #lookWhetherUsed(): void {
    if (this.#chain.length === 0 && this.#lanes.size === 0 && this.#entering === null) this.#whenUnused();
  }

  // ——— Sending

  tell(message: Message): void {
    this.#begin(message, "tell", this.#environment.askTimeout, undefined, this.#put, null);
  }

  offer(message: Message, options: OfferOptions): Promise<Result<void, DeliveryError>> {
    checkOfferOptions(options);
    const { timeout = this.#environment.askTimeout, metadata, ...others } = options;
    const deliver: Delivery = (sent, left) => this.#directory.offer(sent, { ...others, timeout: left });
    return new Promise((resolve) => {
      const tell = (outcome: Outcome): void => resolve(outcome.map(() => undefined));
      this.#begin(carrying(message, metadata), "tell", timeout, others.signal, deliver, tell);
    });
  }

  ask(message: Message, options: AskOptions = {}): Promise<AskResult> {
    checkAskOptions(options);
    const { timeout = this.#environment.askTimeout, metadata, ...others } = options;
    const sent = carrying(message, metadata);
    const deliver: Delivery = (passed, left) => this.#directory.ask(passed, { ...others, timeout: left });
    return new Promise((resolve) => this.#begin(sent, "ask", timeout, others.signal, deliver, resolve));
  }

  stream(message: Message, options: StreamOptions): ActorStream<unknown> {
    const { metadata, ...others } = options;
    const { timeout = this.#environment.askTimeout, signal } = others;
    const sent = carrying(message, metadata);
    return new InterceptedStream(sent, this.#environment, (hold, resolve) => {
      const deliver: Delivery = (passed) => {
        const opened = this.#directory.open(passed, others);
        const error = opened instanceof PendingStream ? opened.failure : opened;
        if (error !== null) return Promise.resolve(err(error));
        return Promise.resolve(ok(hold(opened as PendingStream))); // Errors were returned above.
      };
      return this.#begin(sent, "stream", timeout, signal, deliver, resolve);
    });
  }

  #begin(
    message: Message,
    pattern: Pattern,
    delay: number,
    signal: AbortSignal | undefined,
    deliver: Delivery,
    resolve: ((outcome: Outcome) => void) | null,
  ): Transit {
    const { to } = message; // Comes first: a message that cannot be read throws here, before it is counted.
    void message.type;
    const transit = new Transit(this.#environment, inPattern(message, pattern), delay, deliver, resolve);
    if (signal !== undefined) transit.listenTo(signal);
    if (transit.failure !== null) return transit; // The signal was aborted already.
    this.#environment.counts.accepted++;
    const lane = this.#lanes.get(to);
    if (lane !== undefined) lane.put(transit);
    else if (this.#entering !== null)
      this.#laneTo(to).put(transit); // An interceptor is the sender: do not run on its stack.
    else this.#enter(transit);
    transit.startTimer();
    return transit;
  }

  #enter(transit: Transit): void {
    this.#entering = transit;
    transit.enter(this.#chain);
    this.#entering = null;
    if (!transit.hasLeft) this.#laneTo(transit.message.to).hold(transit);
  }

  #laneTo(to: Address): Lane {
    const found = this.#lanes.get(to);
    if (found !== undefined) return found;
    const lane = new Lane(
      this.#environment,
      (transit) => this.#enter(transit),
      () => {
        this.#lanes.delete(to);
        this.#lookWhetherUsed();
      },
    );
    this.#lanes.set(to, lane);
    return lane;
  }

  // ——— Messages inside

  audit(counted: Audit): Audit {
    let { queued, running } = counted;
    if (this.#entering?.hasLeft === false) running++;
    for (const lane of this.#lanes.values()) {
      queued += [...lane.waiting].length;
      if (lane.current !== null) running++;
    }
    return { ...counted, queued, running };
  }

  close(): void {
    for (const lane of [...this.#lanes.values()]) lane.close();
  }
}

/** The message with the metadata of the call, so that interceptors see them. */
const carrying = (message: Message, metadata: Metadata | undefined): Message =>
  metadata === undefined ? message : { ...message, metadata: Object.freeze({ ...message.metadata, ...metadata }) };

/** The queue of one address: its messages wait while one of them is in the interceptors. */
class Lane implements Runnable {
  nextReady: Runnable | null = null;
  current: Transit | null = null;
  readonly waiting = new Mailbox<Transit>();
  readonly #environment: ActorEnvironment;
  readonly #enter: (transit: Transit) => void;
  readonly #whenEmpty: () => void;
  #isScheduled = false;

  constructor(environment: ActorEnvironment, enter: (transit: Transit) => void, whenEmpty: () => void) {
    this.#environment = environment;
    this.#enter = enter;
    this.#whenEmpty = whenEmpty;
  }

  put(transit: Transit): void {
    this.waiting.put(transit);
    this.#goOn();
  }

  /** Keeps the others back until a message has left. */
  hold(transit: Transit): void {
    this.current = transit;
    transit.whenLeft = () => {
      this.current = null;
      this.#goOn();
    };
  }

  run(limit: number): number {
    this.#isScheduled = false;
    let count = 0;
    while (count < limit && this.current === null) {
      const transit = this.waiting.take();
      if (transit === null) break;
      this.#enter(transit);
      count++;
    }
    this.#goOn();
    return count;
  }

  #goOn(): void {
    if (this.current !== null || this.#isScheduled) return;
    if (this.waiting.isEmpty) {
      this.#whenEmpty();
      return;
    }
    this.#isScheduled = true;
    this.#environment.dispatcher.schedule(this);
  }

  close(): void {
    this.current?.stop();
    for (let transit = this.waiting.take(); transit !== null; transit = this.waiting.take()) transit.stop();
  }
}
