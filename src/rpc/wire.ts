import type { Clock, ClockTimer, Logger } from "../index";
import type { Channel, ChannelEvents, ChannelHost, PeerCounts } from "./contract";
import type { Cancelling, Progressing } from "./conventions";

/**
 * Longest pause in milliseconds while too many requests are under way, or while too much is unsent and this side waits for an answer.
 * Answers and cancellations come over the same channel, so a longer pause would hold them up.
 */
const PATIENCE = 1_000;

/** The bounds of a wire. */
export interface WireLimits {
  readonly most: number;
  readonly maxUnsent: number;
  /** Most bytes of a text of this side's own. */
  readonly maxBytes: number;
  readonly stalledAfter: number;
}

/** The parts of a connection that both of its sides share: the sender of requests and the server of them. */
export interface ConnectionParts {
  readonly wire: Wire;
  readonly log: Logger;
  readonly capabilities: ReadonlySet<string>;
  readonly counts: { -readonly [Name in keyof PeerCounts]: PeerCounts[Name] };
  readonly cancelling: Cancelling;
  readonly progressing: Progressing;
  /** True where the trace of a message travels with it. */
  readonly isTraced: boolean;
  readonly maxBytes: number;
  /** Called when a request of either side has begun, and when requests have ended. */
  readonly onChange: () => void;
}

/** The channel of a peer. Closes it when it throws, and pauses it while too many requests are under way or too much is unsent. */
export class Wire {
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #limits: WireLimits;
  readonly #onBroken: (cause: Error) => void;
  #isClosed = false;
  #isPaused = false;
  /** True while too many requests are under way. */
  #isBusy = false;
  /** True once `#isBusy` has lasted for `PATIENCE`, until there is room again. */
  #isImpatient = false;
  /** True while more than `maxUnsent` bytes are unsent. */
  #isFull = false;
  /** True while too many of the unsent bytes are answers to the other side. */
  #isBehind = false;
  /** Unsent bytes up to which messages are read even so. 0 until `#isBehind` has lasted for `PATIENCE`. */
  #bearable = 0;
  #rest: ClockTimer | null = null;
  /** Requests of this side that wait for their answers. */
  #waiting = 0;
  /** Unsent bytes at the last look. */
  #unsent = 0;
  /** Upper bound of the unsent bytes that are this side's own requests and notifications. */
  #own = 0;
  #patience: ClockTimer | null = null;
  #stall: ClockTimer | null = null;
  /** Most that was unsent since the last look whether the other side reads. */
  #mostSeen = 0;

  /** @param onBroken called when the channel has thrown, or takes nothing. */
  constructor(channel: Channel, clock: Clock, limits: WireLimits, onBroken: (cause: Error) => void) {
    this.#channel = channel;
    this.#clock = clock;
    this.#limits = limits;
    this.#onBroken = onBroken;
  }

