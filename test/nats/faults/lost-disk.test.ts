import { describe, expect, test } from "bun:test";
import { node, Orders, spawnOrders } from "../durable/nodes";
import { hasNats } from "../rooms";
import { threeServers } from "./three-servers";

/** With one copy of each stream, as is the default. */
describe.skipIf(!hasNats)("one of three servers that loses its disk", async () => {
  const { servers, urls, leader } = hasNats
    ? await threeServers("ENVOI_shop_durable")
    : { servers: [], urls: [], leader: () => undefined };

  test("P17: what is stored from then on has numbers that were there before, and is handled all the same", async () => {
    await using one = await node("one", urls);
    const names = new Set<string>();
    const { ref, handled, calls } = spawnOrders(one.system, (_, { id }) => void names.add(id));
    await one.cluster.receiveDurable("orders", ref);
    const orders = one.cluster.durable("orders", Orders);
    const before = ["b-1", "b-2", "b-3", "b-4"];
    for (const id of before) expect((await orders.tell("place", { id })).isOk()).toBe(true);
    await calls(before.length);

    const lost = await leader();
    expect(servers).toContain(lost as NonNullable<typeof lost>);
    await lost?.kill();
    await lost?.restart(true);
    const sequences: number[] = [];
    const after = ["a-1", "a-2", "a-3"];
    for (const id of after) {
      sequences.push((await orders.tell("place", { id }, { timeout: 60_000 }))._unsafeUnwrap().sequence);
    }
    expect(sequences).toEqual([1, 2, 3]);
    await calls(before.length + after.length);
    expect(handled.map(({ id }) => id)).toEqual([...before, ...after]);
    expect(names.size).toBe(before.length + after.length); // A handler may note them.
  }, 120_000);
});
