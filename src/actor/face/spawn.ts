import { address, addressUnder, idOf, isPlainName, MAX_ID_LENGTH, quote } from "../../message/address";
import { sentenceOf } from "../../message/sentence-of";
import { loadCompiler } from "../../protocol/compiler";
import type { Protocol } from "../../protocol/protocol";
import { PriorityMailbox } from "../../runtime/priority-mailbox";
import { hearRejection, isThenable } from "../../runtime/thenable";
import { MailboxBound } from "../cell/admission";
import { type ActorEnvironment, Cell } from "../cell/cell";
import { endInstance, guard } from "../cell/transitions";
import type { Behaviour, Envelope } from "../contract";
import { Concurrency } from "../envelopes/handling";
import { Signal } from "../envelopes/signal";
import { proceed, start, stop } from "../life/lifecycle";
import { type ActorOptions, checkActorOptions, NO_OPTIONS } from "../options";
import { type Ref, refTo } from "../refs/ref";
import { policyOf } from "../supervision";
import type { Factory } from "./context";

/**
 * The name of an actor until its address is read: a plain name of a child stays as it is, any other name becomes the
 * address. Writing the address of each child and keeping it in a map took a third of the cost of a child of skynet.
 */
function calledBelow(parent: Cell | null, name: string, isPlain: boolean): string {
  if (parent === null) return isPlain ? `@(${name})` : address(name);
  const isShort = isPlain && parent.addressLength + name.length <= MAX_ID_LENGTH;
  return isShort ? name : address(`${idOf(parent.address)}/${name}`);
}

/**
 * Refuses an address that is in use, or a system that has shut down.
 *
 * @param name what `calledBelow` gave.
 */
export function claim(environment: ActorEnvironment, parent: Cell | null, name: string, isPlain: boolean): void {
  // A parent that is still alive may spawn until its own phase comes; its children end then.
  if (environment.isClosed && parent === null) {
    throw new Error(`Nothing can be added at ${name}: the system has shut down; create another one.`);
  }
  if (environment.directory.isTaken(parent, name, isPlain)) {
    const wanted = addressBelow(parent, name);
    throw new Error(`${wanted} is in use; stop that actor first and wait for it, or choose another name.`);
  }
}

const addressBelow = (parent: Cell | null, name: string): string =>
  parent === null ? name : addressUnder(parent.address, name);

/** Makes an actor under a parent, or at the root, and starts it. */
export function spawnCell<Signatures>(
  environment: ActorEnvironment,
  parent: Cell | null,
  name: string,
  protocol: Protocol<string, Signatures>,
  factory: NoInfer<Factory<Signatures>>,
  options: ActorOptions = NO_OPTIONS,
): Ref<Signatures> {
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of ${quote(name)} is what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  const isPlain = isPlainName(name);
  const called = calledBelow(parent, name, isPlain);
  if (parent !== null && !parent.isAlive) {
    throw new Error(`${parent.address} is stopping and cannot spawn ${addressBelow(parent, called)}.`);
  }
  if (typeof factory !== "function") {
    const of = addressBelow(parent, called);
    throw new TypeError(`The factory of ${of} is a function that returns its handlers; got ${quote(factory)}.`);
  }
  if (options !== NO_OPTIONS) checkActorOptions(options, addressBelow(parent, called));
  claim(environment, parent, called, isPlain);
  // The factory gets a context of its own protocol, whose type the cell does not know.
  const cell = new Cell(environment, called, parent, protocol.operations, factory as unknown as Factory<never>);
  environment.directory.add(cell, isPlain);
  if (options !== NO_OPTIONS) equip(cell, options);
  begin(cell);
  return refTo(cell);
}

/** Makes the first instance of an actor. Rethrows the error of its factory. */
export function begin(cell: Cell, behaviour?: Behaviour): void {
  const { environment } = cell;
  try {
    const made = behaviour ?? environment.engine.makeBehaviour(cell);
    if (environment.events.hasSubscribers) environment.events.publish({ kind: "started", address: cell.address });
    start(cell, made);
  } catch (thrown) {
    // Messages that came while it was made are dead-lettered. Its children stop as usual, and it stays until they have
    // (P13).
    endInstance(cell, null); // No instance began, so none ends.
    stop(cell, false);
    if (!cell.isStopped) proceed(cell);
    throw thrown;
  }
}

/** Applies the options of an actor before it begins. */
export function equip(cell: Cell, options: ActorOptions): void {
  const {
    capacity,
    overflow = "reject",
    priority,
    concurrency = 1,
    validate,
    stashCapacity,
    supervision,
    phase,
  } = options;
  const { extra } = cell;
  if (capacity !== undefined) {
    extra.bound = new MailboxBound(capacity, overflow);
    guard(cell);
  }
  if (priority !== undefined) {
    cell.queue = new PriorityMailbox<Envelope>((envelope) =>
      envelope instanceof Signal ? null : priorityOf(cell, priority, envelope),
    );
    guard(cell);
  }
  if (validate === "always") {
    extra.validates = true;
    loadCompiler(); // Now, not at the first message: by then no file descriptor may be left to read it.
    guard(cell);
  }
  if (concurrency > 1) extra.concurrency = new Concurrency(concurrency);
  if (stashCapacity !== undefined) extra.stashCapacity = stashCapacity;
  if (supervision !== undefined) extra.policy = policyOf(supervision);
  if (phase !== undefined) extra.phase = phase;
}

function priorityOf(cell: Cell, priority: NonNullable<ActorOptions["priority"]>, envelope: Envelope): number {
  let wrong: string;
  let cause: unknown;
  try {
    const found: unknown = priority(envelope.type, envelope.payload);
    if (typeof found === "number" && !Number.isNaN(found)) return found;
    hearRejection(found, () => {}); // The log below reports it.
    wrong = isThenable(found) ? "got a promise" : `got ${quote(found)}`;
  } catch (thrown) {
    wrong = `it threw ${sentenceOf(thrown)}`;
    cause = thrown;
  }
  cell.environment.logger.error(
    `The priority of ${quote(envelope.type)} to ${cell.address} is a number; ${wrong}, which counts as 0.`,
    { address: cell.address, cause },
  );
  return 0;
}
