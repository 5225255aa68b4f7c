import type { ClockTimer } from "../../index";
import type { Channel, ChannelEvents, ChannelHost } from "../contract";
import { fits, Intake, NOT_TEXT, tooLong } from "./intake";

/** Milliseconds between two looks at a WebSocket's unsent bytes. It has no event for them. */
const LOOK = 20;
/** Texts of the greatest length that may wait while the channel is paused. */
const MOST_HELD = 4;

/** Codes of WebSocket (RFC 6455). */
const NORMAL = 1000;
const POLICY = 1008;
const CONNECTING = 0;
const OPEN = 1;

/** The part of a `WebSocket` that a channel needs. `pause` and `resume` are Bun's. */
export interface ClientSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  pause?(): void;
  resume?(): void;
}

/** The incoming texts of a WebSocket, at either of its ends. */
class Incoming {
  readonly #intake: Intake;
  readonly #maxBytes: number;
  readonly #onTooMuch: () => void;

  constructor(events: ChannelEvents, { clock, maxBytes }: ChannelHost, onTooMuch: () => void) {
    this.#intake = new Intake(events, clock);
    this.#maxBytes = maxBytes;
    this.#onTooMuch = onTooMuch;
  }

  take(data: unknown): void {
    if (typeof data !== "string") this.#intake.take(NOT_TEXT);
    else this.#intake.take(fits(data, this.#maxBytes) ? data : tooLong(data));
    if (this.#intake.load > MOST_HELD * this.#maxBytes) this.#onTooMuch();
  }

  pause(): void {
    this.#intake.pause();
  }

  resume(): void {
    this.#intake.resume();
  }

  close(): void {
    this.#intake.close();
  }
}

const TOO_MUCH = "More came than may wait: send slower.";

/** The error of a close; undefined for one that is normal. */
const errorOf = (code: number, reason: string): Error | undefined =>
  code === NORMAL || code === 1001 || code === 1005
    ? undefined
    : new Error(`The socket was closed with code ${code}${reason === "" ? "" : `: ${reason}`}`);

class SocketChannel implements Channel {
  readonly #socket: ClientSocket;
  #events: ChannelEvents | null = null;
  #host: ChannelHost | null = null;
  #incoming: Incoming | null = null;
  /** Texts that were sent before the socket was open. */
  #early: string[] = [];
  #earlyBytes = 0;
  #timer: ClockTimer | null = null;
  #isClosed = false;

  constructor(socket: ClientSocket) {
    this.#socket = socket;
  }

  get unsent(): number {
    return this.#earlyBytes + this.#socket.bufferedAmount;
  }

