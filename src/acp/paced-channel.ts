import type { Clock } from "../index";
import type { Channel, ChannelEvents, ChannelHost } from "../rpc/index";

/** Unsent bytes up to which turns do not wait. */
const EASY = 262_144;
/** Milliseconds between two looks at a channel that does not tell when it is empty. */
const LOOK = 20;

/** A channel that tells when it has room, so that a turn is no faster than its reader (P12). */
export class PacedChannel implements Channel {
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #most: number;
  #waiting: (() => void)[] = [];
  #isClosed = false;
  #sent = 0;

  /** @param maxUnsent bytes beyond which nothing can be sent at all. */
  constructor(channel: Channel, clock: Clock, maxUnsent = EASY) {
    this.#channel = channel;
    this.#clock = clock;
    this.#most = Math.min(EASY, maxUnsent);
  }

  get unsent(): number {
    return this.#channel.unsent;
  }

  /** Texts that were sent. */
  get sent(): number {
    return this.#sent;
  }

  send(text: string): boolean {
    this.#sent++;
    return this.#channel.send(text);
  }

  open(events: ChannelEvents, host: ChannelHost): void {
    const heard: ChannelEvents = {
      text: (text) => events.text(text),
      refused: (why, head) => events.refused(why, head),
      ended: () => events.ended(),
      drained: () => {
        events.drained();
        this.#go();
      },
      closed: (cause) => {
        this.#isClosed = true;
        events.closed(cause);
        this.#go();
      },
    };
    this.#channel.open(heard, host);
  }

  pause(): void {
    this.#channel.pause();
  }

  resume(): void {
    this.#channel.resume();
  }

  close(): void {
    this.#channel.close();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Undefined while there is room; else a promise that resolves once there is, or once the channel has closed. */
  get room(): Promise<void> | undefined {
    return this.#isFull ? this.#untilRoom() : undefined;
  }

  get #isFull(): boolean {
    return !this.#isClosed && this.#channel.unsent > this.#most;
  }

  async #untilRoom(): Promise<void> {
    while (this.#isFull) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.setTimer(resolve, LOOK);
        this.#waiting.push(() => {
          timer.cancel();
          resolve();
        });
      });
    }
  }

  #go(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
