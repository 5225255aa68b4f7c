import { quote } from "../message/address";
import { checkSupervision, type Supervision } from "./supervision";

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
export type Overflow = "reject" | "drop-newest" | "drop-oldest" | "wait";

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

const OVERFLOWS: readonly unknown[] = ["reject", "drop-newest", "drop-oldest", "wait"] satisfies Overflow[];
const COUNTS = ["capacity", "concurrency", "stashCapacity"] as const;
/** The names of all options of an actor. */
export const ACTOR_OPTIONS = [
  ...COUNTS,
  "overflow",
  "priority",
  "validate",
  "supervision",
  "phase",
] as const satisfies (keyof ActorOptions)[];
const KNOWN: ReadonlySet<string> = new Set(ACTOR_OPTIONS);

/** Throws on invalid options, and says what to write. */
export function checkActorOptions(options: ActorOptions, of: string): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`The options of ${of} are an object, such as { capacity: 100 }; got ${quote(options)}.`);
  }
  for (const key of Object.keys(options)) {
    if (!KNOWN.has(key)) {
      throw new TypeError(`There is no option "${key}" for ${of}; write one of ${ACTOR_OPTIONS.join(", ")}.`);
    }
  }
  for (const key of COUNTS) {
    const value = options[key];
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue;
    throw new RangeError(`The ${key} of ${of} is a whole number from 1; got ${quote(value)}.`);
  }
  const { overflow, capacity, priority, validate, phase, supervision } = options;
  if (overflow !== undefined && !OVERFLOWS.includes(overflow)) {
    throw new TypeError(`The overflow of ${of} is one of ${OVERFLOWS.join(", ")}; got ${quote(overflow)}.`);
  }
  if (overflow !== undefined && capacity === undefined) {
    throw new TypeError(`The overflow of ${of} needs a capacity: write { capacity: 100, overflow: "${overflow}" }.`);
  }
  if (priority !== undefined && typeof priority !== "function") {
    throw new TypeError(`The priority of ${of} is a function of an operation and its payload; got ${quote(priority)}.`);
  }
  if (validate !== undefined && validate !== "boundary" && validate !== "always") {
    throw new TypeError(`The validate of ${of} is "boundary" or "always"; got ${quote(validate)}.`);
  }
  if (phase !== undefined && !Number.isFinite(phase)) {
    throw new RangeError(`The phase of ${of} is a number; got ${quote(phase)}.`);
  }
  if (supervision !== undefined) checkSupervision(supervision, of);
}