  open(events: ChannelEvents, host: ChannelHost): void {
    if (this.#host !== null) throw new Error("This channel belongs to a peer already: make one for each.");
    this.#events = events;
    this.#host = host;
    const incoming = new Incoming(events, host, () => this.#close(POLICY, new Error(TOO_MUCH)));
    this.#incoming = incoming;
    if (this.#isClosed || this.#socket.readyState > OPEN) {
      host.clock.microtask(() => this.#closed(new Error("The socket was closed before.")));
      return;
    }
    this.#socket.addEventListener("message", ({ data }) => this.#isClosed || incoming.take(data));
    this.#socket.addEventListener("open", () => this.#opened());
    this.#socket.addEventListener("close", ({ code, reason }) => this.#closed(errorOf(code, reason)));
  }

  send(text: string): boolean {
    const socket = this.#socket;
    if (this.#isClosed || socket.readyState > OPEN) return false;
    if (socket.readyState === CONNECTING) {
      this.#early.push(text);
      this.#earlyBytes += Buffer.byteLength(text);
      return true;
    }
    socket.send(text);
    if (socket.bufferedAmount > 0) this.#look();
    return true;
  }

  pause(): void {
    this.#incoming?.pause();
    this.#socket.pause?.();
  }

  resume(): void {
    this.#socket.resume?.();
    this.#incoming?.resume();
  }

  close(): void {
    this.#close(NORMAL, undefined);
  }

  #close(code: number, cause: Error | undefined): void {
    if (this.#isClosed) return;
    this.#socket.close(code, cause?.message);
    this.#closed(cause);
  }

  #closed(cause: Error | undefined): void {
    if (this.#isClosed && this.#events === null) return;
    const events = this.#events;
    this.#isClosed = true;
    this.#events = null;
    this.#incoming?.close();
    this.#timer?.cancel();
    this.#early = [];
    this.#earlyBytes = 0;
    events?.closed(cause);
  }

  #opened(): void {
    const early = this.#early;
    this.#early = [];
    this.#earlyBytes = 0;
    for (const text of early) this.#socket.send(text);
    if (this.#socket.bufferedAmount > 0) this.#look();
    else this.#events?.drained();
  }

  /** Looks from time to time whether all has been sent. */
  #look(): void {
    if (this.#timer !== null || this.#host === null) return;
    this.#timer = this.#host.clock.setTimer(() => {
      this.#timer = null;
      if (this.#socket.bufferedAmount > 0) this.#look();
      else this.#events?.drained();
    }, LOOK);
    this.#timer.unref();
  }
}

/**
 * A WebSocket, as a client has it: each text is one message. It may still be connecting.
 *
 * @example
 * const peer = createPeer(system, socketChannel(new WebSocket("wss://example.com/rpc")), options);
 */
export const socketChannel = (socket: ClientSocket): Channel => new SocketChannel(socket);

/** The part of a `ServerWebSocket` of Bun that a channel needs. */
export interface ServerSocket {
  send(text: string): number;
  getBufferedAmount(): number;
  close(code?: number, reason?: string): void;
}

/** A channel whose owner calls it from the handlers of a server. */
export interface ServerSocketChannel extends Channel {
  /** For `message`. */
  message(data: unknown): void;
  /** For `drain`. */
  drain(): void;
  /** For `close`. */
  ended(code: number, reason: string): void;
}

class ServerChannel implements ServerSocketChannel {
  readonly #socket: ServerSocket;
  #events: ChannelEvents | null = null;
  #incoming: Incoming | null = null;
  #isClosed = false;

  constructor(socket: ServerSocket) {
    this.#socket = socket;
  }

  get unsent(): number {
    return this.#isClosed ? 0 : this.#socket.getBufferedAmount();
  }

  open(events: ChannelEvents, host: ChannelHost): void {
    if (this.#incoming !== null) throw new Error("This channel belongs to a peer already: make one for each.");
    this.#incoming = new Incoming(events, host, () => this.#close(POLICY, new Error(TOO_MUCH)));
    this.#events = events;
    if (this.#isClosed) host.clock.microtask(() => this.#closed(new Error("The socket was closed before.")));
  }

  message(data: unknown): void {
    if (!this.#isClosed) this.#incoming?.take(data);
  }

  drain(): void {
    if (!this.#isClosed && this.#socket.getBufferedAmount() === 0) this.#events?.drained();
  }

  ended(code: number, reason: string): void {
    this.#closed(errorOf(code, reason));
  }

  /** Ends the connection when Bun has dropped a text (it returns 0), because its limit is below that of the peer. No loss goes unnoticed. */
  send(text: string): boolean {
    if (this.#isClosed) return false;
    if (this.#socket.send(text) !== 0) return true;
    this.#close(POLICY, new Error("The other side reads too slowly: a text was dropped."));
    return false;
  }

  pause(): void {
    this.#incoming?.pause();
  }

  resume(): void {
    this.#incoming?.resume();
  }

  close(): void {
    this.#close(NORMAL, undefined);
  }

  #close(code: number, cause: Error | undefined): void {
    if (this.#isClosed) return;
    this.#socket.close(code, cause?.message);
    this.#closed(cause);
  }

  #closed(cause: Error | undefined): void {
    const events = this.#events;
    this.#isClosed = true;
    this.#events = null;
    this.#incoming?.close();
    events?.closed(cause);
  }
}

/**
 * A WebSocket of `Bun.serve`: make the channel and its peer in `open`, and pass on to it what the other handlers get. Bun cannot pause such
 * a socket: while the peer does, a few texts wait, and more than that ends the connection.
 *
 * @example
 * websocket: {
 *   open(socket) {
 *     socket.data = serverSocketChannel(socket);
 *     createPeer(system, socket.data, options);
 *   },
 *   message: (socket, text) => socket.data.message(text),
 *   drain: (socket) => socket.data.drain(),
 *   close: (socket, code, reason) => socket.data.ended(code, reason),
 * }
 */
export const serverSocketChannel = (socket: ServerSocket): ServerSocketChannel => new ServerChannel(socket);
