import type { Outgoing, Transport } from "../../src/index";

/** A transport that keeps what it is handed, for a test that is the other side itself. */
export class Wire implements Transport {
  readonly sent: Outgoing[] = [];
  readonly cancelled: Outgoing[] = [];
  /** The credit granted so far, by the id of the stream. */
  readonly granted = new Map<string, number>();
  closed = 0;
  /** Answers each message at once, where it is set. */
  answer: ((out: Outgoing) => void) | null = null;

  send(out: Outgoing): void {
    this.sent.push(out);
    this.answer?.(out);
  }
  cancel(out: Outgoing): void {
    this.cancelled.push(out);
  }
  credit(out: Outgoing, count: number): void {
    this.granted.set(out.id, (this.granted.get(out.id) ?? 0) + count);
  }
  close(): void {
    this.closed++;
  }

  /** The message that was sent last. */
  get last(): Outgoing {
    const out = this.sent.at(-1);
    if (out === undefined) throw new Error("Nothing was sent.");
    return out;
  }
}
