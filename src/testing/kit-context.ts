import {
  type ActorOptions,
  type ActorStream,
  type Address,
  type AnyRef,
  type AnySignatures,
  type AskArgs,
  type Asked,
  type AskResult,
  address,
  type Clock,
  type Context,
  checkBehaviour,
  checkProgress,
  type DeliveryError,
  type Factory,
  type Forwardable,
  type Forwarded,
  type Handlers,
  type Hooks,
  type ItemOf,
  type Message,
  type Metadata,
  operationsOf,
  type PassedOn,
  type Protocol,
  parseAddress,
  quote,
  type Ref,
  type ReplyOf,
  type Result,
  type Streamed,
  systemClock,
  type TellOptions,
  type Terminated,
} from "../index";
import { beside, type Effect } from "./effect";
import { KitAnswers } from "./kit-answers";
import { type KitRecord, KitRef } from "./kit-ref";
import { KitTimers } from "./kit-timers";
import { createManualClock } from "./manual-clock";
import { show } from "./show";

/** The message that is being handled in a kit. */
export interface Present {
  readonly message: Message;
  readonly metadata: Metadata;
  readonly deadline: number;
  readonly sender: AnyRef | undefined;
  readonly controller: AbortController;
  isPassedOn: boolean;
}

/**
 * The context of an actor in a kit. It carries out effects inside of the actor, and records effects outside of it.
 */
export class KitContext<Signatures> implements Context<Signatures>, KitRecord {
  readonly self: Ref<Signatures>;
  readonly answers: KitAnswers;
  readonly timers = new KitTimers((effect) => this.record(effect));
  /** Its time stands still, but macrotasks run by themselves. */
  readonly clock: Clock = { ...createManualClock(), macrotask: systemClock.macrotask };
  /** All effects so far, and those of the present run. */
  readonly effects: Effect[] = [];
  ofRun: Effect[] = [];
  present: Present | null = null;
  isStopped = false;
  handlers: (Handlers<Signatures> & Hooks) | null = null;
  readonly #protocol: Protocol<string, Signatures>;
  readonly #own: Address;
  readonly #lifetime = new AbortController();
  readonly #children = new Map<Address, Ref<AnySignatures>>();
  #watches: { readonly of: Address; readonly callback: (terminated: Terminated) => unknown }[] = [];
  #stash: { readonly operation: string; readonly payload: unknown }[] = [];
  readonly #before: (Handlers<Signatures> & Hooks)[] = [];

  constructor(protocol: Protocol<string, Signatures>, own: Address) {
    this.#protocol = protocol;
    this.#own = own;
    this.answers = new KitAnswers(own);
    this.self = this.refTo(own, protocol);
  }

  refTo<S>(at: Address, protocol: Protocol<string, S> | undefined): Ref<S> {
    // The protocol alone types a reference; KitRef has the methods of Ref.
    return new KitRef(this, at, protocol) as unknown as Ref<S>;
  }

  record(effect: Effect): void {
    this.effects.push(effect);
    this.ofRun.push(effect);
  }

  get message(): Message {
    return this.#presentFor("message").message;
  }

  get sender(): Ref<AnySignatures> | undefined {
    // The sender's protocol is not known: it may take any message.
    return this.present?.sender as Ref<AnySignatures> | undefined;
  }

  get metadata(): Metadata {
    return this.present?.metadata ?? NONE;
  }

  get handsOn(): Metadata {
    const { metadata } = this;
    return Object.freeze(Object.fromEntries(TRACE.filter((key) => key in metadata).map((key) => [key, metadata[key]])));
  }

  get deadline(): number {
    return this.present?.deadline ?? Number.POSITIVE_INFINITY;
  }

  progress(done: number, total?: number, note?: string): void {
    checkProgress(done, total, note);
    const said = { ...(total !== undefined && { total }), ...(note !== undefined && { note }) };
    if (this.present !== null) this.record({ kind: "progressed", done, ...said });
  }

