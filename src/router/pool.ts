import { type Cell, cellOf } from "../actor/cell/cell";
import { guard } from "../actor/cell/transitions";
import type { HandlerTable, Relay } from "../actor/contract";
import type { Context, Factory } from "../actor/face/context";
import { ACTOR_OPTIONS, type ActorOptions } from "../actor/options";
import type { Ref } from "../actor/refs/ref";
import { quote } from "../message/address";
import { checkOptions, type OptionChecks, option } from "../message/option";
import type { Protocol } from "../protocol/protocol";
import { ToAll } from "./pool-fan";
import { byKey, count, inTurn, leastBusy, type Staff, ToOne } from "./pool-routing";

/**
 * The rule by which a worker of a pool gets a message:
 *
 * | routing | a tell | an ask | an `offer` |
 * | --- | --- | --- | --- |
 * | `"round-robin"` | each worker in turn | the same | the same |
 * | `"least-busy"` | the one with the fewest messages that wait or run | the same | the same |
 * | `"consistent-hash"` | the one of its `key`, always the same while that lives | the same | the same |
 * | `"broadcast"` | all | all; it comes back when all have answered, with the first worker's reply, or with the first error | all; it comes back when all have taken it, or with the first error |
 * | `"first-answer"` | each worker in turn | all; the first `Ok` wins, and the others are given up | each worker in turn |
 *
 * A stream has one worker: by the key, the load, or in turn.
 */
export type Routing = "round-robin" | "least-busy" | "consistent-hash" | "broadcast" | "first-answer";

/** The options by which a pool spreads messages over its workers. */
export interface RoutingOptions {
  /** Default: `"round-robin"`. */
  readonly routing?: Routing;
  /**
   * The key of a message: messages with the same key go to the same worker. Needed by `"consistent-hash"`, refused otherwise.
   * Default: none.
   */
  readonly key?: (operation: string, payload: unknown) => string | number;
}

/**
 * The options of a pool. `supervision` is that of its workers, and `phase` is the pool's; the other options of an actor apply
 * to each worker.
 */
export interface PoolOptions extends ActorOptions, RoutingOptions {
  /** The number of workers, a whole number from 1. */
  readonly size: number;
}

/** A system or a context, to spawn actors with. */
export type Spawner = Pick<Context<unknown>, "spawn">;

/** The checks of what a pool of either kind may be given. */
export const ROUTING: OptionChecks<RoutingOptions> = {
  routing: option.oneOf<Routing>("round-robin", "least-busy", "consistent-hash", "broadcast", "first-answer"),
  key: option.function(" of an operation and its payload"),
};
const CHECKS: OptionChecks<PoolOptions> = { size: option.count, ...ROUTING, ...ACTOR_OPTIONS };

/**
 * Spawns a pool of workers that looks like one actor. The workers are its children, `@(name/1)` and so on, and supervised
 * like any. If one fails too often, the whole pool restarts with new workers; messages that come meanwhile wait for these. A
 * worker that is stopped is not replaced. When the last one has stopped, the pool stops.
 *
 * @param spawner the system, or the context of the actor that is to be its parent.
 * @param factory makes each worker.
 * @throws TypeError or RangeError when an option is invalid; also the errors of `spawn`.
 * @example
 * const thumbnails = spawnPool(system, "thumbnails", Thumbnail, makeThumbnailer, { size: 4, routing: "least-busy" });
 * await thumbnails.ask("render", image);
 */
export function spawnPool<Signatures>(
  spawner: Spawner,
  name: string,
  protocol: Protocol<string, Signatures>,
  factory: NoInfer<Factory<Signatures>>,
  options: PoolOptions,
): Ref<Signatures> {
  checkRouting(name, options, CHECKS, "{ size: 4 }");
  const { size, routing = "round-robin", key, supervision, phase, ...workerOptions } = options;
  return spawner.spawn(
    name,
    protocol,
    (ctx) => {
      let left = size;
      const workers = Array.from({ length: size }, (_, i) => {
        const ref = ctx.spawn(String(i + 1), protocol, factory, workerOptions);
        ctx.watch(ref, () => {
          if (--left === 0) ctx.stop(); // A pool without workers could handle nothing.
        });
        const worker = cellOf(ref);
        if (routing === "least-busy") count(worker);
        return worker;
      });
      return standBefore(ctx, protocol, { list: workers, isOpen: false }, { routing, ...(key && { key }) });
    },
    { ...(supervision && { supervision }), ...(phase !== undefined && { phase }) },
  );
}

/**
 * Makes the actor of a context a pool. Messages from before the relay stands, or during a restart, are forwarded to it.
 *
 * @returns the pool's handlers.
 */
export function standBefore<Signatures>(
  ctx: Context<Signatures>,
  protocol: Protocol<string, Signatures>,
  staff: Staff,
  { routing = "round-robin", key }: RoutingOptions,
): ReturnType<Factory<Signatures>> {
  const pool = cellOf(ctx.self);
  pool.extra.relay = relayOf(pool, staff, routing, key);
  guard(pool);
  const self = ctx.self as Ref<never>; // The pool takes its own messages, but the compiler cannot tell that here.
  const table: HandlerTable = {};
  for (const operation of Object.keys(protocol.operations)) table[operation] = () => ctx.forward(self);
  return table as unknown as ReturnType<Factory<Signatures>>; // The table has a handler for each operation.
}

function relayOf(pool: Cell, staff: Staff, routing: Routing, key: RoutingOptions["key"]): Relay {
  switch (routing) {
    case "round-robin":
      return new ToOne(pool, staff, inTurn());
    case "least-busy":
      return new ToOne(pool, staff, leastBusy());
    case "consistent-hash":
      return new ToOne(pool, staff, byKey(pool, key ?? (() => ""))); // checkRouting requires a key.
    case "broadcast":
      return new ToAll(pool, staff, false);
    case "first-answer":
      return new ToAll(pool, staff, true);
  }
}

/** Throws on options that no pool has, or that do not fit together. */
export function checkRouting<Options extends RoutingOptions>(
  name: string,
  options: Options,
  checks: OptionChecks<Options>,
  example: string,
): void {
  checkOptions(options, checks, `the pool ${quote(name)}`, example);
  if ((options.routing === "consistent-hash") !== (options.key !== undefined)) {
    throw new TypeError(
      `The pool ${quote(name)} has a key where it is routed by one: { routing: "consistent-hash", key: (operation, payload) => … }.`,
    );
  }
}
