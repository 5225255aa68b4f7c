import { expect } from "bun:test";
import type { Clock } from "../../src/index";
import type { Channel } from "../../src/rpc/index";

/** A message as it came, of which nothing is known. */
export interface Message {
  readonly jsonrpc?: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

/** The other side, which writes what it likes, and keeps what comes. */
export class Raw {
  readonly texts: string[] = [];
  readonly refused: string[] = [];
  isClosed = false;
  cause: Error | undefined;
  readonly channel: Channel;

  constructor(channel: Channel, clock: Clock) {
    this.channel = channel;
    channel.open(
      {
        text: (text) => void this.texts.push(text),
        refused: (why) => void this.refused.push(why),
        ended() {},
        closed: (cause) => {
          expect(this.isClosed).toBe(false);
          this.isClosed = true;
          this.cause = cause;
        },
        drained() {},
      },
      { maxBytes: 1_000_000_000, clock },
    );
  }

  /** Sends texts as they are, and anything else as JSON. */
  say(...messages: readonly unknown[]): void {
    for (const message of messages) {
      this.channel.send(typeof message === "string" ? message : JSON.stringify(message));
    }
  }

  /** Takes what has come since the last call. */
  take(): Message[] {
    return this.texts.splice(0).map((text) => JSON.parse(text));
  }
}

/** A request. */
export const request = (id: unknown, method: string, params?: unknown): object => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params !== undefined && { params }),
});

/** A notification. */
export const notice = (method: string, params?: unknown): object => ({
  jsonrpc: "2.0",
  method,
  ...(params !== undefined && { params }),
});
