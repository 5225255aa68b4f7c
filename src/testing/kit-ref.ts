import { type Address, type AnyRef, type AskResult, err, ok, type Protocol } from "../index";
import type { Effect } from "./effect";
import type { KitAnswers } from "./kit-answers";

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

  tell(operation: string, payload?: unknown): void {
    this.#kit.record({ kind: "told", to: this.address, operation, payload });
  }

  ask(operation: string, first?: unknown): Promise<AskResult> {
    const payload = this.#payloadOf(operation, first);
    this.#kit.record({ kind: "asked", to: this.address, operation, payload });
    return this.#kit.answers.reply(this.address, operation, payload);
  }

  /** Like a real stream, it sends nothing before the first read. */
  async *stream(operation: string, first?: unknown): AsyncGenerator<unknown, undefined, undefined> {
    const payload = this.#payloadOf(operation, first);
    this.#kit.record({ kind: "streamed", to: this.address, operation, payload });
    return yield* this.#kit.answers.items(this.address, operation, payload);
  }

  async offer(operation: string, first?: unknown): Promise<AskResult<void>> {
    const payload = this.#payloadOf(operation, first);
    this.#kit.record({ kind: "offered", to: this.address, operation, payload });
    const refusal = this.#kit.answers.offerRefusal(this.address, operation, payload);
    return refusal === null ? ok(undefined) : err(refusal);
  }

  /** The payload of a call. For an operation without one, the first argument is the options. */
  #payloadOf(operation: string, first: unknown): unknown {
    return this.#protocol?.operations[operation]?.hasPayload === false ? undefined : first;
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

  /** Casts a reference of a kit. Throws for any other: its protocol, and so the payload among the arguments, is not known. */
  static of(ref: AnyRef, verb: string): KitRef {
    if (typeof ref === "object" && ref !== null && #kit in ref) return ref;
    throw new TypeError(
      `In a behaviour kit, ${verb} goes to references of the kit: make one by kit.ref(Protocol, "name").`,
    );
  }
}
