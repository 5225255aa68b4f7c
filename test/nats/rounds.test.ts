import { afterEach, describe, expect, test } from "bun:test";
import { connect, headers } from "@nats-io/transport-node";
import { createSystem, defineProtocol, type System, Type } from "../../src";
import { type Cluster, connectCluster } from "../../src/nats";
import { event } from "./events";
import { startProxy } from "./faults/proxy";
import { hasNats, server } from "./rooms";

const Desk = defineProtocol("desk", {
  who: { reply: Type.Number() },
  wait: { reply: Type.Number() },
  count: { stream: Type.Number() },
});

const children: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

describe.skipIf(!hasNats)("two nodes that lose each other for a moment", async () => {
  const { url, port } = hasNats ? await server() : { url: "", port: 0 };
  const { url: plain } = hasNats ? await server({ jetstream: false }) : { url: "" };

  const join = async (name: string, node: string, servers = url): Promise<{ system: System; cluster: Cluster }> => {
    const system = createSystem({ logger: { warn() {}, error() {} } });
    return { system, cluster: await connectCluster(system, { servers, name, node, lease: 5_000 }) };
  };

  /** Exposes a desk, and gives the callbacks of its handlers. */
  const expose = ({ system, cluster }: { system: System; cluster: Cluster }) => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<number>();
    const desk = system.spawn(
      "desk",
      Desk,
      (ctx) => ({
        who: () => 7,
        wait() {
          begun.resolve();
          return answer.promise;
        },
        async *count() {
          ctx.onAbort(() => ended.resolve());
          yield 1;
          await new Promise(() => {}); // It says nothing more by itself.
        },
      }),
      { concurrency: 2 },
    );
    cluster.expose("desk", desk);
    return { begun: begun.promise, ended: ended.promise, answer: () => answer.resolve(8) };
  };

  test("P17: a node that was away is reached by the first ask after its return", async () => {
    const proxy = startProxy(port);
    const a = await join("rounds-1", "a");
    const b = await join("rounds-1", "b", `nats://127.0.0.1:${proxy.port}`);
    expose(b);
    const desk = a.cluster.remote("b", "desk", Desk);
    for (let number = 0; number < 30; number++) expect((await desk.ask("who"))._unsafeUnwrap()).toBe(7);
    const away = event(b.system, "disconnected");
    proxy.refuse(true);
    proxy.cut();
    await away;
    // A beat that comes to nobody just before it makes it a timeout.
    expect((await desk.ask("who"))._unsafeUnwrapErr().kind).toMatch(/^(unreachable|timeout)$/);
    const back = event(b.system, "reconnected");
    proxy.refuse(false);
    await back;
    await b.cluster.topic("any").settled(); // Its subscriptions are there again.
    expect((await desk.ask("who"))._unsafeUnwrap()).toBe(7);
    await a.system.shutdown();
    await b.system.shutdown();
    proxy.close();
  }, 60_000);

  test("P17: a beat that came to nobody says nothing of an ask that left behind it", async () => {
    const a = await join("rounds-2", "a");
    const b = await join("rounds-2", "b");
    const { begun, answer } = expose(b);
    const stranger = await connect({ servers: url });
    const marks: string[] = [];
    stranger.subscribe("envoi.rounds-2.to.b.a", {
      callback: (_, { reply }) => void marks.push(reply?.split(".").at(-1) ?? ""),
    });
    await stranger.flush();
    const desk = a.cluster.remote("b", "desk", Desk);
    await desk.ask("who");
    const waiting = desk.ask("wait", { timeout: 60_000 });
    await begun;
    await stranger.flush();
    const [round, sent] = (marks.findLast((mark) => /^\d+-\d+$/.test(mark)) ?? "").split("-").map(Number);
    // As the server answers a beat that left before that ask.
    const none = headers(503, "No Responders");
    stranger.publish(`envoi.rounds-2.none.a.b.${round}-b${(sent ?? 0) - 1}`, "", { headers: none });
    expect((await waiting)._unsafeUnwrapErr().kind).toBe("timeout");
    answer();
    // Of a former round, and of a text that never left, nothing is heard.
    for (const mark of [`${round}-1`, "99-1", "1-99", "x", ""]) {
      stranger.publish(`envoi.rounds-2.none.a.b.${mark || "-"}`, "", { headers: none });
    }
    await stranger.flush();
    expect((await desk.ask("who"))._unsafeUnwrap()).toBe(7);
    await stranger.close();
    await a.system.shutdown();
    await b.system.shutdown();
  });

  test("P12: without JetStream, a producer whose reader was killed ends", async () => {
    const b = await join("rounds-3", "b", plain);
    const { ended } = expose(b);
    const program = `
      import { createSystem, defineProtocol, Type } from ${JSON.stringify(`${import.meta.dir}/../../src/index`)};
      import { connectCluster } from ${JSON.stringify(`${import.meta.dir}/../../src/nats/index`)};
      const system = createSystem();
      const cluster = await connectCluster(system, { servers: "${plain}", name: "rounds-3", node: "reader" });
      const Desk = defineProtocol("desk", { count: { stream: Type.Number() } });
      const desk = cluster.remote("b", "desk", Desk);
      for await (const _ of desk.stream("count", { timeout: Infinity }));
    `;
    const stranger = await connect({ servers: plain });
    const beat = Promise.withResolvers<void>();
    stranger.subscribe("envoi.rounds-3.to.reader.b", {
      callback(_, message) {
        if (message.string().startsWith("beat")) beat.resolve();
      },
    });
    await stranger.flush();
    const child = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "inherit", "inherit"] });
    children.push(child);
    await beat.promise; // All that left before has come.
    await stranger.close();
    child.kill("SIGKILL");
    await ended;
    await b.system.shutdown();
  }, 60_000);
});
