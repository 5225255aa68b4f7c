import type { ActorView, AnyRef, System } from "../../index";
import { patternOf } from "./names";
import type { Numbers } from "./shapes";

/** Siblings whose names have one pattern. */
export class Group implements Numbers {
  readonly pattern: string;
  readonly family: Family;
  members: Known[] = [];
  queued = 0;
  rate = 0;
  handled = 0;
  failed = 0;
  restarts = 0;
  /** The number of members that are held back, or restart. */
  troubled = 0;
  /** The look at which its numbers began from 0. */
  look = 0;

  constructor(pattern: string, family: Family) {
    this.pattern = pattern;
    this.family = family;
  }

  add(actor: Known, look: number): void {
    if (this.look !== look) {
      this.look = look;
      this.members = [];
      this.queued = this.rate = this.handled = this.failed = this.restarts = this.troubled = 0;
    }
    this.members.push(actor);
    this.queued += actor.queued;
    this.rate += actor.rate;
    this.handled += actor.handled;
    this.failed += actor.failed;
    this.restarts += actor.restarts;
    if (actor.isTroubled) this.troubled++;
  }
}

/** The children of one actor, or the actors without a parent. */
export class Family {
  /** Undefined for the actors without a parent. */
  readonly parent: Known | undefined;
  readonly groups = new Map<string, Group>();

  constructor(parent: Known | undefined) {
    this.parent = parent;
  }

  groupOf(name: string): Group {
    const pattern = patternOf(name);
    let group = this.groups.get(pattern);
    if (group === undefined) {
      group = new Group(pattern, this);
      this.groups.set(pattern, group);
    }
    return group;
  }
}

/** An actor with its numbers at the last look. */
export class Known implements Numbers {
  readonly view: ActorView;
  readonly ref: AnyRef;
  readonly name: string;
  readonly group: Group;
  /** Its children; null while it has never had any. */
  family: Family | null = null;
  queued = 0;
  /** Messages handled in a second. */
  rate = 0;
  handled = 0;
  failed = 0;
  restarts = 0;
  isTroubled = false;

  constructor(view: ActorView, family: Family) {
    this.view = view;
    this.ref = view.ref;
    this.name = view.name;
    this.group = family.groupOf(this.name);
  }

  /** Its address without the parentheses. It is written anew each time: most are never shown. */
  get path(): string {
    const { parent } = this.group.family;
    return parent === undefined ? this.name : `${parent.path}/${this.name}`;
  }

  /** @param perSecond turns a number since the last look into a rate. */
  read(perSecond: number): void {
    const { view } = this;
    const { handled, state } = view;
    this.rate = (handled - this.handled) * perSecond;
    this.handled = handled;
    this.queued = view.queued;
    this.failed = view.failed;
    this.restarts = view.restarts;
    this.isTroubled = state === "held" || state === "restarting";
  }
}

/**
 * Counts the actors of a system again and again, a few at a time. What is known of an actor is kept from one look to the next, so that a look
 * makes nothing but what has changed. Between two looks the tree is whole.
 */
export class Census {
  readonly #system: System;
  readonly roots = new Family(undefined);
  /** All actors of the last look, each before its children. */
  known: Known[] = [];
  queued = 0;
  rate = 0;
  #looks = 0;
  #before: Known[] = [];
  /** The next one in `#before`. Actors that live on keep their order. */
  #next = 0;
  #perSecond = 0;
  /** The actor that was seen last, and those above it. */
  #above: Known[] = [];
  #actors: Iterator<ActorView> | null = null;

  constructor(system: System) {
    this.#system = system;
  }

  /** @param perSecond turns a number since the last look into a rate; 0 at the first look. */
  begin(perSecond: number): void {
    this.#looks++;
    this.#before = this.known;
    this.#next = 0;
    this.#perSecond = perSecond;
    this.#above = [];
    this.#actors = this.#system.actors();
    this.known = [];
    this.queued = this.rate = 0;
  }

  /** Looks at some more actors. True when it has seen all. */
  look(most: number): boolean {
    const actors = this.#actors;
    if (actors === null) return true;
    for (let count = 0; count < most; count++) {
      const step = actors.next();
      if (step.done === true) {
        this.#end();
        return true;
      }
      this.#see(step.value);
    }
    return false;
  }

  #see(view: ActorView): void {
    const { ref, parent } = view;
    const before = this.#before;
    let known = before[this.#next];
    while (known?.view.isStopped === true) known = before[++this.#next];
    const above = this.#above;
    while (above.length > 0 && above.at(-1)?.ref !== parent) above.pop();
    if (known?.ref === ref) this.#next++;
    else known = new Known(view, this.#familyOf(above.at(-1)));
    above.push(known);
    known.read(this.#perSecond);
    known.group.add(known, this.#looks);
    this.known.push(known);
    this.queued += known.queued;
    this.rate += known.rate;
  }

  #familyOf(parent: Known | undefined): Family {
    if (parent === undefined) return this.roots;
    parent.family ??= new Family(parent);
    return parent.family;
  }

  /** Lets go of the groups and actors that are no more. */
  #end(): void {
    this.#actors = null;
    for (const known of this.#before) {
      const { pattern, family, look } = known.group;
      if (look !== this.#looks) family.groups.delete(pattern);
      if (known.family?.groups.size === 0) known.family = null;
    }
    this.#before = [];
    this.#above = [];
  }
}
