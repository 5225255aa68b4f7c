import type { Channel, ChannelEvents, ChannelHost } from "../contract";
import { fits, Intake, NOT_TEXT, tooLong } from "./intake";

/** The part of a `MessagePort`, or of a `Worker`, that a channel needs. */
export interface Port {
  postMessage(text: string): void;
  addEventListener(
    type: "message" | "messageerror" | "close",
    listener: (event: { readonly data?: unknown }) => void,
  ): void;
  start?(): void;
  /** Of a port. */
  close?(): void;
  /** Of a worker. */
  terminate?(): void;
}

/** Texts of the greatest length that may wait while the channel is paused. A port itself cannot be paused. */
const MOST_HELD = 4;

class PortChannel implements Channel {
  /** A port does not tell what the other side has taken. */
  readonly unsent = 0;
  readonly #port: Port;
  #events: ChannelEvents | null = null;
  #intake: Intake | null = null;
  #isClosed = false;

  constructor(port: Port) {
    this.#port = port;
  }

  open(events: ChannelEvents, { clock, maxBytes }: ChannelHost): void {
    if (this.#intake !== null) throw new Error("This channel belongs to a peer already: make one for each.");
    this.#events = events;
    const intake = new Intake(events, clock);
    this.#intake = intake;
    if (this.#isClosed) {
      clock.microtask(() => events.closed());
      return;
    }
    this.#port.addEventListener("message", ({ data }) => {
      if (this.#isClosed) return;
      if (typeof data !== "string") intake.take(NOT_TEXT);
      else intake.take(fits(data, maxBytes) ? data : tooLong(data));
      if (intake.load > MOST_HELD * maxBytes) this.#close(new Error("More came than may wait: send slower."));
    });
    this.#port.addEventListener("messageerror", () => intake.take(NOT_TEXT));
    this.#port.addEventListener("close", () => this.#close(undefined));
    this.#port.start?.();
  }

  send(text: string): boolean {
    if (this.#isClosed) return false;
    this.#port.postMessage(text);
    return true;
  }

  pause(): void {
    this.#intake?.pause();
  }

  resume(): void {
    this.#intake?.resume();
  }

  close(): void {
    this.#close(undefined);
  }

  #close(cause: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#intake?.close();
    if (this.#port.close === undefined) this.#port.terminate?.();
    else this.#port.close();
    this.#events?.closed(cause);
  }
}

/**
 * A message port, or a worker: each text is one message. To close it closes the port, and ends the worker.
 *
 * @example
 * const { port1, port2 } = new MessageChannel();
 * const peer = createPeer(system, portChannel(port1), options);
 * worker.postMessage({ port: port2 }, [port2]);
 */
export const portChannel = (port: Port): Channel => new PortChannel(port);
