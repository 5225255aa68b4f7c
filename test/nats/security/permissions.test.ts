import { describe, expect, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { createSystem, defineProtocol, type System, Type } from "../../../src";
import { connectCluster } from "../../../src/nats";
import { node, Orders, spawnOrders } from "../durable/nodes";
import { event } from "../events";
import { hasNats, server } from "../rooms";

/** The user of a node that the others do not trust, as docs/nats.md ("Who is let in") has it. */
const [, guideUser = ""] =
  /users: \[(\{.*?\n {2}\})\]/s.exec(await Bun.file(new URL("../../../docs/nats.md", import.meta.url)).text()) ?? [];

const userOf = (name: string): string => guideUser.replaceAll("node-1", name).replace("…", `secret of ${name}`);

const credentialsOf = (name: string) => ({ user: name, password: `secret of ${name}` });

const Echo = defineProtocol("echo", {
  say: { payload: Type.String(), reply: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
});
const echo = () => ({
  say: (text: string) => text,
  async *count(to: number) {
    for (let number = 1; number <= to; number++) yield number;
  },
});
const Show = defineProtocol("show", { show: { payload: Type.Number() } });

/** The errors that the servers send: a subject that is not allowed is one. */
function errorsOf(system: System): readonly unknown[] {
  const errors: unknown[] = [];
  system.events.subscribe((each) => each.kind === "nats:error" && errors.push(each));
  return errors;
}

describe.skipIf(!hasNats)("nodes whose users may do what the guide gives them", () => {
  const config = `authorization { users: [${userOf("node-1")}, ${userOf("node-2")}] }`;
  const join = (url: string, name: string) => node(name, url, { credentials: credentialsOf(name) });

  test("reach each other in every way, and no subject is refused", async () => {
    const { url } = await server({ config });
    await using one = await join(url, "node-1");
    await using two = await join(url, "node-2");
    const errors = [errorsOf(one.system), errorsOf(two.system)];
    two.cluster.expose("echo", two.system.spawn("echo", Echo, echo));
    const remote = one.cluster.remote("node-2", "echo", Echo);
    expect((await remote.ask("say", "hello"))._unsafeUnwrap()).toBe("hello");
    expect(await Array.fromAsync(remote.stream("count", 3))).toEqual([1, 2, 3] as never);
    expect((await one.cluster.remote("node-3", "echo", Echo).ask("say", "hello")).isErr()).toBe(true);

    for (const { cluster } of [one, two]) await cluster.sharded("echoes", Echo, () => echo);
    for (let id = 0; id < 20; id++) {
      const said = await one.cluster.ref("echoes", `id-${id}`, Echo).ask("say", `to ${id}`);
      expect(said.isErr() ? said.error.message : said.value).toBe(`to ${id}`);
    }

    const shown = Promise.withResolvers<number>();
    const display = two.system.spawn("display", Show, () => ({ show: (number) => shown.resolve(number) }));
    const topic = two.cluster.topic<number>("prices");
    topic.subscribe(display, "show");
    await topic.settled();
    one.cluster.topic<number>("prices").publish(7);
    expect(await shown.promise).toBe(7);

    const actor = spawnOrders(two.system, ({ poison }) => {
      if (poison === true) throw new Error("it is poison");
    });
    await two.cluster.receiveDurable("orders", actor.ref, { attempts: 2, backoff: 400, ackWait: 500 }); // So it says that it works on it.
    const letter = event(two.system, "dead-letter");
    const orders = one.cluster.durable("orders", Orders);
    await Promise.all([orders.tell("place", { id: "a", poison: true }), orders.tell("place", { id: "b" })]);
    await letter;
    await actor.calls(3);
    expect((await orders.tell("place", { id: "later" }, { delay: 1 })).isOk()).toBe(true);
    await actor.calls(4);
    const letters = await one.cluster.deadLetters("orders");
    expect(letters).toMatchObject([{ from: "node-1", payload: { id: "a" } }]);
    for (const each of letters) await one.cluster.deleteDeadLetter(each);

    const placed = Promise.withResolvers<string>();
    const shops = await two.cluster.sharded(
      "shops",
      Orders,
      () => () => ({ place: ({ id }) => placed.resolve(id), flush: () => undefined, watch: async function* () {} }),
      { durable: true },
    );
    await two.cluster.durable(shops.ref("ada")).tell("place", { id: "c" });
    expect(await placed.promise).toBe("c");
    expect(errors).toEqual([[], []]);
  }, 60_000);

  test("may not send in the name of another one, and not join under its name", async () => {
    const { url } = await server({ config });
    await using one = await join(url, "node-1");
    const stranger = await connect({ servers: url, ...{ user: "node-2", pass: "secret of node-2" } });
    const refused = Promise.withResolvers<string>();
    void (async () => {
      for await (const status of stranger.status()) if (status.type === "error") refused.resolve(status.error.message);
    })();
    stranger.publish("envoi.shop.to.node-1.node-3", "text");
    expect(await refused.promise).toMatch(/permissions violation/i);
    await stranger.close();
    await using system = createSystem({ logger: { warn() {}, error() {} } });
    const options = { servers: url, name: "shop", node: "node-3", credentials: credentialsOf("node-2") };
    const thrown = await connectCluster(system, options).catch((each) => each);
    expect(String(thrown)).toMatch(/permission/i);
    expect(one.cluster.members()).toEqual(["node-1"]);
  }, 60_000);
});
