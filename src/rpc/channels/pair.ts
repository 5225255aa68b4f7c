import type { Channel, ChannelEvents, ChannelHost } from "../contract";
import { fits, Intake, tooLong } from "./intake";

/** One end of a pair. */
class PairEnd implements Channel {
  other: PairEnd | null = null;
  #events: ChannelEvents | null = null;
  #host: ChannelHost | null = null;
  #intake: Intake | null = null;
  /** Texts that came, and are handed on once the turn of their sender is over. */
  #arrived: string[] = [];
  #arrivedLength = 0;
  #isPaused = false;
  /** True once the other end has closed. */
  #isLeft = false;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Characters that the other end has not taken. */
  get unsent(): number {
    return this.other?.held ?? 0;
  }

  get held(): number {
    return this.#arrivedLength + (this.#intake?.held ?? 0);
  }

  open(events: ChannelEvents, host: ChannelHost): void {
    if (this.#host !== null)
      throw new Error("This channel belongs to a peer already: make a pair for each connection.");
    this.#events = events;
    this.#host = host;
    this.#intake = new Intake(events, host.clock, () => this.#emptied());
    if (this.#isPaused) this.#intake.pause();
    if (this.#isClosed) host.clock.microtask(() => events.closed());
    else host.clock.microtask(this.#deliver); // Delivers the earlier frames.
  }

  send(text: string): boolean {
    if (this.#isClosed || this.other === null || this.other.isClosed) return false;
    this.other.arrive(text);
    return true;
  }

  pause(): void {
    this.#isPaused = true;
    this.#intake?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#intake?.resume();
  }

  /** Closes this end. Texts that were sent before are still handed on at the other end. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#arrived = [];
    this.#arrivedLength = 0;
    this.#intake?.close();
    this.other?.leave();
    this.#events?.closed();
  }

  /** A text comes from the other end. */
  arrive(text: string): void {
    if (this.#isClosed) return;
    this.#arrivedLength += text.length;
    if (this.#arrived.push(text) === 1) this.#host?.clock.microtask(this.#deliver);
  }

  /** The other end has closed. What it sent before is handed on first. */
  leave(): void {
    this.#isLeft = true;
    this.#host?.clock.microtask(this.#deliver);
  }

  /** The other end has taken all. */
  told(): void {
    if (!this.#isClosed && this.unsent === 0) this.#events?.drained();
  }

  readonly #deliver = (): void => {
    const texts = this.#arrived;
    this.#arrived = [];
    this.#arrivedLength = 0;
    const maxBytes = this.#host?.maxBytes ?? 0;
    const [first] = texts;
    if (texts.length === 1 && first !== undefined) this.#intake?.take(fits(first, maxBytes) ? first : tooLong(first));
    else this.#intake?.takeAll(texts.map((text) => (fits(text, maxBytes) ? text : tooLong(text))));
  };

  #emptied(): void {
    if (this.#arrived.length > 0) return;
    this.other?.told();
    if (this.#isLeft) this.close();
  }
}

/**
 * Two channels in memory: each text sent into one comes out of the other, after the turn of its sender. For two parts of one process, and
 * for tests.
 *
 * @example
 * const [here, there] = channelPair();
 * const client = createPeer(system, here, { calls: { server: { protocol: Server, methods: { add: "add" } } } });
 * const server = createPeer(system, there, { serves: { add: { ref: adder, operation: "add" } } });
 */
export function channelPair(): [Channel, Channel] {
  const [one, another] = [new PairEnd(), new PairEnd()];
  one.other = another;
  another.other = one;
  return [one, another];
}
