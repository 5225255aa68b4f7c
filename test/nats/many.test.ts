import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { hasNats, server } from "./rooms";

const Cart = defineProtocol("cart", {
  put: { payload: Type.Number() },
  all: { reply: Type.Array(Type.Number()) },
});
const IDS = process.env["ENVOI_LONG"] === undefined ? 10_500 : 100_000;
/** The ids whose messages are under way together. */
const TOGETHER = 1_500;
const LONG = { timeout: 60_000 };

describe.skipIf(!hasNats)("a node that calls ever more ids", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  test(`reaches ${IDS.toLocaleString()}, in order for each, and keeps a bounded number of references`, async () => {
    const logger = { warn() {}, error() {} };
    const [here, there] = [createSystem({ logger }), createSystem({ logger })];
    const names = { servers: url, name: "many", lease: 10_000 };
    const owner = await connectCluster(there, { ...names, node: "owner" });
    const caller = await connectCluster(here, { ...names, node: "caller" });
    const create = () => () => {
      const taken: number[] = [];
      return { put: (number: number) => void taken.push(number), all: () => taken };
    };
    await owner.sharded("cart", Cart, create);
    const carts = await caller.sharded("cart", Cart);
    const own = await owner.sharded("mine", Cart, create);
    let most = 0;
    for (let from = 0; from < IDS; from += TOGETHER) {
      const replies = Array.from({ length: TOGETHER }, (_, index) => {
        const cart = carts.ref(`${from + index}`);
        cart.tell("put", 1);
        cart.tell("put", 2);
        return cart.ask("all", LONG);
      });
      for (const reply of replies) expect((await reply)._unsafeUnwrap()).toEqual([1, 2]);
      most = Math.max(most, [...here.actors()].length);
    }
    // Those that were used last, beside those that were under way together.
    expect(most).toBeLessThan(1_000 + TOGETHER + 100);
    // The first ones were ended long ago: a message comes after those before it all the same.
    carts.ref("0").tell("put", 3);
    expect((await carts.ref("0").ask("all", LONG))._unsafeUnwrap()).toEqual([1, 2, 3]);
    // A node's own ids go the same way.
    const before = [...there.actors()].length;
    for (let id = 0; id < 2_000; id++) own.ref(`${id}`).tell("put", 1);
    expect((await own.ref("0").ask("all", LONG))._unsafeUnwrap()).toEqual([1]);
    expect((await own.ref("1999").ask("all", LONG))._unsafeUnwrap()).toEqual([1]);
    expect([...there.actors()].length - before).toBeLessThan(2_000 + 1_000 + 100);
    await here.shutdown();
    await there.shutdown();
  }, 300_000);
});
