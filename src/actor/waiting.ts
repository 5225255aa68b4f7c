import type { Address } from "../message/address";
import type { Cell } from "./cell";
import type { Envelope } from "./envelope";
import { type Handling, isOf, type Wait } from "./handling";

/** What has to come to its end: a handling, all of several, or one of them. */
type Need = Handling | { readonly isOneEnough: boolean; readonly of: readonly Need[] };

/** Handlings that cannot go on. */
type Stuck = Set<Handling>;

// Who waits for whom is a graph, as in E. G. Coffman et al., "System Deadlocks", ACM Computing Surveys 3(2), 1971. It is in
// memory, so that the search is exact. Nobody can see which promises a handler awaits, so this is what counts: a handling
// with one wait needs that one; with several, any of them may be enough, as in Promise.race; a producer that is as far ahead
// as its credit goes needs its reader. A handling is stuck when all of them are.

/**
 * The circle of waiting actors that an ask from one to another would close (P8), from the asker and back to it; null
 * when there is none. Written with loops, because a chain of actors that wait may be longer than the stack.
 *
 * @param moved the wait of the asker that is handed on to the other actor; null for a new one.
 */
export function circleOf(asker: Cell, to: Cell, handling: Handling, moved: Wait | null = null): Address[] | null {
  const { extras } = to;
  if (extras === null) return null; // Most can take a message now, and are seen to at once.
  if (extras.handling === null && extras.concurrency === null && extras.relay === null) return null;
  const need = needOf(to, null);
  if (handlingsIn(need).length === 0) return null;
  let graph = new Graph(handling, [need]);
  if (!graph.isStuck(need)) return null;
  const others = [...handling.waits()].filter((wait) => wait !== moved);
  if (others.length > 0) {
    graph = new Graph(handling, [need, ...others.map((wait) => needOf(wait.cell, wait))]);
    if (!graph.isStuck(need)) return null; // What else it waits for may be enough.
  }
  const way = graph.wayBack([need]);
  return way === null ? null : [asker.address, ...addressesOf(way)];
}

/**
 * Looks whether a handling waits for itself: by a new wait, by one that ended and left it with those that cannot end, or by a
 * producer that is as far ahead as it may be. Once the event loop has had its turn: until then the handler may ask another
 * actor, go on, or end.
 *
 * @param closing the new wait, which is refused then.
 */
export function lookForCircle(handling: Handling, closing: Wait | null = null): void {
  if (handling.isOver || handling.isLookDue || !mayBeStuck(handling)) return;
  handling.isLookDue = true;
  handling.cell.environment.clock.macrotask(() => {
    handling.isLookDue = false;
    // Where it needs all of several actors, it may be in several circles.
    while (mayBeStuck(handling) && breakCircle(handling, closing));
  });
}

/** A wait has ended: those that are left to its handling may be stuck. Its error may be kept, and keeps no handler (P14). */
export function waitEnds(wait: Wait): void {
  const { waiter } = wait;
  wait.waiter = null;
  if (waiter?.isSeveral === true) lookForCircle(waiter);
}

/** A handler begins to wait for an item: its producer, or whoever stands before that in the mailbox, may wait for the handler. */
export function readerWaits(stream: Envelope & Wait, reader: Handling): void {
  const producer = stream.cell.handlingOf(stream);
  if (producer === null) lookForCircle(reader, stream);
  else if (producer.isWaiting) lookForCircle(reader);
}

/** A producer begins to wait for the handler that reads it, or goes on. */
export function producerWaits(stream: Envelope & Wait, isWaiting: boolean): void {
  const producer = stream.cell.handlingOf(stream);
  if (producer === null) return;
  producer.parkedFor = isWaiting ? stream.waiter : null;
  if (isWaiting) lookForCircle(producer);
}

/** False where it is plain that it can go on. It makes nothing: several asks at once come by here whenever one has settled. */
function mayBeStuck(handling: Handling): boolean {
  if (handling.parkedFor !== null) return handling.parkedFor.isWaiting;
  let isWaiting = false;
  for (let wait = handling.firstOpen(); wait !== null; wait = wait.nextWait) {
    if (!wait.isWaiting) continue;
    if (!mayBeHeldUp(wait)) return false;
    isWaiting = true;
  }
  return isWaiting;
}

function mayBeHeldUp(wait: Wait): boolean {
  const { extras } = wait.cell;
  if (extras === null) return false;
  if (extras.relay === null && extras.concurrency === null) return extras.handling?.isWaiting === true;
  return handlingsIn(needOf(wait.cell, wait)).some((each) => each.isWaiting);
}

/**
 * Refuses the wait that closed a circle, or else its last one that is still in a mailbox: no handler has begun on it.
 *
 * @returns whether there was one.
 */
function breakCircle(handling: Handling, closing: Wait | null): boolean {
  const graph = new Graph(handling, needsOf(handling));
  if (!graph.stuck.has(handling)) return false;
  const closed = closing?.isWaiting === true ? graph.wayBack([needOf(closing.cell, closing)]) : null;
  if (closing !== null && closed !== null) {
    closing.closeCircle([handling.cell.address, ...addressesOf(closed)]);
    return true;
  }
  const way = graph.wayBack(needsOf(handling));
  if (way === null) return false;
  for (const isQueued of [true, false]) {
    for (let last = way.length - 1; last >= 0; last--) {
      const from = way[last === 0 ? way.length - 1 : last - 1];
      const to = way[last];
      if (from === undefined || to === undefined || from.parkedFor !== null) continue;
      const wait = [...from.waits()].find((each) => isQueued !== isHandled(each) && leadsTo(each, to));
      if (wait === undefined) continue;
      const path = addressesOf([...way.slice(last), ...way.slice(0, last)]);
      wait.closeCircle([from.cell.address, ...path]);
      return true;
    }
  }
  return false;
}