  get signal(): AbortSignal {
    return (this.present?.controller ?? this.#lifetime).signal;
  }

  onAbort(callback: () => void): () => void {
    const { signal } = this;
    if (signal.aborted) callback();
    else signal.addEventListener("abort", callback, { once: true });
    return () => signal.removeEventListener("abort", callback);
  }

  spawn<Child>(
    name: string,
    protocol: Protocol<string, Child>,
    factory: NoInfer<Factory<Child>>,
    options?: ActorOptions,
  ): Ref<Child> {
    const at = address(`${idOf(this.#own)}/${name}`);
    if (this.#children.has(at)) throw new Error(`${at} is in use; stop that actor first, or choose another name.`);
    if (typeof factory !== "function") {
      throw new TypeError(`The factory of ${at} is a function that returns its handlers; got ${show(factory)}.`);
    }
    this.#children.set(at, this.refTo(at, protocol) as unknown as Ref<AnySignatures>); // The protocol is not known later.
    const given = options === undefined ? {} : { options };
    this.record({ kind: "spawned", address: at, protocol: protocol.name, ...given });
    return this.refTo(at, protocol);
  }

  get children(): readonly Ref<AnySignatures>[] {
    return [...this.#children.values()];
  }

  stop(child?: AnyRef): PromiseLike<void> | undefined {
    const at = child?.address ?? this.#own;
    if (at !== this.#own && !this.#children.delete(at)) {
      throw new TypeError(`${this.#own} can stop itself and its children, and ${at} is neither.`);
    }
    this.record({ kind: "stopped", address: at });
    if (at !== this.#own) return Promise.resolve();
    this.isStopped = true;
    const reason = new DOMException(`The actor ${at} was stopped.`, "AbortError");
    this.present?.controller.abort(reason);
    this.#lifetime.abort(reason);
    return undefined;
  }

  watch(ref: AnyRef, onTerminated: (terminated: Terminated) => unknown): () => void {
    const { address: of } = ref;
    if (of === this.#own) throw new TypeError(`${of} cannot watch itself; use the hook onStop.`);
    if (typeof onTerminated !== "function") {
      throw new TypeError(`${this.#own} watches with a function to call: ctx.watch(ref, () => { … }).`);
    }
    const watch = { of, callback: onTerminated };
    this.#watches.push(watch);
    this.record({ kind: "watched", address: of });
    return () => {
      if (!this.#watches.includes(watch)) return;
      this.#watches = this.#watches.filter((other) => other !== watch);
      this.record({ kind: "unwatched", address: of });
    };
  }

  /** Takes the callbacks for an actor's end, and so ends the watches of that actor. */
  watchersOf(at: Address): ((terminated: Terminated) => unknown)[] {
    const found = this.#watches.filter(({ of }) => of === at);
    if (found.length === 0) {
      const others = [...new Set(this.#watches.map(({ of }) => of))].join(", ");
      throw new Error(`${this.#own} does not watch ${at}; watched: ${others === "" ? "nobody" : others}.`);
    }
    this.#watches = this.#watches.filter(({ of }) => of !== at);
    this.#children.delete(at);
    return found.map(({ callback }) => callback);
  }

  stash(): PassedOn {
    const { type: operation, payload } = this.#passOn("stash");
    this.#stash.push({ operation, payload });
    this.record({ kind: "stashed", operation, payload });
    return PASSED_ON;
  }

  unstash(): void {
    const messages = this.#stash;
    this.#stash = [];
    this.record({ kind: "unstashed", messages });
  }

  become(handlers: Handlers<Signatures>): void {
    checkBehaviour(handlers, this.#protocol, this.self, "become");
    if (this.handlers !== null) this.#before.push(this.handlers);
    this.handlers = handlers;
    this.record({ kind: "became" });
  }

  unbecome(): void {
    const before = this.#before.pop();
    if (before === undefined) {
      throw new Error(`${this.#own} is what it was made as: it has become nothing that ctx.unbecome() could end.`);
    }
    this.handlers = before;
    this.record({ kind: "unbecame" });
  }

  forward<To extends AnyRef>(to: Forwardable<Signatures, To>): PassedOn<Forwarded<Signatures, To>> {
    const { type: operation, payload } = this.#passOn("forward");
    // Forwardable may also be a sentence, but no value has that type.
    this.record({ kind: "forwarded", to: (to as AnyRef).address, operation, payload });
    return PASSED_ON;
  }

  tell<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: [...payload: AskArgs<S, NoInfer<Name>>, options?: TellOptions]
  ): void {
    if (KitRef.is(ref)) {
      ref.tell(operation, args[0], args[1]);
      return;
    }
    const isBare = operationsOf(ref)?.[operation]?.hasPayload === false;
    const [payload, options] = isBare ? [undefined, args[0]] : args;
    this.record({ kind: "told", to: ref.address, operation, payload, ...beside(options) });
  }

  offer<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: readonly unknown[]
  ): Promise<Result<void, DeliveryError>> {
    return KitRef.of(ref, "ctx.offer").offer(operation, args[0], args[1]);
  }

  ask<S, Name extends string>(
    ref: Ref<S>,
    operation: Asked<S, Name>,
    ...args: readonly unknown[]
  ): Promise<AskResult<ReplyOf<S, Name & keyof S>>> {
    // Typed by kit.answer, which has the protocol of the ref.
    return KitRef.of(ref, "ctx.ask").ask(operation, args[0], args[1]) as Promise<AskResult<ReplyOf<S, Name & keyof S>>>;
  }

  stream<S, Name extends string>(
    ref: Ref<S>,
    operation: Streamed<S, Name>,
    ...args: readonly unknown[]
  ): ActorStream<ItemOf<S, Name & keyof S>> {
    // Typed by kit.answer, as above.
    return KitRef.of(ref, "ctx.stream").stream(operation, args[0], args[1]) as ActorStream<ItemOf<S, Name & keyof S>>;
  }

  #presentFor(what: string): Present {
    if (this.present !== null) return this.present;
    throw new Error(`${this.#own} handles no message now; use ctx.${what} inside a handler.`);
  }

  #passOn(verb: "stash" | "forward"): Message {
    const present = this.#presentFor(verb);
    if (present.isPassedOn) {
      throw new Error(
        `${quote(present.message.type)} to ${this.#own} was stashed or forwarded already, and can go one way only.`,
      );
    }
    present.isPassedOn = true;
    return present.message;
  }
}

/** The metadata that a system hands on by default. */
const TRACE = ["traceparent", "tracestate", "baggage"];

/** The metadata of a message without any. */
const NONE: Metadata = Object.freeze({});

// Nothing reads this value: `Present.isPassedOn` has the fact.
const PASSED_ON = Object.freeze({}) as PassedOn;

const idOf = (at: Address): string =>
  parseAddress(at).match(
    ({ id }) => id,
    () => at,
  );
