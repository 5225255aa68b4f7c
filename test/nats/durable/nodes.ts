import { createSystem, defineProtocol, type System, Type } from "../../../src";
import { type Cluster, type ClusterOptions, connectCluster, type Delivery, deliveryOf } from "../../../src/nats";

export const Orders = defineProtocol("orders", {
  place: { payload: Type.Object({ id: Type.String(), poison: Type.Optional(Type.Boolean()) }) },
  flush: {},
  watch: { stream: Type.Number() },
});

export type Order = { id: string; poison?: boolean };

/** A node of the cluster "shop", in a system of its own that logs nothing. */
export async function node(
  name: string,
  servers: ClusterOptions["servers"],
  options: Partial<ClusterOptions> = {},
): Promise<{ system: System; cluster: Cluster } & AsyncDisposable> {
  const system = createSystem({ logger: { warn() {}, error() {} } });
  const cluster = await connectCluster(system, { servers, name: "shop", node: name, ...options });
  return { system, cluster, [Symbol.asyncDispose]: async () => void (await system.shutdown()) };
}

/** An actor that notes the orders that it handles. */
export function spawnOrders(system: System, handle: (order: Order, delivery: Delivery) => unknown = () => undefined) {
  const handled: { readonly id: string; readonly attempt: number; readonly mayRepeat: boolean }[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const ref = system.spawn("orders", Orders, (ctx) => ({
    place: async (order) => {
      const delivery = deliveryOf(ctx.metadata);
      if (delivery === undefined) throw new Error("not a durable message");
      const { attempt, mayRepeat } = delivery;
      handled.push({ id: order.id, attempt, mayRepeat });
      for (const { resolve } of waiting.filter(({ count }) => count <= handled.length)) resolve();
      await handle(order, delivery);
    },
    flush: () => undefined,
    watch: async function* () {},
  }));
  /** Resolves once its handler has been called so many times. */
  const calls = (count: number): Promise<void> =>
    handled.length >= count
      ? Promise.resolve()
      : new Promise((resolve) => {
          waiting.push({ count, resolve });
        });
  return { ref, handled, calls };
}

export const ids = (count: number, from = 0): readonly string[] =>
  Array.from({ length: count }, (_, index) => `o-${from + index}`);