const leadsTo = (wait: Wait, handling: Handling): boolean => handlingsIn(needOf(wait.cell, wait)).includes(handling);

/** Whether a handler has it, or it went to several actors. */
const isHandled = (wait: Wait): boolean =>
  (wait.cell.extras?.relay ?? null) !== null || handlingOf(wait.cell, wait) !== undefined;

const handlingOf = (cell: Cell, wait: Wait): Handling | undefined =>
  cell.handlings.find((each) => isOf(wait, each.envelope) && each.passedOn === null);

const addressesOf = (way: readonly Handling[]): Address[] => way.map(({ cell }) => cell.address);

/**
 * What has to end before an actor takes a message, or, of one that it was sent, before it is handled: the handling that has
 * it, or one of those before it; of one that went to several actors, what each of them needs.
 */
function needOf(to: Cell, wait: Wait | null): Need {
  const relay = to.extras?.relay ?? null;
  if (relay !== null) {
    const { parts, isOneEnough } = relay.recipients(wait);
    return { isOneEnough, of: parts.map((part) => needOf(part.cell, part.wait)) };
  }
  return (wait === null ? undefined : handlingOf(to, wait)) ?? roomIn(to);
}

/** What has to end before an actor has room for a message; nothing where it has. */
function roomIn({ extras }: Cell): Need {
  const { handling = null, concurrency = null } = extras ?? {};
  const of: Need[] = handling === null ? [] : [handling];
  if (concurrency?.isFull === true) of.push({ isOneEnough: true, of: [...concurrency.running] });
  return { isOneEnough: false, of };
}

/** What a handling waits for: it can go on when one of these has ended. */
function needsOf(handling: Handling): readonly Need[] {
  if (handling.parkedFor !== null) return [handling.parkedFor];
  return [...handling.waits()].map((wait) => needOf(wait.cell, wait));
}

function handlingsIn(need: Need): Handling[] {
  return "of" in need ? need.of.flatMap(handlingsIn) : [need];
}

function isStuckIn(need: Need, stuck: Stuck): boolean {
  if (!("of" in need)) return stuck.has(need);
  const { isOneEnough, of } = need;
  if (!isOneEnough) return of.some((each) => isStuckIn(each, stuck));
  return of.length > 0 && of.every((each) => isStuckIn(each, stuck));
}

/** All handlings that one waits for, directly or by others, and those of them that cannot go on. */
class Graph {
  readonly stuck: Stuck;
  readonly #own: Handling;
  readonly #needs = new Map<Handling, readonly Need[]>();

  /** @param needs what the handling in question waits for. */
  constructor(own: Handling, needs: readonly Need[]) {
    this.#own = own;
    this.#needs.set(own, needs);
    this.stuck = new Set([own]);
    for (const handling of this.stuck) {
      for (const need of this.#needsOf(handling)) for (const next of handlingsIn(need)) this.stuck.add(next);
    }
    this.#removeFree();
  }

  #needsOf(handling: Handling): readonly Need[] {
    let needs = this.#needs.get(handling);
    if (needs === undefined) {
      needs = needsOf(handling);
      this.#needs.set(handling, needs);
    }
    return needs;
  }

  /** Takes out what will go on by itself, until only those are left that wait for each other. */
  #removeFree(): void {
    let before = -1;
    while (before !== this.stuck.size) {
      before = this.stuck.size;
      // Backwards: a chain comes apart from its end.
      for (const handling of [...this.stuck].reverse()) {
        const needs = this.#needsOf(handling);
        if (needs.length === 0 || !needs.every((need) => this.isStuck(need))) this.stuck.delete(handling);
      }
    }
  }

  isStuck(need: Need): boolean {
    return isStuckIn(need, this.stuck);
  }

  /** The shortest way from what the handling in question waits for back to it, by handlings that are stuck. */
  wayBack(first: readonly Need[]): Handling[] | null {
    const cameFrom = new Map<Handling, Handling | null>();
    const add = (need: Need, from: Handling | null): void => {
      for (const handling of handlingsIn(need)) {
        if (this.stuck.has(handling) && !cameFrom.has(handling)) cameFrom.set(handling, from);
      }
    };
    for (const need of first) add(need, null);
    for (const handling of cameFrom.keys()) {
      if (handling === this.#own) return wayTo(handling, cameFrom);
      for (const need of this.#needsOf(handling)) add(need, handling);
    }
    return null; // Those it waits for are stuck without it.
  }
}

function wayTo(last: Handling, cameFrom: ReadonlyMap<Handling, Handling | null>): Handling[] {
  const way: Handling[] = [];
  for (let handling: Handling | null = last; handling !== null; handling = cameFrom.get(handling) ?? null) {
    way.push(handling);
  }
  return way.reverse();
}
