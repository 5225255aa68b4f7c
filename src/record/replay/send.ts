import {
  type Address,
  type AnyRef,
  type AskResult,
  defineProtocol,
  isAddress,
  type Metadata,
  operationsOf,
  receive,
  type System,
  Type,
} from "../../index";
import type { Codec } from "./codec";
import { isNode } from "./json";
import type { Sent } from "./sent";

/** The methods of a reference, by names that are known at run time alone. */
interface Untyped {
  tell(operation: string, ...args: readonly unknown[]): void;
  ask(operation: string, ...args: readonly unknown[]): Promise<AskResult>;
  stream(operation: string, ...args: readonly unknown[]): AsyncIterable<unknown>;
}

/** Most items that are read of a stream beyond those that were recorded. */
const MOST_EXTRA = 100;
const signalOf = ({ canceller }: Sent) => (canceller === undefined ? {} : { signal: canceller.signal });
const NEVER = new Promise<never>(() => {});

/** Sends recorded messages to a system, by address. */
export class Sender {
  readonly #system: System;
  readonly #codec: Codec;
  readonly #refs = new Map<string, AnyRef>();

  constructor(system: System, codec: Codec) {
    this.#system = system;
    this.#codec = codec;
  }

  /** Sends a message, and notes what comes of it. Throws when it cannot be sent. */
  send(sent: Sent): void {
    const { pattern, to, operation, payload, metadata, door } = sent.recorded.line;
    if (!isAddress(to)) throw new TypeError(`the recording has ${JSON.stringify(to)} as an address`);
    const read = payload === undefined ? undefined : this.#codec.read(payload);
    const beside = metadata === undefined ? {} : this.#codec.read(metadata);
    const marked = sent.marked(isNode(beside) ? beside : {});
    const ref = this.#refAt(to);
    // An actor that is not there yet may be opened by its first message.
    const found = ref ?? this.#byAddress(to, operation, pattern);
    const hasPayload = ref === undefined || (operationsOf(ref)?.[operation]?.hasPayload ?? true);
    const through = door === true ? receive(found, { expose: () => true }) : (found as unknown as Untyped); // Every reference has these methods.
    const args = door === true || hasPayload ? [read] : [];
    if (pattern === "tell") through.tell(operation, ...args, { metadata: marked, deadline: sent.limit });
    else if (pattern === "ask") this.#ask(sent, through as Untyped, operation, args, marked);
    else void this.#read(sent, through as Untyped, operation, args, marked);
    // When it was recorded nobody knows, but before any handler had it.
    if (sent.recorded.end?.line.outcome === "dead") sent.canceller?.abort();
  }

  #ask(sent: Sent, to: Untyped, operation: string, args: readonly unknown[], metadata: Metadata): void {
    const options = { metadata, timeout: sent.limit, ...signalOf(sent) };
    void to.ask(operation, ...args, options).then((result) => sent.answered(result));
  }

  /** Reads a stream as far as it was read when it was recorded. */
  async #read(sent: Sent, to: Untyped, operation: string, args: readonly unknown[], metadata: Metadata): Promise<void> {
    const { items, end } = sent.recorded;
    const isLeft = end?.line.reason === "left";
    const limits = { deadline: sent.limit, abandonedAfter: Number.POSITIVE_INFINITY, ...signalOf(sent) };
    const options = { metadata, credit: 1, ...limits };
    let count = 0;
    try {
      for await (const _ of to.stream(operation, ...args, options)) {
        count++;
        if (count >= items.length && end === undefined) await NEVER; // Its reader stood here when the recording ended.
        if (count >= items.length + (isLeft ? 0 : MOST_EXTRA)) break;
      }
    } catch (thrown) {
      sent.refused(thrown);
    }
  }

  #refAt(at: Address): AnyRef | undefined {
    const known = this.#refs.get(at);
    if (known !== undefined && this.#system.router.has(at)) return known;
    this.#refs.clear();
    for (const { ref, isStopped } of this.#system.actors()) if (!isStopped) this.#refs.set(ref.address, ref);
    return this.#refs.get(at);
  }

  #byAddress(at: Address, operation: string, pattern: "tell" | "ask" | "stream"): AnyRef {
    const part = pattern === "ask" ? { reply: Type.Unknown() } : pattern === "stream" ? { stream: Type.Unknown() } : {};
    return this.#system.ref(at, defineProtocol("recorded", { [operation]: { payload: Type.Unknown(), ...part } }));
  }
}
