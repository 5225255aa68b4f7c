import { captureContext, type Enter } from "../../runtime/contexts";
import type { Cell } from "../cell/cell";
import type { Envelope } from "../contract";
import { PendingStream } from "../envelopes/stream";
import { Observation, outcomeIn } from "../life/observation";
import type { Chain } from "../observers";
import type { Outgoing, Transport } from "../transport";

// Observers see the messages that transports carry.

/** A message that is handed to its transport, and the observers around that. */
export class Relaying extends Observation {
  /** True once the transport was called: what is thrown before is an observer's. */
  isHandedOver = false;
  readonly #out: Outgoing;
  readonly #transport: Transport;
  /** The context that the observers gave the transport. Set for streams: their items come in it. */
  #inside: Enter | null = null;

  constructor(cell: Cell, envelope: Envelope, chain: Chain, out: Outgoing, transport: Transport) {
    super(cell, envelope, chain);
    this.#out = out;
    this.#transport = transport;
  }

  override get kind(): "relay" {
    return "relay";
  }

  /** The payload as the transport gets it. */
  override get payload(): unknown {
    return this.#out.payload;
  }

  /** Calls the observers, and inside of them the transport. Returns what the transport returned, or throws what was thrown. */
  begin(): unknown {
    const { observers } = this.cell.environment;
    this.call(observers);
    return outcomeIn(observers);
  }

  override produce(): unknown {
    this.isHandedOver = true;
    if (this.envelope instanceof PendingStream) this.#inside = captureContext();
    return this.#transport.send(this.#out);
  }

  /** Runs something in the context that the observers gave the transport. */
  inside(run: () => void): void {
    (this.#inside ?? this.cell.environment.enter)(run);
  }
}

/** An item that a transport hands to the reader of a stream. */
class RelayedItem extends Observation {
  readonly #stream: PendingStream;
  readonly #item: unknown;

  constructor(cell: Cell, stream: PendingStream, chain: Chain, item: unknown) {
    super(cell, stream, chain);
    this.#stream = stream;
    this.#item = item;
  }

  override get kind(): "pull" {
    return "pull";
  }

  override produce(): unknown {
    this.#stream.push(this.#item);
    return { value: this.#item, done: false };
  }
}

/** Hands an item to the reader of a stream, inside of the observers where there are any. */
export function pushItem(cell: Cell, stream: PendingStream, relaying: Relaying | null, item: unknown): void {
  const { observers, enter } = cell.environment;
  const { chain } = observers;
  if (chain === null) {
    stream.push(item);
    return;
  }
  const push = (): void => {
    const observation = new RelayedItem(cell, stream, chain, item);
    observation.call(observers);
    try {
      observation.end({ kind: "handled", result: outcomeIn(observers) });
    } catch (thrown) {
      observation.end({ kind: "failed", error: thrown });
      throw thrown;
    }
  };
  if (relaying === null) enter(push);
  else relaying.inside(push);
}
