import { type Address, type AnyRef, quote } from "../message/address";
import type { Metadata, Pattern } from "../message/message";

/** Something that an actor is about to run, as its observers see it. */
export interface ObservedHandling {
  /**
   * `message`: the handler of a message. `hook`: `onStart`, `onRestart` or `onStop`. `timer`, `watch`: the callback of one. `pull`:
   * the producer of a stream makes its next item, or a transport hands one to the reader, inside the handling of the stream's
   * message. `relay`: a message is handed to its transport, which carries it to an actor elsewhere (`system.attach`).
   */
  readonly kind: "message" | "hook" | "timer" | "watch" | "pull" | "relay";
  /** The actor; of a relay, the attached reference. */
  readonly ref: AnyRef;
  readonly address: Address;
  /** The name of its protocol. Undefined for an actor of a router, which has none. */
  readonly protocol: string | undefined;
  /** The operation, or the name of the hook, timer or watch, as in the events: `onStart`, `timer flush`, `terminated`. */
  readonly operation: string;
  /** The pattern of the message; `tell` for hooks, timers and watches. */
  readonly pattern: Pattern;
  readonly payload: unknown;
  /**
   * The metadata that came beside the payload: `ctx.metadata` of the handler, and the part that it hands on (`inheritedMetadata`). An
   * observer may assign another object before it calls `run`; a hook or a timer has something to hand on then, too. To change only what
   * is handed on, assign `handsOn`, which costs less. Of a relay,
   * what its transport carries beside the payload. A symbol as a key is for this message alone: the message keeps it where it is
   * forwarded, stashed or shared out by a pool, no handler hands it on, and no JSON has it.
   */
  metadata: Metadata;
  /**
   * Metadata that the handler hands on in place of `inheritedMetadata`'s part of its message, to the messages that it sends through its context, to
   * its timers that are set once, to its watches, and to the hooks of a restart that it causes. An observer may assign it before it calls
   * `run`; the message itself stays as it is. Its `metadata` are read when the handler begins something, which most never do. Frozen ones
   * are neither checked nor copied, so that all that the handler sends may share them; a symbol as a key reaches what this handler begins,
   * and goes no further. An error that reading them throws is logged, and the message's own are handed on. A relay hands nothing on.
   * Default: undefined.
   *
   * @example
   * system.around((handling, run) => {
   *   handling.handsOn = { metadata: Object.freeze({ traceparent: spanOf(handling) }) };
   *   run();
   * });
   */
  handsOn: HandsOn | undefined;
  /** The id of the message. Undefined for most messages, which get one when somebody reads it: see `ctx.message`. */
  readonly id: string | undefined;
  /** The actor that sent the message, where it is known. */
  readonly sender: AnyRef | undefined;
  /**
   * The time that the message waited in the mailbox, in milliseconds. Undefined for anything but a message, for a message that was sent
   * before the observer came, and where no observer has the option `queueTime`.
   */
  readonly queueTime: number | undefined;
  /** True when the message came through a door (`receive`, `parseMessage`), also where it was forwarded or stashed since. */
  readonly isFromOutside: boolean;
}

/** Metadata that a handler hands on. They may be made when they are read. */
export interface HandsOn {
  readonly metadata: Metadata;
}

/** The end of a handling. */
export type HandlingOutcome =
  /**
   * The handler's result; of a stream, `undefined`. Of a pull, the result of the iterator's `next()`. Of a relay, the reply that
   * came back; `undefined` at the end of a stream, or once its reader has left.
   */
  | { readonly kind: "handled"; readonly result: unknown }
  /**
   * The error that the handler threw, or its promise rejected with. Of a relay, the delivery error that its sender gets, such as
   * a `timeout`.
   */
  | { readonly kind: "failed"; readonly error: unknown }
  /** Another actor has the message now (`ctx.forward`), or this one will get it again (`ctx.stash`). */
  | { readonly kind: "forwarded" | "stashed" }
  /** A restart or a shutdown waited for the handler no longer. */
  | { readonly kind: "abandoned" }
  /** Of a relay: the transport has the tell, or the other side has taken the offer. What becomes of it is known there. */
  | { readonly kind: "sent" };

