import type { ServerWebSocket } from "bun";
import type { Clock } from "../../index";

/** Characters that are sent at once, and not at the end of the turn: a longer text would only cost memory. */
const LONG = 65_536;

/** True for a text of so many bytes at most. */
export const fits = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes; // A UTF-16 unit has at most three bytes.

/** The output of a socket: the frames of a turn as one text, within a bound. */
export class Output {
  readonly #socket: ServerWebSocket<unknown>;
  readonly #clock: Clock;
  readonly #most: number;
  readonly #onTooMuch: () => void;
  /** The frames of this turn; empty for none. */
  #text = "";
  #isFull = false;
  #isClosed = false;
  #untilRoom: PromiseWithResolvers<void> | null = null;

  /**
   * @param most most bytes that may wait for a peer that reads slowly.
   * @param onTooMuch called when more than that would wait.
   */
  constructor(socket: ServerWebSocket<unknown>, clock: Clock, most: number, onTooMuch: () => void) {
    this.#socket = socket;
    this.#clock = clock;
    this.#most = most;
    this.#onTooMuch = onTooMuch;
  }

  /** True while the peer does not read: the network takes no more. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Resolves once the peer has read. Undefined when there is room. */
  get room(): Promise<void> | undefined {
    if (!this.#isFull || this.#isClosed) return undefined;
    this.#untilRoom ??= Promise.withResolvers();
    return this.#untilRoom.promise;
  }

  /** Sends a frame with what else leaves in this turn. */
  say(frame: string): void {
    if (this.#isClosed) return;
    if (this.#text === "") {
      this.#text = `[${frame}`;
      if (frame.length < LONG) this.#clock.microtask(this.flush);
    } else this.#text += `,${frame}`;
    if (this.#text.length >= LONG) this.flush();
  }

  /** Sends a frame at once, with what was to leave in this turn: for a frame after which no other one is due. */
  sayLast(frame: string): void {
    if (this.#isClosed) return;
    this.#text = this.#text === "" ? `[${frame}` : `${this.#text},${frame}`;
    this.flush();
  }

  /** Sends what has been said. */
  readonly flush = (): void => {
    if (this.#text === "" || this.#isClosed) return;
    const text = `${this.#text}]`;
    this.#text = "";
    if (this.#isFull && this.#socket.getBufferedAmount() + Buffer.byteLength(text) > this.#most) {
      this.#onTooMuch();
      return;
    }
    const sent = this.#socket.send(text);
    if (sent === -1) this.#isFull = true;
    else if (sent === 0) this.#onTooMuch(); // It was dropped.
  };

  /** The network takes more again. */
  drained(): void {
    if (this.#socket.getBufferedAmount() > 0) return;
    this.#isFull = false;
    this.#untilRoom?.resolve();
    this.#untilRoom = null;
  }

  /** The socket has ended. Nothing is sent any more, and nobody waits. */
  close(): void {
    this.#isClosed = true;
    this.#text = "";
    this.#untilRoom?.resolve();
    this.#untilRoom = null;
  }
}
