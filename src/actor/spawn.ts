import { type Address, address, idOf, quote } from "../message/address";
import type { Message } from "../message/message";
import type { Protocol } from "../protocol/protocol";
import type { AskName, ItemOf, PayloadArgs, ReplyOf, StreamName } from "../protocol/signatures";
import { type Behaviour, Cell, type HandlerTable } from "./cell";
import type { Context, Factory } from "./context";
import { isMessage, messageIn } from "./envelope";
import type { Environment } from "./environment";
import type { AskOptions, AskResult } from "./pending-ask";
import { type AnyRef, type AnySignatures, cellOf, type Ref, refTo } from "./ref";
import { askAsWritten, streamAsWritten, tell } from "./sending";
import type { ActorStream, StreamOptions } from "./stream";

/** Refuses an address that is in use, or a system that has shut down. */
export function claim(environment: Environment, wanted: Address): Address {
  if (environment.isClosed) {
    throw new Error(`Nothing can be added at ${wanted}: the system has shut down; create another one.`);
  }
  if (environment.cells.has(wanted)) {
    throw new Error(`${wanted} is in use; stop that actor first and wait for it, or choose another name.`);
  }
  return wanted;
}

/** Makes an actor under a parent, or at the root, and starts it. */
export function spawnCell<Signatures>(
  environment: Environment,
  parent: Cell | null,
  name: string,
  protocol: Protocol<string, Signatures>,
  factory: Factory<Signatures>,
): Ref<Signatures> {
  if (typeof protocol?.operations !== "object") {
    throw new TypeError(`The protocol of ${quote(name)} is what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  const wanted = address(parent === null ? name : `${idOf(parent.address)}/${name}`);
  if (parent !== null && !parent.isAlive) {
    throw new Error(`${parent.address} is stopping and cannot spawn ${wanted}.`);
  }
  const cell = new Cell(environment, claim(environment, wanted), parent, protocol.operations);
  try {
    if (typeof factory !== "function") {
      throw new TypeError(`The factory of ${wanted} is a function that returns its handlers; got ${quote(factory)}.`);
    }
    // Handlers<Signatures> has a function for each operation, which checkHandlers looks at.
    const handlers: unknown = factory(new CellContext<Signatures>(cell));
    cell.start(checkHandlers(handlers, protocol, cell.address));
  } catch (thrown) {
    cell.abandon(); // What it was told while it was made is dead-lettered, and its children stop.
    throw thrown;
  }
  return refTo(cell);
}

function checkHandlers(handlers: unknown, protocol: Protocol, of: Address): Behaviour {
  if (handlers instanceof Promise) {
    handlers.catch(() => undefined); // What is thrown below tells of it.
    throw new TypeError(
      `The factory of ${of} returns a promise; return the handlers at once, and await inside a handler.`,
    );
  }
  if (typeof handlers !== "object" || handlers === null) {
    throw new TypeError(
      `The factory of ${of} returns an object with a handler for each operation; got ${quote(handlers)}.`,
    );
  }
  const table = handlers as HandlerTable; // The loop looks at each handler that will be called.
  for (const operation in protocol.operations) {
    if (typeof table[operation] !== "function") {
      throw new TypeError(
        `The factory of ${of} has no handler for "${operation}"; add ${operation}() to what it returns.`,
      );
    }
  }
  return table;
}

/** The context of a cell. */
export class CellContext<Signatures> implements Context<Signatures> {
  readonly #cell: Cell;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  get self(): Ref<Signatures> {
    return refTo(this.#cell);
  }

  get message(): Message {
    const { current } = this.#cell;
    if (current === null) {
      throw new Error(`${this.#cell.address} handles no message now; read ctx.message inside a handler.`);
    }
    return messageIn(current, this.#cell);
  }

  get sender(): Ref<AnySignatures> | undefined {
    const { current, environment } = this.#cell;
    if (current === null) return undefined;
    if (current.origin === null) return undefined;
    if (!isMessage(current.origin)) return refTo(current.origin);
    const { from } = current.origin;
    const cell = from === undefined ? undefined : environment.cells.get(from);
    return cell === undefined ? undefined : refTo(cell);
  }

  get signal(): AbortSignal {
    return this.#cell.signal;
  }

  spawn<Child>(name: string, protocol: Protocol<string, Child>, factory: Factory<Child>): Ref<Child> {
    return spawnCell(this.#cell.environment, this.#cell, name, protocol, factory);
  }

  stop(child?: AnyRef): void {
    const cell = child === undefined ? this.#cell : cellOf(child);
    if (cell !== this.#cell && cell.parent !== this.#cell) {
      throw new TypeError(`${this.#cell.address} can stop itself and its children, and ${cell.address} is neither.`);
    }
    cell.stop(false);
  }

  tell<S, Name extends AskName<S>>(ref: Ref<S>, operation: Name, ...payload: PayloadArgs<S, Name>): void {
    tell(cellOf(ref), this.#cell, operation, payload[0]);
  }

  ask<S, Name extends AskName<S>>(
    ref: Ref<S>,
    operation: Name,
    ...args: [...payload: PayloadArgs<S, Name>, options?: AskOptions]
  ): Promise<AskResult<ReplyOf<S, Name>>> {
    const answer = askAsWritten(cellOf(ref), this.#cell, operation, args[0], args[1]);
    // The protocol of the ref says what it replies.
    return answer as Promise<AskResult<ReplyOf<S, Name>>>;
  }

  stream<S, Name extends StreamName<S>>(
    ref: Ref<S>,
    operation: Name,
    ...args: [...payload: PayloadArgs<S, Name>, options?: StreamOptions]
  ): ActorStream<ItemOf<S, Name>> {
    const items = streamAsWritten(cellOf(ref), this.#cell, operation, args[0], args[1]);
    // The protocol of the ref says what it yields.
    return items as ActorStream<ItemOf<S, Name>>;
  }
}
