import type { Address } from "../message/address";
import type { Cell } from "./cell";
import type { Envelope } from "./envelope";
import type { Handling, Wait } from "./handling";
import type { Recipients } from "./relay";

/** Handlings of which one has to end. */
type Group = readonly Handling[];

/** Handlings that cannot end. */
type Stuck = Set<Handling>;

/**
 * The circle of waiting actors that an ask from one to another would close (P8), from the asker and back to it; null
 * when there is none. A search of the graph of who waits for whom, as in E. G. Coffman et al., "System Deadlocks", ACM
 * Computing Surveys 3(2), 1971; the graph is in memory, so that the search is exact and done before the ask is sent.
 * Written with loops, because a chain of actors that wait may be longer than the stack.
 */
export function circleOf(asker: Cell, to: Cell, handling: Handling): Address[] | null {
  const groups = groupsBefore(to, null);
  if (groups.length === 0) return null; // It can take the message now.
  const stuck = reachedFrom(groups, handling);
  removeFree(stuck, handling);
  return isStuck(groups, stuck) ? pathBack(asker, groups, handling, stuck) : null;
}

/** The groups of handlings of which one each has to end before an actor takes a message; none where it can take one now. */
function groupsOf({ extras }: Cell): Group[] {
  if (extras === null) return [];
  const { handling, concurrency } = extras;
  const groups: Group[] = handling === null ? [] : [[handling]];
  if (concurrency?.isFull === true) groups.push([...concurrency.running]);
  return groups;
}

/** The same for a message that went to several actors: each has to take it, or one of them. */
function groupsOfAll({ cells, isOneEnough }: Recipients): Group[] {
  const groups = cells.map(groupsOf);
  if (!isOneEnough) return groups.flat();
  // Each actor with the group that it waits for first: exact but for one whose hook waits while all of its slots are taken.
  const first = groups.map(([group]) => group);
  return first.every((group) => group !== undefined) && first.length > 0 ? [first.flat()] : [];
}

/**
 * What has to end before an actor takes a message, or, of one that it was sent, before it is handled: the handling that has
 * it, or one of those before it.
 */
function groupsBefore(to: Cell, wait: Wait | null): Group[] {
  const relay = to.extras?.relay ?? null;
  if (relay !== null) return groupsOfAll(relay.recipients(wait));
  if (wait === null) return groupsOf(to);
  const handling = to.handlings.find(({ envelope, passedOn }) => isOf(wait, envelope) && passedOn === null);
  return handling === undefined ? groupsOf(to) : [[handling]];
}

/** A wait is the envelope that was sent. */
const isOf = (wait: Wait, envelope: Envelope | Wait): boolean => wait === envelope;

const isStuck = (groups: readonly Group[], stuck: Stuck): boolean =>
  groups.some((group) => group.every((handling) => stuck.has(handling)));

/** All handlings that are waited for, directly or by others. */
function reachedFrom(groups: readonly Group[], own: Handling): Stuck {
  const reached: Stuck = new Set();
  const open: Group[] = [...groups];
  for (let group = open.pop(); group !== undefined; group = open.pop()) {
    for (const handling of group) {
      if (reached.has(handling)) continue;
      reached.add(handling);
      if (handling !== own) for (const wait of handling.waits()) open.push(...groupsBefore(wait.cell, wait));
    }
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
      if (handling === own || [...handling.waits()].some((wait) => isStuck(groupsBefore(wait.cell, wait), stuck)))
        continue;
      stuck.delete(handling);
    }
  }
}

/** The shortest way from who is asked to the handling that asks, by handlings that are stuck. */
function pathBack(asker: Cell, groups: readonly Group[], own: Handling, stuck: Stuck): Address[] | null {
  const cameFrom = new Map<Handling, Handling | null>();
  const add = (behind: readonly Group[], from: Handling | null): void => {
    for (const handling of behind.flat()) {
      if (stuck.has(handling) && !cameFrom.has(handling)) cameFrom.set(handling, from);
    }
  };
  add(groups, null);
  for (const handling of cameFrom.keys()) {
    if (handling === own) return [asker.address, ...wayTo(own, cameFrom)];
    for (const wait of handling.waits()) add(groupsBefore(wait.cell, wait), handling);
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
