import type { Address } from "../../message/address";
import type { Envelope, Recipient, Recipients, Wait, Waiter } from "../contract";
import { recipientsOf } from "./envelope";
import {
  addressesOf,
  Graph,
  handlingOf,
  isHandling,
  type Node,
  needOf,
  needsOf,
  nodesIn,
  StopWait,
} from "./wait-graph";

/**
 * The circle of waiting actors that an ask would close (P8), from the asker back to it; null when there is none. Uses
 * loops, because a chain of waiting actors may be longer than the stack.
 *
 * @param moved the wait of the asker that is handed on to the other actor; null for a new one.
 */
export function circleOf(
  asker: Recipient,
  to: Recipient,
  handling: Waiter,
  moved: Wait | null = null,
): Address[] | null {
  if (to.soleHandling === null && !to.isRestarting) return null; // The common case: it can take a message now.
  const need = needOf(to, null);
  if (nodesIn(need).length === 0) return null;
  const others = [...handling.waits()].filter((wait) => wait !== moved);
  const above = need === to && others.length === 0 ? circleAbove(handling, to) : null;
  if (above !== null) return above;
  let graph = new Graph(handling, [need]);
  if (!graph.isStuck(need)) return null;
  if (others.length > 0) {
    graph = new Graph(handling, [need, ...others.map((wait) => needOf(wait.cell, wait))]);
    if (!graph.isStuck(need)) return null; // Its other waits may be enough.
  }
  const way = graph.wayBack([need]);
  return way === null ? null : [asker.address, ...addressesOf(way)];
}

/**
 * The circle of a handling that waits for its own actor, or for an ancestor, whose restart waits for the handling; null
 * for any other. In a graph, 1,000 children that ask their parent take two seconds, because each search visits all of
 * them.
 */
function circleAbove(handling: Waiter, to: Recipient): Address[] | null {
  let { cell } = handling;
  if (handling.isBackground) return null; // A restart does not wait for it.
  const way = [cell.address];
  while (cell !== to) {
    const { parent } = cell;
    if (parent?.isStoppingChildren !== true) return null;
    way.unshift(parent.address);
    cell = parent;
  }
  return [handling.cell.address, ...way];
}

/**
 * Checks later if a handling waits for itself: by a new wait, by a wait that ended and left others that cannot end, or
 * as a producer without credit. The check runs after the event loop has had its turn: until then the handler may ask
 * another actor, go on, or end.
 *
 * @param closing the new wait, which is refused then.
 */
export function lookForCircle(handling: Waiter, closing: Wait | null = null): void {
  if (!handling.isLookDue && mayBeStuck(handling)) lookLater(handling, closing);
}

/** Does the same for many calls in one turn: it skips the test that the handling may be stuck. */
export function lookLater(handling: Waiter, closing: Wait | null = null): void {
  if (handling.isOver || handling.isLookDue) return;
  handling.isLookDue = true;
  const { clock, settling } = handling.cell.environment;
  const look = (): void => {
    handling.isLookDue = false;
    // A handling that needs all of several actors may be in several circles.
    while (mayBeStuck(handling) && breakCircle(handling, closing));
  };
  // Spent from the turn (P5): a restart checks every handling that it waits for.
  clock.macrotask(() => settling.settle(look, undefined));
}

/**
 * A wait has ended: the others of its handling may be stuck. Its error may be kept, but keeps no handler alive (P14).
 */
export function waitEnds(wait: Wait): void {
  const { waiter } = wait;
  wait.waiter = null;
  if (waiter?.isSeveral === true) lookForCircle(waiter);
}

/**
 * A handler begins to wait for an item. Its producer, or a message before it in the mailbox, may wait for the handler.
 */
export function readerWaits(stream: Envelope & Wait, reader: Waiter): void {
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

/**
 * An actor that restarts or stops begins to wait for others: each handling among them may wait for it. A handling that
 * ends when told of the stop does so before the check.
 */
export function waitsForEnd(actor: Recipient): void {
  const ending = [actor];
  for (const each of ending) {
    for (const node of each.awaited) {
      if (isHandling(node)) lookForCircle(node);
      else ending.push(node);
    }
  }
}

/**
 * False when the handling can clearly go on. Allocates nothing: with several asks at once, it runs whenever one has
 * settled.
 */
function mayBeStuck(handling: Waiter): boolean {
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
  const { isRestarting, soleHandling } = wait.cell;
  if (isRestarting) return true;
  if (wait instanceof StopWait) return wait.cell.awaited.some(mayNodeBeHeldUp);
  const recipients = recipientsOf(wait.cell, wait);
  if (recipients !== null) return mayAllBeHeldUp(recipients);
  if (soleHandling !== undefined) return soleHandling?.isWaiting === true;
  return nodesIn(needOf(wait.cell, wait)).some(mayNodeBeHeldUp);
}

const mayNodeBeHeldUp = (node: Node): boolean => !isHandling(node) || node.isWaiting;

/** Stops at the first that decides: there may be thousands, and one that goes on is enough. */
function mayAllBeHeldUp({ parts, isOneEnough }: Recipients): boolean {
  let isHeldUp = false;
  for (const { wait } of parts) {
    isHeldUp = wait !== null && mayBeHeldUp(wait);
    if (isHeldUp !== isOneEnough) break;
  }
  return isHeldUp;
}

/**
 * Refuses the wait that closed a circle, or else its last wait that is still in a mailbox: no handler has begun on it.
 *
 * @returns whether there was one.
 */
function breakCircle(handling: Waiter, closing: Wait | null): boolean {
  const [only, another] = handling.parkedFor === null ? handling.waits() : [];
  if (only !== undefined && another === undefined && needOf(only.cell, only) === only.cell) {
    const above = circleAbove(handling, only.cell);
    if (above !== null) only.closeCircle(above);
    if (above !== null) return true;
  }
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
      if (!isHandling(from) || to === undefined || from.parkedFor !== null) continue;
      const wait = [...from.waits()].find((each) => isQueued !== isHandled(each) && leadsTo(each, to));
      if (wait === undefined) continue;
      const path = addressesOf([...way.slice(last), ...way.slice(0, last)]);
      wait.closeCircle([from.cell.address, ...path]);
      return true;
    }
  }
  return false;
}

/** True when a wait can be refused, and ends at that node. A stop goes on, whoever waits for it. */
const leadsTo = (wait: Wait, node: Node): boolean =>
  !(wait instanceof StopWait) && nodesIn(needOf(wait.cell, wait)).includes(node);

/** True when a handler has it, or it went to several actors. */
const isHandled = (wait: Wait): boolean =>
  recipientsOf(wait.cell, wait) !== null || handlingOf(wait.cell, wait) !== undefined;
