import type { Address } from "../message/address";
import type { Cell } from "./cell";
import { type Handling, isOf, type Wait } from "./handling";

/** What has to come to its end: a handling, all of several, or one of them. */
type Need = Handling | { readonly isOneEnough: boolean; readonly of: readonly Need[] };

/** Handlings that cannot end. */
type Stuck = Set<Handling>;

/**
 * The circle of waiting actors that an ask from one to another would close (P8), from the asker and back to it; null
 * when there is none. A search of the graph of who waits for whom, as in E. G. Coffman et al., "System Deadlocks", ACM
 * Computing Surveys 3(2), 1971; the graph is in memory, so that the search is exact and done before the ask is sent.
 * Written with loops, because a chain of actors that wait may be longer than the stack.
 */
export function circleOf(asker: Cell, to: Cell, handling: Handling): Address[] | null {
  if (to.extras === null) return null; // Most can take a message now, and are seen to at once.
  const need = needOf(to, null);
  const stuck = reachedFrom(need, handling);
  if (stuck.size === 0) return null;
  removeFree(stuck, handling);
  return isStuck(need, stuck) ? pathBack(asker, need, handling, stuck) : null;
}

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
  const own =
    wait === null ? undefined : to.handlings.find((each) => isOf(wait, each.envelope) && each.passedOn === null);
  return own ?? roomIn(to);
}

/** What has to end before an actor has room for a message; nothing where it has. */
function roomIn({ extras }: Cell): Need {
  const { handling = null, concurrency = null } = extras ?? {};
  const of: Need[] = handling === null ? [] : [handling];
  if (concurrency?.isFull === true) of.push({ isOneEnough: true, of: [...concurrency.running] });
  return { isOneEnough: false, of };
}

function handlingsIn(need: Need): Handling[] {
  return "of" in need ? need.of.flatMap(handlingsIn) : [need];
}

function isStuck(need: Need, stuck: Stuck): boolean {
  if (!("of" in need)) return stuck.has(need);
  const { isOneEnough, of } = need;
  if (!isOneEnough) return of.some((each) => isStuck(each, stuck));
  return of.length > 0 && of.every((each) => isStuck(each, stuck));
}

/** All handlings that are waited for, directly or by others. */
function reachedFrom(need: Need, own: Handling): Stuck {
  const reached: Stuck = new Set(handlingsIn(need));
  for (const handling of reached) {
    if (handling === own) continue;
    for (const wait of handling.waits()) for (const next of handlingsIn(needOf(wait.cell, wait))) reached.add(next);
  }
  return reached;
}

/** Takes out what will end by itself, until only those are left that wait for each other. */
function removeFree(stuck: Stuck, own: Handling): void {
  let before = -1;
  while (before !== stuck.size) {
    before = stuck.size;
    // Backwards: a chain comes apart from its end.
    for (const handling of [...stuck].reverse()) {
      if (handling === own || [...handling.waits()].some((wait) => isStuck(needOf(wait.cell, wait), stuck))) continue;
      stuck.delete(handling);
    }
  }
}

/** The shortest way from who is asked to the handling that asks, by handlings that are stuck. */
function pathBack(asker: Cell, need: Need, own: Handling, stuck: Stuck): Address[] | null {
  const cameFrom = new Map<Handling, Handling | null>();
  const add = (behind: Need, from: Handling | null): void => {
    for (const handling of handlingsIn(behind)) {
      if (stuck.has(handling) && !cameFrom.has(handling)) cameFrom.set(handling, from);
    }
  };
  add(need, null);
  for (const handling of cameFrom.keys()) {
    if (handling === own) return [asker.address, ...wayTo(own, cameFrom)];
    for (const wait of handling.waits()) add(needOf(wait.cell, wait), handling);
  }
  return null; // Those it would wait for are stuck without it.
}

function wayTo(last: Handling, cameFrom: ReadonlyMap<Handling, Handling | null>): Address[] {
  const path: Address[] = [];
  for (let handling: Handling | null = last; handling !== null; handling = cameFrom.get(handling) ?? null) {
    path.push(handling.cell.address);
  }
  return path.reverse();
}
