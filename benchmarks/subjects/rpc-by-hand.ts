import { createSystem, type System } from "envoi";
import type { Channel, ChannelEvents } from "envoi/rpc";

// The other side of a peer, without a pipe: the benchmarks of JSON-RPC and of ACP measure the peer alone.

/** A channel whose texts are given and taken by hand. */
export class ByHand implements Channel {
  readonly unsent = 0;
  readonly #onSend: (text: string) => void;
  events: ChannelEvents | null = null;

  constructor(onSend: (text: string) => void) {
    this.#onSend = onSend;
  }

  open(events: ChannelEvents): void {
    this.events = events;
  }
  send(text: string): boolean {
    this.#onSend(text);
    return true;
  }
  pause(): void {}
  resume(): void {}
  close(): void {}
}

/** A system that logs nothing. */
export const quiet = (): System => createSystem({ logger: { warn() {}, error() {} } });
