import { type Cell, cellOf } from "../actor/cell/cell";
import { actorBehind } from "../actor/face/by-address";
import type { Context } from "../actor/face/context";
import { Watch } from "../actor/life/watch";
import { ACTOR_OPTIONS } from "../actor/options";
import type { Ref } from "../actor/refs/ref";
import { type AnyRef, quote } from "../message/address";
import type { OptionChecks } from "../message/option";
import type { Protocol } from "../protocol/protocol";
import { checkRouting, ROUTING, type RoutingOptions, type Spawner, standBefore } from "./pool";
import { ToAll } from "./pool-fan";
import { count, ToOne } from "./pool-routing";

/** The options of a pool of references. */
export interface RefPoolOptions extends RoutingOptions {
  /** The phase of the shutdown in which the pool stops; see `ActorOptions`. Default: 0. */
  readonly phase?: number;
}

const CHECKS: OptionChecks<RefPoolOptions> = { ...ROUTING, phase: ACTOR_OPTIONS.phase };

/** A pool of actors that exist already. They are not its children, and it does not stop them. */
export interface Pool<Signatures> {
  /** The reference to the pool, which looks like one actor. */
  readonly ref: Ref<Signatures>;
  /** The number of its workers at this moment. */
  readonly size: number;
  /**
   * Adds a worker. Nothing happens when it is one already, or has stopped.
   *
   * @throws TypeError when it is no reference, lacks an operation of the pool's protocol, or is a pool that hands its
   * messages to this one.
   */
  add(worker: Ref<Signatures>): void;
  /** Removes a worker. It keeps the messages that it has got. Nothing happens when it is none. */
  remove(worker: AnyRef): void;
}

class RefPool<Signatures> implements Pool<Signatures> {
  readonly #name: string;
  readonly #protocol: Protocol<string, Signatures>;
  readonly #options: RoutingOptions;
  readonly #staff: { list: readonly Cell[]; readonly isOpen: true } = { list: [], isOpen: true };
  /** Each ends the watch on a worker. */
  readonly #watches = new Map<Cell, () => void>();
  /** The context of the present instance, and the pool's cell. */
  #own: { readonly ctx: Context<Signatures>; readonly cell: Cell } | null = null;
  readonly ref: Ref<Signatures>;

  constructor(
    spawner: Spawner,
    name: string,
    protocol: Protocol<string, Signatures>,
    workers: Iterable<Ref<Signatures>>,
    { phase, ...options }: RefPoolOptions,
  ) {
    this.#name = name;
    this.#protocol = protocol;
    this.#options = options;
    // All are checked before anything is made.
    for (const worker of new Set([...workers].map((ref) => this.#checked(ref)))) this.#add(worker);
    const begin = (ctx: Context<Signatures>) => {
      this.#own = { ctx, cell: cellOf(ctx.self) };
      const handlers = standBefore(ctx, protocol, this.#staff, this.#options);
      for (const worker of this.#staff.list) this.#watch(worker);
      return handlers;
    };
    this.ref = spawner.spawn(name, protocol, begin, phase === undefined ? {} : { phase });
  }

  get size(): number {
    return this.#staff.list.length;
  }

  add(ref: Ref<Signatures>): void {
    const worker = this.#checked(ref);
    if (worker.isStopped || this.#staff.list.includes(worker)) return;
    this.#add(worker);
    this.#watch(worker);
  }

  remove(ref: AnyRef): void {
    const worker = cellOf(ref);
    this.#watches.get(worker)?.();
    this.#leave(worker);
  }

  #add(worker: Cell): void {
    if (this.#options.routing === "least-busy") count(worker);
    this.#staff.list = [...this.#staff.list, worker];
  }

  /** A pool that restarts watches its workers anew when it begins; one that has stopped needs to know nothing. */
  #watch(worker: Cell): void {
    if (this.#own?.cell.isAlive !== true) return;
    const onEnd = (): void => {
      if (worker.isStopped) this.#leave(worker);
      else this.#watch(worker); // It is elsewhere, and its side is gone for now: its reference lives on.
    };
    const watch = new Watch(this.#own.cell, worker, onEnd, true);
    this.#watches.set(worker, () => watch.end());
  }

  #leave(worker: Cell): void {
    this.#watches.delete(worker);
    this.#staff.list = this.#staff.list.filter((each) => each !== worker);
  }

  #checked(ref: Ref<Signatures>): Cell {
    const worker = cellOf(ref);
    for (const { name, isStream } of Object.values(this.#protocol.operations)) {
      const known = worker.operation(name);
      if (known === null || known?.isStream === isStream || worker.isStopped) continue;
      throw new TypeError(
        `${worker.address} has no operation ${quote(name)} as the pool ${quote(this.#name)} has it, and cannot be its worker.`,
      );
    }
    if (this.#own !== null && leadsTo(worker, this.#own.cell)) {
      throw new TypeError(
        `${worker.address} hands its messages to the pool ${this.#own.cell.address}, and cannot be its worker.`,
      );
    }
    return worker;
  }
}

/** True when a message for a worker may come to the pool without a handler in between, as far as it can be told now. */
function leadsTo(worker: Cell, pool: Cell, seen: Set<Cell> = new Set()): boolean {
  const actor = actorBehind(worker);
  if (actor === pool) return true;
  if (actor === undefined || seen.has(actor)) return false;
  seen.add(actor);
  const { relay } = actor;
  const isPool = relay instanceof ToOne || relay instanceof ToAll;
  return isPool && relay.staff.list.some((each) => leadsTo(each, pool, seen));
}

/**
 * Makes a pool of actors that exist already, by their references: of actors here, of other pools, and of actors that are
 * elsewhere. It looks like one actor, and spreads its messages as a pool that `spawnPool` makes (see `Routing`). A worker
 * that stops leaves the pool, and so does one whose attachment ends; others may be added at any time. The pool goes on without workers:
 * messages come back as `no-recipient` until one is added. Stop it by its reference; its workers go on.
 *
 * With `"least-busy"`, messages to a worker are counted from then on, as if it had a `capacity`; a worker that is
 * elsewhere and counts no messages is taken for idle.
 *
 * @param spawner the system, or the context of the actor that is to be the pool's parent.
 * @throws TypeError when an option or a worker is invalid; also the errors of `spawn`.
 * @example
 * const nodes = createPool(system, "nodes", Render, [first, second], { routing: "least-busy" });
 * await nodes.ref.ask("render", page);
 * nodes.add(third);
 */
export function createPool<Signatures>(
  spawner: Spawner,
  name: string,
  protocol: Protocol<string, Signatures>,
  workers: Iterable<Ref<NoInfer<Signatures>>>,
  options: RefPoolOptions = {},
): Pool<Signatures> {
  checkRouting(name, options, CHECKS, '{ routing: "least-busy" }');
  if (typeof workers?.[Symbol.iterator] !== "function") {
    throw new TypeError(
      `The workers of the pool ${quote(name)} are a list of references; got ${quote(workers)}. spawnPool makes workers.`,
    );
  }
  return new RefPool(spawner, name, protocol, workers, options);
}