  /** True while more than `maxUnsent` bytes are unsent. */
  get isFull(): boolean {
    if (this.#isClosed) return false;
    try {
      this.#unsent = this.#channel.unsent;
      if (this.#unsent === 0) this.#own = 0;
      return this.#unsent > this.#limits.maxUnsent;
    } catch (thrown) {
      this.#broke(thrown);
      return false;
    }
  }

  open(events: ChannelEvents, host: ChannelHost): void {
    try {
      this.#channel.open(events, host);
    } catch (thrown) {
      this.#isClosed = true; // The channel is not of this peer, and perhaps of another one.
      this.#broke(thrown);
    }
  }

  /**
   * False when nothing was sent: the channel is closed.
   *
   * @param isOwn true for a request or a notification of this side, sent after a look at `isFull`.
   */
  say(text: string, isOwn = false): boolean {
    if (this.#isClosed) return false;
    try {
      const isSent = this.#channel.send(text);
      if (this.#isClosed) return isSent;
      const { unsent } = this.#channel;
      if (isOwn && unsent > this.#unsent) this.#own += unsent - this.#unsent;
      if (unsent > this.#limits.maxUnsent) this.#fill(unsent);
      return isSent;
    } catch (thrown) {
      this.#broke(thrown);
      return false;
    }
  }

  /**
   * Pauses the channel, or lets it go on.
   *
   * @param serving requests of the other side that are under way.
   * @param waiting requests of this side that wait for their answers.
   */
  update(serving: number, waiting: number): void {
    if (this.#isClosed) return;
    const { most } = this.#limits;
    this.#waiting = waiting;
    if (this.#isFull) {
      this.#setFull(this.isFull);
      this.#setBehind(this.#unsent);
    }
    if (serving < most) this.#isImpatient = false;
    // A paused channel resumes once half of the requests have ended.
    const limit = this.#isBusy ? most / 2 : most - 1;
    const isBusy = serving > limit && waiting === 0 && !this.#isImpatient;
    if (isBusy !== this.#isBusy) this.#setBusy(isBusy, serving, waiting);
    if (this.#mayRead === this.#isPaused) this.#setPaused();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stall?.cancel();
    this.#patience?.cancel();
    this.#rest?.cancel();
    try {
      this.#channel.close();
    } catch {} // Its peer ends it in any case.
  }

  /**
   * True while messages are read although the other side reads no answers: it may be waiting for this side to read. Its requests are
   * refused meanwhile.
   */
  get isReluctant(): boolean {
    return this.#bearable > 0;
  }

  get #mayRead(): boolean {
    if (this.#isBusy) return false;
    return !this.#isBehind || (this.#waiting > 0 && this.#unsent <= this.#bearable);
  }

  /**
   * Unsent bytes beyond which nothing more is read. This side's own requests and notifications do not count: they are refused while the
   * channel is full. If they counted, two sides that ask much at once would both stop reading, and wait for each other.
   */
  get #mostUnsent(): number {
    const { maxUnsent, maxBytes } = this.#limits;
    return maxUnsent + Math.min(this.#own, maxUnsent + maxBytes);
  }

  /** Handles a channel with more than `maxUnsent` unsent bytes. */
  #fill(unsent: number): void {
    this.#setFull(true);
    if (unsent > this.#mostSeen) this.#mostSeen = unsent;
    this.#setBehind(unsent);
    this.#setPaused();
  }

  #setBehind(unsent: number): void {
    this.#unsent = unsent;
    const isBehind = unsent > this.#mostUnsent;
    if (isBehind === this.#isBehind) return;
    this.#isBehind = isBehind;
    this.#bearable = 0;
    this.#rest?.cancel();
    this.#rest = null;
    if (!isBehind) return;
    this.#rest = this.#clock.setTimer(() => {
      this.#bearable = this.#unsent + this.#limits.maxUnsent; // Refusals are short.
      this.#setPaused();
    }, PATIENCE);
    this.#rest.unref();
  }

  #setPaused(): void {
    const isPaused = !this.#mayRead;
    if (isPaused === this.#isPaused || this.#isClosed) return;
    this.#isPaused = isPaused;
    this.#guard(() => (isPaused ? this.#channel.pause() : this.#channel.resume()));
  }

  #setFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#stall?.cancel();
    this.#stall = null;
    this.#mostSeen = 0;
    if (isFull) this.#watch();
  }

  /** Closes the channel unless it takes something in time. One that takes it slowly stays. */
  #watch(): void {
    const { stalledAfter } = this.#limits;
    if (stalledAfter === Number.POSITIVE_INFINITY) return;
    this.#stall = this.#clock.setTimer(() => {
      this.#guard(() => {
        const { unsent } = this.#channel;
        if (unsent >= this.#mostSeen) throw new Error(`The other side has read nothing for ${stalledAfter} ms.`);
        this.#mostSeen = unsent;
        this.#watch();
      });
    }, stalledAfter);
    this.#stall.unref();
  }

  #setBusy(isBusy: boolean, serving: number, waiting: number): void {
    this.#isBusy = isBusy;
    this.#patience?.cancel();
    this.#patience = null;
    if (!isBusy) return;
    this.#patience = this.#clock.setTimer(() => {
      this.#isImpatient = true;
      this.update(serving, waiting); // The counts are still right: with fewer requests it would not be busy.
    }, PATIENCE);
    this.#patience.unref();
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (thrown) {
      this.#broke(thrown);
    }
  }

  #broke(thrown: unknown): void {
    const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#onBroken(cause); // First: the end of the channel has no cause.
    this.close();
  }
}
