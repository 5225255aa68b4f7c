import { type Address, type AnyRef, quote } from "../message/address";
import type { Pattern } from "../message/message";

/** Something that an actor is about to run, as its observers see it. */
export interface ObservedHandling {
  /**
   * `message`: the handler of a message. `hook`: `onStart`, `onRestart` or `onStop`. `timer`, `watch`: the callback of one. `pull`:
   * the producer of a stream makes its next item, inside the handling of the stream's message.
   */
  readonly kind: "message" | "hook" | "timer" | "watch" | "pull";
  /** The actor. */
  readonly ref: AnyRef;
  readonly address: Address;
  /** The operation, or the name of the hook, timer or watch, as in the events: `onStart`, `timer flush`, `terminated`. */
  readonly operation: string;
  /** The pattern of the message; `tell` for hooks, timers and watches. */
  readonly pattern: Pattern;
  readonly payload: unknown;
  /** The id of the message. Undefined for most messages, which get one when somebody reads it: see `ctx.message`. */
  readonly id: string | undefined;
  /** The actor that sent the message, where it is known. */
  readonly sender: AnyRef | undefined;
  /**
   * How long the message waited in the mailbox, in milliseconds. Undefined for anything but a message, for a message that was sent
   * before the observer came, and where no observer has the option `queueTime`.
   */
  readonly queueTime: number | undefined;
}

/** How a handling has ended. */
export type HandlingOutcome =
  /** The handler's result; of a stream, `undefined`. Of a pull, the result of the iterator's `next()`. */
  | { readonly kind: "handled"; readonly result: unknown }
  /** What the handler threw, or its promise rejected with. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** Another actor has the message now (`ctx.forward`), or this one will get it again (`ctx.stash`). */
  | { readonly kind: "forwarded" | "stashed" }
  /** A restart or a shutdown waited for the handler no longer. */
  | { readonly kind: "abandoned" };

/** Is called once when a handling has ended. */
export type OnEnd = (outcome: HandlingOutcome) => void;

/** Learns the outcome of a handling. */
export interface Ending {
  end(outcome: HandlingOutcome): void;
}

/**
 * Observes a handling. It calls `run` once before it returns: that runs the handler up to its first `await`, and does not
 * throw. The function that `run` is given learns the outcome, when the handler's promise has settled.
 */
export type Around = (handling: ObservedHandling, run: (onEnd?: OnEnd) => void) => void;

/** The options of an observer. */
export interface AroundOptions {
  /**
   * True to measure how long each message waits. It costs two readings of the clock for each message, of some 40 ns, and no message
   * takes the fast way into a mailbox. Default: false.
   */
  readonly queueTime?: boolean;
}

interface Installed {
  readonly observer: Around;
  readonly wantsQueueTime: boolean;
}

/** The observers of one system, in the order in which they were installed. */
export class Observers {
  around: readonly Around[] = [];
  /** True when each message is stamped with the time at which it enters a mailbox. */
  measuresQueueTime = false;
  /** True when no mailbox takes a message unseen, not even between two that the metrics look at. */
  looksAtEach = false;
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

  #install(installed: readonly Installed[]): void {
    this.#installed = installed;
    this.around = installed.map(({ observer }) => observer);
    this.measuresQueueTime = installed.some(({ wantsQueueTime }) => wantsQueueTime);
    this.onChange();
  }
}
