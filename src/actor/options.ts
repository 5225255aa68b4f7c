import { checkOptions, type OptionChecks, option } from "../message/option";
import { checkSupervision, type Supervision } from "./supervision";

/** The names of all overflow policies. */
export const OVERFLOWS = ["reject", "drop-newest", "drop-oldest", "wait"] as const;

/**
 * The fate of a message that finds the mailbox full:
 *
 * | overflow | a tell | an ask, a stream, an `offer` |
 * | --- | --- | --- |
 * | `"reject"` | becomes a dead letter, and is logged | comes back `mailbox-full` at once |
 * | `"drop-newest"` | becomes a dead letter | comes back `mailbox-full` at once |
 * | `"drop-oldest"` | takes the place of the message that waited longest (of the least urgent, with a `priority`), which becomes a dead letter | the same; an asker that is dropped gets `mailbox-full` |
 * | `"wait"` | as with `"reject"`: a tell cannot wait | waits for room, in order, as long as its timeout and its signal let it |
 *
 * Every dropped message is a dead letter with the reason `mailbox-full`.
 */
export type Overflow = (typeof OVERFLOWS)[number];

/** The options of an actor: its mailbox, its messages and its children. Each may be left out. */
export interface ActorOptions {
  /**
   * Most messages that senders may leave in the mailbox, a whole number from 1. The running message does not count, and
   * stashed messages come back beyond it. Default: no bound.
   */
  readonly capacity?: number;
  /** The fate of a message that finds the mailbox full. Default: `"reject"`. */
  readonly overflow?: Overflow;
  /**
   * The urgency of a message: the largest number is handled first, equal ones in the order in which they came. Default:
   * all are equal. A function that throws, or returns no number, counts as 0 and is logged.
   */
  readonly priority?: (operation: string, payload: unknown) => number;
  /** The number of messages that may be handled at once, a whole number from 1. Default: 1 (P3). */
  readonly concurrency?: number;
  /**
   * The payloads that are checked against their schema before a handler gets them: those that came through `parseMessage`
   * or `receive` (`"boundary"`), or all (`"always"`), for an actor that must not fail on any input. A payload that does
   * not fit comes back as `invalid-payload`. Default: the system's `validate`, which an actor can only tighten.
   */
  readonly validate?: "boundary" | "always";
  /** Most messages that may be stashed, a whole number from 1. Default: 1,000. */
  readonly stashCapacity?: number;
  /** The supervision of this actor's children when they fail. Default: the system's `supervision`. */
  readonly supervision?: Supervision;
  /**
   * The phase of a shutdown that stops this actor: the smallest number first, the next one once all of it have stopped.
   * Only for actors without a parent; ignored for a child. Default: 0.
   */
  readonly phase?: number;
}

/** The options of most actors: none. */
export const NO_OPTIONS: ActorOptions = Object.freeze({});

/** The checks of all options of an actor. */
export const ACTOR_OPTIONS: OptionChecks<ActorOptions> = {
  capacity: option.count,
  concurrency: option.count,
  stashCapacity: option.count,
  overflow: option.oneOf<Overflow>(...OVERFLOWS),
  priority: option.function(" of an operation and its payload"),
  validate: option.oneOf("boundary", "always"),
  supervision: checkSupervision,
  phase: option.rule("is a number", Number.isFinite, RangeError),
};

/** Throws on invalid options, and says what to write. */
export function checkActorOptions(options: ActorOptions, of: string): void {
  checkOptions(options, ACTOR_OPTIONS, of, "{ capacity: 100 }");
  const { overflow, capacity } = options;
  if (overflow !== undefined && capacity === undefined) {
    throw new TypeError(`The overflow of ${of} needs a capacity: write { capacity: 100, overflow: "${overflow}" }.`);
  }
}
