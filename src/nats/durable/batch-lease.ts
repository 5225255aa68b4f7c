import type { JsMsg } from "@nats-io/jetstream";
import type { ClockTimer } from "../../index";
import type { Connection } from "../connection";

/** JetStream's word for a message that is still being handled. */
const WORKING = "+WPI";

/**
 * The right to handle a batch: the server gives it to another node once it has heard nothing for `ackWait`. So only a sign of life that the server has answered
 * counts, and from the time at which it left: one that is lost on the way prolongs nothing.
 */
export class BatchLease {
  readonly #connection: Connection;
  readonly #message: JsMsg;
  readonly #ackWait: number;
  #heard: number;
  #asked: number;
  #timer: ClockTimer | undefined;
  readonly #lost = new AbortController();

  constructor(connection: Connection, message: JsMsg, ackWait: number, since: number) {
    this.#connection = connection;
    this.#message = message;
    this.#ackWait = ackWait;
    this.#heard = this.#asked = since;
    this.#beat();
  }

  /** True when this process stood still for too long, such as by SIGSTOP, or the server did not answer for as long. */
  get isLost(): boolean {
    return this.#connection.system.clock.monotonicTime() - this.#heard >= this.#ackWait;
  }

  /** Aborted once the right is lost: a message that still waits here, such as for the owner of its id, must not be handled later. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  end(): void {
    this.#timer?.cancel();
  }

  #beat(): void {
    const { clock } = this.#connection.system;
    const next = Math.min(this.#asked + this.#ackWait / 3, this.#heard + this.#ackWait) - clock.monotonicTime();
    this.#timer = clock.setTimer(
      () => {
        if (this.isLost) {
          this.#lost.abort(new Error("another node may have the durable message by now"));
          return;
        }
        this.#asked = clock.monotonicTime();
        void this.#prolong(this.#asked);
        this.#beat();
      },
      Math.max(0, next),
    );
  }

  async #prolong(asked: number): Promise<void> {
    try {
      const { reply } = this.#message as JsMsg & { readonly reply: string }; // Each has one; the library's type leaves it out.
      await this.#connection.nc.request(reply, WORKING, { timeout: this.#ackWait });
    } catch {
      return; // The next one may be answered.
    }
    if (!this.isLost) this.#heard = asked;
  }
}