/** Is called once when a handling has ended. */
export type OnEnd = (outcome: HandlingOutcome) => void;

/** Learns the outcome of a handling. */
export interface Ending {
  end(outcome: HandlingOutcome): void;
  /** The view that observers have of it; null where there are none. */
  readonly observed: ObservedHandling | null;
}

/**
 * Observes a handling. It calls `run` once before it returns: that runs the handler up to its first `await`, and does not
 * throw. The function that `run` is given learns the outcome, when the handler's promise has settled.
 */
export type Around = (handling: ObservedHandling, run: (onEnd?: OnEnd) => void) => void;

/** Runs the handler, inside of the next observers. */
export type Run = Parameters<Around>[1];

/** The options of an observer. */
export interface AroundOptions {
  /**
   * True to measure how long each message waits. It costs two readings of the clock for each message, of some 40 ns, and no message
   * takes the fast way into a mailbox. Default: false.
   */
  readonly queueTime?: boolean;
}

/** A message that is about to be sent, as observers see it. */
export interface ObservedSending {
  /** The actor that it is sent to; of a pool, the pool. */
  readonly ref: AnyRef;
  readonly address: Address;
  readonly operation: string;
  /** An offer is a `tell`. */
  readonly pattern: Pattern;
  readonly payload: unknown;
  /**
   * The metadata beside the payload. An observer may assign another object, such as
   * `sending.metadata = { ...sending.metadata, traceparent }`. Values under symbols stay, also where the object lacks them.
   */
  metadata: Metadata;
  /**
   * Adds a value to the metadata under a symbol. It stays with this message alone: the message keeps it where it is forwarded, stashed
   * or shared out by a pool, no handler hands it on, and no JSON has it. It takes a third of the time that it takes to assign `metadata`.
   *
   * @example
   * sending.mark(SENT_AT, clock.monotonicTime()); // Later: handling.metadata[SENT_AT]
   */
  mark(key: symbol, value: unknown): void;
  /** The handling that sends it through its context. Undefined outside of actors, and where nothing observes handlings. */
  readonly handling: ObservedHandling | undefined;
  /** The actor that sends it, where it is known. */
  readonly sender: AnyRef | undefined;
  /**
   * The milliseconds until its sender gives it up, by its `timeout` or a deadline; for a stream or an offer, by a deadline alone.
   * `Infinity` where nothing limits it.
   */
  readonly timeLeft: number;
  /** True when a handler hands its own message on (`ctx.forward`). */
  readonly isForwarded: boolean;
  /** True when it came through a door (`receive`, `parseMessage`). */
  readonly isFromOutside: boolean;
}

/** Observes what is sent, in the context of its sender. It must not throw: an error is logged, and the message is sent. */
export type OnSend = (sending: ObservedSending) => void;

/** The part of a system that observers are installed with. */
export interface Observable {
  /**
   * Observes each handler, hook and callback of a timer or a watch that an actor of this system runs, each item that the
   * producer of a stream makes, and each message that is handed to a transport (`system.attach`). The observer calls `run` once before it returns, inside of an `AsyncLocalStorage` if it likes: what
   * runs is inside of it too, also behind its awaits. Observers wrap each other, the first one outermost; they are called in the
   * context in which the handler runs (P16). An error that an observer throws before it calls `run`, or an observer that returns
   * without calling it, is a failure of the handler; a message for a transport is `unreachable` then. A later error is logged, and changes nothing. A turn that runs goes on as it
   * began; later ones are observed. Default: none, at no cost.
   *
   * @returns a function that removes the observer.
   * @throws TypeError when the observer is not a function, or an option is invalid.
   * @example
   * system.around(({ address, operation }, run) => {
   *   run((outcome) => console.log(address, operation, outcome.kind)); // @(counter) add handled
   * });
   */
  around(observer: Around, options?: AroundOptions): () => void;
  /**
   * Observes each message before it is sent: by reference, by a handler's context, by the router, through a door or to an attached
   * reference. The observer may give it other metadata. Default: none, at no cost.
   *
   * @returns a function that removes the observer.
   * @throws TypeError when the observer is not a function.
   * @example
   * system.onSend((sending) => {
   *   sending.metadata = { ...sending.metadata, traceparent: current() };
   * });
   */
  onSend(observer: OnSend): () => void;
}

