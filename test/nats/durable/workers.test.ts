import { describe, expect, test } from "bun:test";
import { spawnWorkers } from "../../../src/workers";
import { hasNats, server } from "../rooms";
import { node, Orders } from "./nodes";

describe.skipIf(!hasNats)("a receiver of durable messages in a worker that a poison message kills each time", () => {
  // With one attempt, the next message shows that a worker which is down is no attempt.
  test.each([1, 3])(
    "makes it a dead letter after %d attempts, and handles the next one",
    async (attempts) => {
      const { url } = await server();
      await using one = await node("node-1", url);
      const placed = Promise.withResolvers<string>();
      const log = one.system.spawn("placed", Orders, () => ({
        place: ({ id }) => placed.resolve(id),
        flush: () => undefined,
        watch: async function* () {},
      }));
      await using workers = await spawnWorkers(one.system, {
        entry: new URL("../programs/order-worker.ts", import.meta.url),
        as: "process",
        size: 1,
        exposes: { placed: log },
        readyWithin: 60_000,
        heartbeatLimit: Number.POSITIVE_INFINITY,
        supervision: { backoff: { initial: 1, max: 2 }, beyondLimit: "hold" },
      });
      const orders = one.cluster.durable("orders", Orders);
      await Promise.all([orders.tell("place", { id: "a", poison: true }), orders.tell("place", { id: "b" })]);
      await one.cluster.receiveDurable("orders", workers.ref("orders", Orders), { attempts, backoff: 1 });
      expect(await placed.promise).toBe("b");
      expect(await one.cluster.deadLetters("orders")).toMatchObject([
        { payload: { id: "a", poison: true }, reason: "unreachable", attempts },
      ]);
    },
    60_000,
  );
});
