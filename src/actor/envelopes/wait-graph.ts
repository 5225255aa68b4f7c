import type { Address } from "../../message/address";
import type { Recipient, Wait, Waiter } from "../contract";
import { recipientsOf } from "./envelope";
import { Handling } from "./handling";

/** Part of a graph of waits: a handling that has to end, or an actor that has to begin anew or to stop. */
export type Node = Waiter | Recipient;

/** Something that must end: a node, all of several, or one of them. */
type Need = Node | { readonly isOneEnough: boolean; readonly of: readonly Need[] };

// The waits form a graph, as in E. G. Coffman et al., "System Deadlocks", ACM Computing Surveys 3(2), 1971. The graph
// is in memory, so the search is exact. Nobody can see which promises a handler awaits, so these rules hold. A handling
// with one wait needs that one. With several, any of them may be enough, as in Promise.race. A producer without credit
// needs its reader. An actor that restarts needs the end of its handlings, and of the children that it stops. A
// handling is stuck when everything that could let it go on is stuck.

/** A handler's wait for the stop of an actor. No sender waits for it, and no search for deadlocks refuses it. */
export class StopWait implements Wait {
  readonly cell: Recipient;
  isOpen = true;
  nextWait: Wait | null = null;
  waiter: Waiter | null = null;

  constructor(cell: Recipient) {
    this.cell = cell;
  }

  get isWaiting(): boolean {
    return this.isOpen;
  }

  /** The handler's sender gave up, or the handler has ended. In the first case the handler still awaits the stop. */
  endWith(): void {
    const { waiter } = this;
    if (waiter !== null && !waiter.isOver) {
      waiter.add(this);
      return;
    }
    this.isOpen = false;
    this.waiter = null;
  }

  closeCircle(): void {
    throw new Error(`The stop of ${this.cell.address} cannot be refused.`);
  }
}

/** True when a node is a handling. */
export const isHandling = (node: Node | undefined): node is Waiter => node instanceof Handling;

/** The actors that would pass a message on, such as pools, from the last one up. By its address, one may lead back to itself. */
interface Passing {
  readonly to: Recipient;
  readonly above: Passing | null;
}

const NOTHING: Need = { isOneEnough: true, of: [] };

function isOn(passing: Passing | null, to: Recipient): boolean {
  for (let each = passing; each !== null; each = each.above) if (each.to === to) return true;
  return false;
}

/**
 * The needs of an actor before it takes a message, or before it handles one that was sent: the handling that has the
 * message, or one of those before it. For a message to several actors, the needs of each. For a stop, the actor.
 */
export function needOf(to: Recipient, wait: Wait | null, above: Passing | null = null): Need {
  if (wait instanceof StopWait) return to;
  const recipients = recipientsOf(to, wait);
  if (recipients !== null) {
    if (wait === null && isOn(above, to)) return NOTHING; // It is refused when it is sent.
    const { parts, isOneEnough } = recipients;
    const passing = { to, above };
    const of = [...parts].map((part) => needOf(part.cell, part.wait, passing));
    if (to.isAlive || (wait !== null && of.length > 0)) return { isOneEnough, of };
  }
  return (wait === null ? undefined : handlingOf(to, wait)) ?? roomIn(to);
}

/** The handlings that must end before an actor has room for a message; none when it has. */
function roomIn(to: Recipient): Need {
  if (to.isRestarting) return to;
  return { isOneEnough: false, of: to.occupants.map((group) => ({ isOneEnough: true, of: group })) };
}

/** The handling that has the message of a wait. */
export function handlingOf(cell: Recipient, wait: Wait): Waiter | undefined {
  const handling = cell.handlingOf(wait);
  return handling === null || handling.passedOn !== null ? undefined : handling;
}

/** The needs of a node: it can go on when one of them has ended. */
export function needsOf(node: Node): readonly Need[] {
  if (!isHandling(node)) return [{ isOneEnough: false, of: node.awaited }];
  if (node.parkedFor !== null) return [node.parkedFor];
  return [...node.waits()].map((wait) => needOf(wait.cell, wait));
}

export function nodesIn(need: Need): Node[] {
  return "of" in need ? need.of.flatMap(nodesIn) : [need];
}

/** The addresses on a path. An actor directly before its own handling is named once. */
export const addressesOf = (way: readonly Node[]): Address[] =>
  way.filter((node, i) => isHandling(node) || actorOf(way[i + 1]) !== node).map((node) => actorOf(node).address);

function actorOf(node: Node): Recipient;
function actorOf(node: Node | undefined): Recipient | undefined;
function actorOf(node: Node | undefined): Recipient | undefined {
  return isHandling(node) ? node.cell : node;
}

/** All nodes that a handling waits for, directly or through others, and those of them that are stuck. */
export class Graph {
  readonly stuck: Set<Node>;
  readonly #own: Waiter;
  readonly #needs = new Map<Node, readonly Need[]>();

  /** @param needs what the handling in question waits for. */
  constructor(own: Waiter, needs: readonly Need[]) {
    this.#own = own;
    this.#needs.set(own, needs);
    this.stuck = new Set([own]);
    for (const node of this.stuck) {
      for (const need of this.#needsOf(node)) for (const next of nodesIn(need)) this.stuck.add(next);
    }
    this.#removeFree();
  }

  #needsOf(node: Node): readonly Need[] {
    let needs = this.#needs.get(node);
    if (needs === undefined) {
      needs = needsOf(node);
      this.#needs.set(node, needs);
    }
    return needs;
  }

  /** Removes the nodes that will go on by themselves, until only those are left that wait for each other. */
  #removeFree(): void {
    let before = -1;
    while (before !== this.stuck.size) {
      before = this.stuck.size;
      // Backwards: a chain is resolved from its end.
      for (const node of [...this.stuck].reverse()) {
        const needs = this.#needsOf(node);
        if (needs.length === 0 || !needs.every((need) => this.isStuck(need))) this.stuck.delete(node);
      }
    }
  }

  isStuck(need: Need): boolean {
    if (!("of" in need)) return this.stuck.has(need);
    const { isOneEnough, of } = need;
    if (!isOneEnough) return of.some((each) => this.isStuck(each));
    return of.length > 0 && of.every((each) => this.isStuck(each));
  }

  /** The shortest path from the needs of the handling in question back to it, over stuck nodes. */
  wayBack(first: readonly Need[]): Node[] | null {
    const cameFrom = new Map<Node, Node | null>();
    const add = (need: Need, from: Node | null): void => {
      for (const node of nodesIn(need)) {
        if (this.stuck.has(node) && !cameFrom.has(node)) cameFrom.set(node, from);
      }
    };
    for (const need of first) add(need, null);
    for (const node of cameFrom.keys()) {
      if (node === this.#own) return wayTo(node, cameFrom);
      for (const need of this.#needsOf(node)) add(need, node);
    }
    return null; // The nodes it waits for are stuck without it.
  }
}

function wayTo(last: Node, cameFrom: ReadonlyMap<Node, Node | null>): Node[] {
  const way: Node[] = [];
  for (let node: Node | null = last; node !== null; node = cameFrom.get(node) ?? null) way.push(node);
  return way.reverse();
}
