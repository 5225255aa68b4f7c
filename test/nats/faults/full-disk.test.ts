import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { System } from "../../../src";
import { node, Orders, spawnOrders } from "../durable/nodes";
import { event } from "../events";
import { hasNats, server } from "../rooms";

const LARGE = "x".repeat(50_000);
/** Long enough for a busy machine; no assertion. */
const WITHIN = 90_000;

/** A server whose JetStream has some megabytes for all streams. */
const limited = (limit: string, more = "") => {
  const folder = mkdtempSync(join(tmpdir(), "envoi-limited-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return server({ jetstream: false, config: `jetstream { store_dir: "${folder}", max_file: ${limit} }\n${more}` });
};

/** Sends until a message is refused, and gives those that were stored. */
async function fill({ cluster }: Awaited<ReturnType<typeof node>>, timeout = 60_000) {
  const orders = cluster.durable("orders", Orders);
  const stored: string[] = [];
  for (let number = 0; ; number++) {
    const result = await orders.tell("place", { id: `o-${number}:${LARGE}` }, { timeout });
    if (result.isErr()) return { stored, error: result.error };
    stored.push(`o-${number}`);
  }
}

/** Receives, and gives the orders in order once so many have come. */
async function receiveAll({ system, cluster }: Awaited<ReturnType<typeof node>>, count: number) {
  const actor = spawnOrders(system);
  await cluster.receiveDurable("orders", actor.ref, { backoff: 1 });
  await actor.calls(count);
  return actor.handled.map(({ id }) => id.split(":")[0]);
}

describe.skipIf(!hasNats)("durable sends to servers whose JetStream is at its limit", () => {
  test("are refused at once with what to do, lose nothing that was stored, and go on once there is room", async () => {
    const { url } = await limited("2MB");
    await using one = await node("node-1", url, { lease: 60_000 });
    const { stored, error } = await fill(one); // Its test would end before its timeout does.
    expect(error.kind).toBe("unreachable");
    expect(error.message).toContain("no room");
    expect(error.message).toContain("max_file");
    expect(await receiveAll(one, stored.length)).toEqual(stored);
    expect((await one.cluster.durable("orders", Orders).tell("flush", { timeout: 60_000 })).isOk()).toBe(true);
  }, 30_000);

  /** A client that fills the rest of the servers, and makes room again. */
  const filler = async (url: string) => {
    const nc = await connect({ servers: url });
    afterAll(() => nc.close());
    const jsm = await jetstreamManager(nc);
    const js = jsm.jetstream();
    await jsm.streams.add({ name: "FILLER", subjects: ["filler"] });
    const fillAll = async (): Promise<void> => {
      for (;;) {
        try {
          await js.publish("filler", LARGE);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 10_023 });
          return;
        }
      }
    };
    return { js, fillAll, makeRoom: () => jsm.streams.purge("FILLER") };
  };

  test(
    "hand a batch in that comes again: its position needs no room",
    async () => {
      const { url } = await limited("2MB");
      const { js, fillAll } = await filler(url);
      await using one = await node("node-1", url, { lease: 60_000 });
      const { ref } = spawnOrders(one.system);
      await (await one.cluster.receiveDurable("orders", ref, { ackWait: 500 })).close(); // It has made the consumer.
      await one.system.stop(ref);
      await one.cluster.durable("orders", Orders).tell("place", { id: "o-0" });
      const taken = await (await js.consumers.get("ENVOI_shop_durable", "orders")).next();
      expect(taken?.info.deliveryCount).toBe(1); // Whoever took it does not come back.
      await fillAll();
      const again = spawnOrders(one.system);
      await one.cluster.receiveDurable("orders", again.ref, { ackWait: 500, backoff: 1 });
      await again.calls(1);
      expect(again.handled).toEqual([{ id: "o-0", attempt: 1, mayRepeat: true }]);
    },
    WITHIN,
  );

  test(
    "keep a dead letter waiting, with the messages behind it, and tell so; once there is room, all goes on",
    async () => {
      const { url } = await limited("2MB");
      const { fillAll, makeRoom } = await filler(url);
      await using one = await node("node-1", url, { lease: 60_000 });
      const orders = one.cluster.durable("orders", Orders);
      await Promise.all([orders.tell("place", { id: "a", poison: true }), orders.tell("place", { id: "b" })]);
      await fillAll();
      const actor = spawnOrders(one.system, ({ poison }) => {
        if (poison === true) throw new Error("it is poison");
      });
      const told = event(one.system, "error");
      await one.cluster.receiveDurable("orders", actor.ref, { attempts: 1, backoff: 1 });
      expect(JSON.stringify((await told).detail)).toMatch(/dead letter .*insufficient resources/);
      expect(actor.handled.map(({ id }) => id)).toEqual(["a"]);
      await makeRoom();
      await actor.calls(2);
      expect(actor.handled.map(({ id }) => id)).toEqual(["a", "b"]);
      expect(await one.cluster.deadLetters("orders")).toMatchObject([{ payload: { id: "a" } }]);
    },
    WITHIN,
  );

  test(
    "leave the leases their room where durableBytes says how much they may take",
    async () => {
      const { url } = await limited("2MB");
      await using one = await node("node-1", url, { lease: 500, durableBytes: 1_000_000 });
      const gone = eventsOf(one.system, "nats:gone");
      const { stored, error } = await fill(one);
      expect(error).toMatchObject({ kind: "unreachable" });
      expect(error.message).toContain("maximum bytes exceeded");
      await using two = await node("node-2", url, { lease: 500, durableBytes: 1_200_000 }); // It joins, and gives them more.
      const more = await two.cluster.durable("orders", Orders).tell("place", { id: LARGE });
      expect(more.isErr() ? more.error.message : "stored").toBe("stored");
      expect(await receiveAll(one, stored.length + 1)).toEqual([...stored, LARGE]);
      expect(gone).toEqual([]);
    },
    WITHIN,
  );

  test("are refused at once where durableBytes is more than the servers have", async () => {
    const { url } = await limited("2MB");
    await using one = await node("node-1", url, { durableBytes: 10_000_000 });
    const { error } = await fill(one);
    expect(error).toMatchObject({ kind: "unreachable" });
    expect(error.message).toContain("insufficient storage");
  }, 30_000);

  test("are refused at once at the limit of the account, too", async () => {
    const account = "accounts { SHOP { jetstream { max_file: 500KB }, users: [{ user: ada, password: secret }] } }";
    const { url } = await limited("20MB", account);
    const credentials = { user: "ada", password: "secret" };
    await using one = await node("node-1", url, { lease: 60_000, credentials });
    const { stored, error } = await fill(one);
    expect(error.kind).toBe("unreachable");
    expect(error.message).toContain("resource limits exceeded for account");
    expect(await receiveAll(one, stored.length)).toEqual(stored);
  }, 30_000);
});

/** The events of a kind, as they come. */
function eventsOf(system: System, kind: string): readonly unknown[] {
  const events: unknown[] = [];
  system.events.subscribe((each) => each.kind === kind && events.push(each));
  return events;
}
