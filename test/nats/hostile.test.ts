import { describe, expect, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { createSystem, defineProtocol, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { event } from "./events";
import { hasNats, server } from "./rooms";

const Desk = defineProtocol("desk", { who: { reply: Type.Number() }, wait: { reply: Type.Number() } });

describe.skipIf(!hasNats)("a client of NATS that is no node", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  async function desk(name: string) {
    const systems = ["a", "b"].map(() => createSystem({ logger: { warn() {}, error() {} } }));
    const [one, two] = systems as [(typeof systems)[0], (typeof systems)[0]]; // There are two.
    const a = await connectCluster(one, { servers: url, name, node: "a" });
    const b = await connectCluster(two, { servers: url, name, node: "b" });
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<number>();
    const ref = two.spawn(
      "desk",
      Desk,
      () => ({
        who: () => 7,
        wait() {
          begun.resolve();
          return end.promise;
        },
      }),
      { concurrency: 2 },
    );
    b.expose("desk", ref);
    const stranger = await connect({ servers: url });
    const gaps: unknown[] = [];
    for (const system of systems) void event(system, "gap").then((gap) => gaps.push(gap));
    return {
      remote: a.remote("b", "desk", Desk),
      begun: begun.promise,
      answer: () => end.resolve(8),
      gaps,
      stranger,
      async [Symbol.asyncDispose]() {
        await stranger.close();
        for (const system of systems) await system.shutdown();
      },
    };
  }

  test("P18: harms nobody by first lines that no node writes", async () => {
    await using found = await desk("hostile-1");
    const { remote, begun, stranger, answer, gaps } = found;
    const waiting = remote.ask("wait");
    await begun;
    const incarnationOf = async (node: string) =>
      (await stranger.request(`envoi.hostile-1.contact.${node}.x`, "")).string();
    const [from, to] = [await incarnationOf("a"), await incarnationOf("b")];
    const heads = [
      "x y z",
      "1 0 0",
      "1 -1 0",
      "1 x 0",
      "1 1e400 0",
      "0x1 Infinity 0",
      "NaN NaN NaN",
      "1 2.5 0",
      "1 2 -1",
      "1 99999999999999999999 0",
    ];
    for (const kind of ["text", "beat", "barrier", "passed", "odd", ""]) {
      for (const head of heads) stranger.publish("envoi.hostile-1.to.b.a", `${kind} ${from} ${to} ${head}\n[]`);
    }
    for (const line of [
      "",
      "\n",
      "text",
      `text ${from}`,
      "x".repeat(100_000),
      new Uint8Array([0xff, 0xfe, 10, 0xff]),
    ]) {
      stranger.publish("envoi.hostile-1.to.b.a", line);
    }
    await stranger.flush();
    expect((await remote.ask("who"))._unsafeUnwrap()).toBe(7);
    answer();
    expect((await waiting)._unsafeUnwrap()).toBe(8);
    expect(gaps).toEqual([]);
  });

  test("P18: is forgotten in favour of the nodes, however many names it says", async () => {
    await using found = await desk("hostile-2");
    const { remote, stranger } = found;
    expect((await remote.ask("who"))._unsafeUnwrap()).toBe(7);
    const to = (await stranger.request("envoi.hostile-2.contact.b.x", "")).string();
    const said = (name: string) => stranger.publish(`envoi.hostile-2.to.b.${name}`, `beat ${name} ${to} 1 0 0\n`);
    for (let number = 0; number < 1_000; number++) said(`warm-${number}`);
    expect((await remote.ask("who"))._unsafeUnwrap()).toBe(7);
    Bun.gc(true);
    const before = process.memoryUsage().heapUsed;
    for (let number = 0; number < 20_000; number++) said(`name-${number}`);
    await stranger.flush();
    expect((await remote.ask("who"))._unsafeUnwrap()).toBe(7);
    Bun.gc(true);
    expect((process.memoryUsage().heapUsed - before) / 20_000).toBeLessThan(500); // A pair takes some 10 KB.
  });
});
