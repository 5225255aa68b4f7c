import { type Address, type AnyRef, type AskResult, err, ok, type Protocol } from "../index";
import { beside, type Effect } from "./effect";
import type { KitAnswers } from "./kit-answers";
import { KitStream } from "./kit-stream";

/** The part of a kit that its references write to and read from. */
export interface KitRecord {
  readonly answers: KitAnswers;
  record(effect: Effect): void;
}

/** The class of a kit's references; its public type is Ref. There is no actor: messages are only recorded. */
export class KitRef implements AnyRef {
  readonly address: Address;
  readonly #kit: KitRecord;
  readonly #protocol: Protocol | undefined;

  constructor(kit: KitRecord, at: Address, protocol: Protocol | undefined) {
    this.address = at;
    this.#kit = kit;
    this.#protocol = protocol;
  }

  tell(operation: string, first?: unknown, second?: unknown): void {
    this.#record("told", operation, first, second);
  }

  ask(operation: string, first?: unknown, second?: unknown): Promise<AskResult> {
    const payload = this.#record("asked", operation, first, second);
    return this.#kit.answers.reply(this.address, operation, payload);
  }

  /** Like a real stream, it sends nothing before the first read. */
  stream(operation: string, first?: unknown, second?: unknown): KitStream {
    return new KitStream(() => {
      const payload = this.#record("streamed", operation, first, second);
      return this.#kit.answers.items(this.address, operation, payload);
    });
  }

  async offer(operation: string, first?: unknown, second?: unknown): Promise<AskResult<void>> {
    const payload = this.#record("offered", operation, first, second);
    const refusal = this.#kit.answers.offerRefusal(this.address, operation, payload);
    return refusal === null ? ok(undefined) : err(refusal);
  }

  /** Records a call, and returns its payload. For an operation without one, the first argument is the options. */
  #record(
    kind: "told" | "asked" | "streamed" | "offered",
    operation: string,
    first: unknown,
    second: unknown,
  ): unknown {
    const isBare = this.#protocol?.operations[operation]?.hasPayload === false;
    const payload = isBare ? undefined : first;
    this.#kit.record({ kind, to: this.address, operation, payload, ...beside(isBare ? (second ?? first) : second) });
    return payload;
  }

  toString(): string {
    return this.address;
  }

  toJSON(): string {
    return this.address;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Ref ${this.address}`;
  }

  /** True for a reference of a kit. */
  static is(ref: AnyRef): ref is KitRef {
    return typeof ref === "object" && #kit in ref;
  }

  /** Casts a reference of a kit. Throws for any other: its protocol, and so the payload among the arguments, is not known. */
  static of(ref: AnyRef, verb: string): KitRef {
    if (typeof ref === "object" && ref !== null && KitRef.is(ref)) return ref;
    throw new TypeError(
      `In a behaviour kit, ${verb} goes to references of the kit: make one by kit.ref(Protocol, "name").`,
    );
  }
}
