import { PriorityMailbox } from "../../runtime/priority-mailbox";
import type { Behaviour, Origin } from "../contract";
import type { Signal } from "../envelopes/signal";

/**
 * The life of an actor, and its activity at the moment. Both are assigned in this file alone.
 *
 * | life       | idle          | ready              | handling                           | awaiting                               | suspended                            |
 * | ---------- | ------------- | ------------------ | ---------------------------------- | -------------------------------------- | ------------------------------------ |
 * | alive      | nothing waits | its turn will come | it runs messages                   | its handlers wait                      | its factory runs, or a turn ends     |
 * | guarded    | nothing waits | its turn will come | it runs messages, one by one       | its handlers wait                      | its factory runs, or a turn ends     |
 * | draining   | –             | its turn will come | it runs what waited                | its handlers wait                      | its last handlers end, then it stops |
 * | restarting | –             | a hook is due      | a hook runs, or its last turn ends | the last handlers end, or a hook waits | its children stop, or it pauses      |
 * | stopping   | –             | a hook is due      | a hook runs, or its last turn ends | the last handlers end, or a hook waits | its children stop                    |
 * | stopped    | –             | –                  | –                                  | –                                      | nothing happens any more             |
 */
// Numbers, because each message reads them several times.
export const SUSPENDED = 0;
export const IDLE = 1;
export const READY = 2;
export const HANDLING = 3;
export const AWAITING = 4;

// Ordered: code compares them.
export const ALIVE = 0;
/**
 * Alive, and each message is checked: its mailbox has a bound or priorities, its payloads are validated, or a relay
 * stands before it.
 */
export const GUARDED = 1;
/** Handles the waiting messages, and takes no more. */
export const DRAINING = 2;
/** Takes messages, and handles none until its next instance has begun. */
export const RESTARTING = 3;
export const STOPPING = 4;
export const STOPPED = 5;

// The stages of an instance's end. Ordered: code compares them.
export const RUNNING = 0;
/** Its handlers have a time limit to end in. */
export const HANDLERS_END = 1;
export const CHILDREN_STOP = 2;
/** Its `onStop` has begun, or is not due. */
export const HAS_ENDED = 3;

/** The reason and the delay of a restart. */
export interface Restart {
  readonly error: unknown;
  /** The metadata that the failed message hands on. The hooks of the restart hand them on, too. */
  readonly origin: Origin;
  /** The wait before it, in milliseconds. */
  readonly delay: number;
  /** True when the actor failed beyond its limit. */
  readonly isHeld: boolean;
}

/** The part of an actor's life that is kept in its extras. */
interface Extra {
  aliveAs: number;
  ending: number;
  isDraining: boolean;
  isUnstarted: boolean;
  generation: number;
  restarts: number;
  instance: object | null;
  hook: Signal | null;
  restart: Restart | null;
  stopError: { readonly error: unknown } | null;
}

/** The record that these functions change. */
interface Life {
  activity: number;
  life: number;
  behaviour: Behaviour | null;
  factory: unknown;
  queue: { close(): void } | null;
  extras: object | null;
  readonly extra: Extra;
}

// ——— Its activity

export function becomeReady(cell: Life): void {
  cell.activity = READY;
}

export function becomeIdle(cell: Life): void {
  cell.activity = IDLE;
}

export function beginTurn(cell: Life): void {
  cell.activity = HANDLING;
}

/** Its handlers wait, as many as may run at once. */
export function awaitHandlers(cell: Life): void {
  cell.activity = AWAITING;
}

export function suspend(cell: Life): void {
  cell.activity = SUSPENDED;
}

/** Ends a turn after the present message. */
export function endTurn(cell: Life): void {
  if (cell.activity === HANDLING) cell.activity = SUSPENDED;
}

/** Changes its behaviour. Its turn ends, and the next one uses the new behaviour. */
export function behave(cell: Life, behaviour: Behaviour): void {
  cell.behaviour = behaviour;
  endTurn(cell);
}

// ——— Its life

/** Moves to another stage of its life. The mailbox's fast way in is closed, so each message is checked from now on. */
function live(cell: Life, life: number): void {
  cell.life = life;
  if (cell.queue !== null) cell.queue.close();
}

/** Checks each message from now on, in later instances too. */
export function guard(cell: Life): void {
  cell.extra.aliveAs = GUARDED;
  live(cell, GUARDED);
}

/** Checks each message from now on, though it has begun: its turn ends, because the loop of that turn checks none. */
export function guardLater(cell: Life): void {
  cell.extra.aliveAs = GUARDED;
  if (cell.life === ALIVE) live(cell, GUARDED);
  endTurn(cell);
}

/** Handles no more messages until its next instance has begun. */
export function beginRestart(cell: Life, why: Restart): void {
  live(cell, RESTARTING);
  cell.extra.restart = why;
  endTurn(cell);
}

/** Takes no more messages. An actor that waits to restart cannot drain its mailbox. */
export function beginStop(cell: Life, isDraining: boolean): void {
  live(cell, isDraining && cell.life !== RESTARTING ? DRAINING : STOPPING);
  if (isDraining || cell.extras !== null) cell.extra.isDraining = isDraining; // The last call counts, for its children too.
}

/** All waiting messages are handled. */
export function endDraining(cell: Life): void {
  if (cell.life === DRAINING) live(cell, STOPPING);
}

/** Handles nothing any more, and does not wait for its handlers. */
export function abandonLife(cell: Life): void {
  live(cell, STOPPING);
}

/** Prepares its next instance. Nothing of the last one is kept. */
export function beginInstance(cell: Life): void {
  const { extra } = cell;
  extra.generation++;
  extra.ending = RUNNING;
  extra.isUnstarted = false;
  extra.instance = null;
  cell.behaviour = null;
  live(cell, extra.aliveAs);
}

/** Its next instance has begun. */
export function endRestart(cell: Life): void {
  cell.extra.restart = null;
}

/** It has ended. A reference to it keeps nothing of it alive (P14). */
export function endLife(cell: Life): void {
  live(cell, STOPPED);
  cell.activity = SUSPENDED;
  cell.behaviour = null;
  cell.factory = null;
  cell.extras = null;
  if (cell.queue instanceof PriorityMailbox) cell.queue = null; // It holds the priority function of its owner.
}

// ——— The end of its instance

export function limitHandlers({ extra }: Life): void {
  extra.ending = HANDLERS_END;
}

/** The last of its handlers has ended, or was abandoned. */
export function endHandlers({ extra }: Life): void {
  if (extra.ending === HANDLERS_END) extra.ending = RUNNING;
}

export function beginStoppingChildren({ extra }: Life): void {
  extra.ending = CHILDREN_STOP;
}

export function endStoppingChildren({ extra }: Life): void {
  extra.ending = RUNNING;
}

/** Nothing of the instance is left but its `onStop`, given here if there is one. */
export function endInstance({ extra }: Life, onStop: Signal | null): void {
  extra.ending = HAS_ENDED;
  extra.hook = extra.isUnstarted ? null : onStop;
}

/** Takes the hook that runs next, before any message. */
export function takeHook({ extra }: Life): Signal | null {
  const { hook } = extra;
  extra.hook = null;
  return hook;
}

/** The `onStart` of an instance begins. Call the result once it has succeeded: `onStop` is due only from then on. */
export function beginStart({ extra }: Life): () => void {
  extra.isUnstarted = true;
  return () => {
    extra.isUnstarted = false;
  };
}