/** A handling whose observers are being called. */
export interface Running {
  /** The observer that may call `run` now, by its index; -1 when none may. */
  readonly due: number;
  /** A mistake of an observer. */
  sentence(what: string): string;
  /** Calls the next observer, or the handler. */
  goOn(onEnd: OnEnd | undefined): void;
}

/** The observers of handlings, in the order in which they were installed, each with the `run` that it gets. */
export interface Chain {
  readonly around: readonly Around[];
  /** One function for each observer, and not a closure for each message. */
  readonly runs: readonly Run[];
}

interface Installed {
  readonly observer: Around;
  readonly wantsQueueTime: boolean;
}

/** The observers of one system. */
export class Observers {
  /** Null while nothing observes handlings. */
  chain: Chain | null = null;
  /** Null while nothing observes what is sent. */
  onSend: readonly OnSend[] | null = null;
  /** The handling whose observers or handler run now, up to the handler's first `await`. */
  running: (Running & Ending) | null = null;
  /** The handling whose handler has returned last, until the outcome is known. */
  last: (Ending & { readonly onEnd: OnEnd | null }) | null = null;
  /** The result of the handler, or the error that was thrown in its place. */
  result: unknown = null;
  thrown: { readonly error: unknown } | null = null;
  /** True when nothing else looks at each handling: no payload is validated, and no handler is watched for its slowness. */
  areAlone = true;
  /** True when each message is stamped with the time at which it enters a mailbox. */
  measuresQueueTime = false;
  #installed: readonly Installed[] = [];
  /** Told when observers came or went. */
  onChange: () => void = () => undefined;

  /** Installs an observer behind the others. The returned function removes it. */
  addAround(observer: Around, options: AroundOptions = {}): () => void {
    if (typeof observer !== "function") {
      throw new TypeError(
        `An observer is a function: system.around((handling, run) => { run(); }); got ${quote(observer)}.`,
      );
    }
    if (typeof options !== "object" || options === null) {
      throw new TypeError(
        `The options of an observer are an object, such as { queueTime: true }; got ${quote(options)}.`,
      );
    }
    const { queueTime = false } = options;
    if (typeof queueTime !== "boolean") throw new TypeError(`queueTime is true or false; got ${quote(queueTime)}.`);
    const installed = { observer, wantsQueueTime: queueTime };
    this.#install([...this.#installed, installed]);
    return () => this.#install(this.#installed.filter((each) => each !== installed));
  }

  /** Installs an observer of what is sent, behind the others. The returned function removes it. */
  addOnSend(observer: OnSend): () => void {
    if (typeof observer !== "function") {
      throw new TypeError(`An observer is a function: system.onSend((sending) => { … }); got ${quote(observer)}.`);
    }
    const own: OnSend = (sending) => observer(sending); // The same function may be installed twice.
    this.onSend = [...(this.onSend ?? []), own];
    this.onChange();
    return () => {
      const left = this.onSend?.filter((each) => each !== own) ?? [];
      this.onSend = left.length === 0 ? null : left;
      this.onChange();
    };
  }

  #install(installed: readonly Installed[]): void {
    this.#installed = installed;
    this.measuresQueueTime = installed.some(({ wantsQueueTime }) => wantsQueueTime);
    const around = installed.map(({ observer }) => observer);
    const runs = around.map((_, index) => (onEnd?: OnEnd) => this.#run(index, onEnd));
    this.chain = installed.length === 0 ? null : { around, runs };
    this.onChange();
  }

  #run(index: number, onEnd: OnEnd | undefined): void {
    const { running } = this;
    const what = "called run() a second time, or after it had returned";
    if (running === null) throw new Error(`An observer ${what}: call run() once, before it returns.`);
    if (running.due !== index) throw new Error(running.sentence(what));
    running.goOn(onEnd);
  }
}
