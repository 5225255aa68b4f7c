import { describe, expect, test } from "bun:test";
import { startNats, startNatsCluster } from "../../benchmarks/harness/nats-server";
import {
  type Clock,
  type ClockTimer,
  createSystem,
  defineProtocol,
  type PublishedEvent,
  type System,
  systemClock,
  Type,
} from "../../src";
import { connectCluster } from "../../src/nats";
import { hasNats, server } from "./rooms";

/** The next event of this wing of a kind. */
const event = (system: System, kind: string): Promise<PublishedEvent> =>
  new Promise((resolve) => {
    const end = system.events.subscribe((each) => {
      if (each.kind !== `nats:${kind}`) return;
      end();
      resolve(each as PublishedEvent); // Its kind has a colon.
    });
  });

const OPTIONS = { servers: "nats://127.0.0.1:1", name: "shop", node: "node-1" };

describe("the options of a cluster", () => {
  const refused: readonly (readonly [options: unknown, says: string])[] = [
    [undefined, "The options of a cluster are an object"],
    [{ ...OPTIONS, server: "x" }, 'no option "server"'],
    [{ servers: OPTIONS.servers, name: "shop" }, "node"],
    [{ ...OPTIONS, node: "a.b" }, "letters, digits, - and _"],
    [{ ...OPTIONS, servers: [] }, "nats://127.0.0.1:4222"],
    [{ ...OPTIONS, servers: "http://127.0.0.1/x" }, "nats://127.0.0.1:4222"],
    [{ ...OPTIONS, replicas: 2 }, "1, 3 or 5"],
    [{ ...OPTIONS, lease: 10 }, "500"],
    [{ ...OPTIONS, credentials: { pass: "x" } }, "user, password"],
  ];
  test.each(refused)("%p is refused with what to write instead", async (options, says) => {
    await using system = createSystem();
    const connecting = connectCluster(system, options as never); // Wrong on purpose.
    expect(String(await connecting.catch((thrown) => thrown))).toContain(says);
  });

  test("a server that is not there is named, with what to do", async () => {
    await using system = createSystem();
    const thrown = await connectCluster(system, OPTIONS).catch((error) => error);
    expect(String(thrown)).toContain("nats://127.0.0.1:1");
    expect(String(thrown)).toContain("start a server");
  });

  test("a server that says nothing is tried again, each time for longer, up to 2 s: a busy one is heard at last", async () => {
    const info = {
      server_id: "LATE",
      server_name: "late",
      version: "2.9.25",
      proto: 1,
      headers: true,
      max_payload: 1e6,
    };
    let connections = 0;
    let silent = 2;
    const late = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => void (++connections > silent && socket.write(`INFO ${JSON.stringify(info)}\r\n`)),
        data: (socket) => void socket.write("PONG\r\n"),
      },
    });
    await using system = createSystem();
    const connect = (connectTimeout: number) =>
      connectCluster(system, { ...OPTIONS, servers: `nats://127.0.0.1:${late.port}`, connectTimeout }).catch(String);
    expect(await connect(400)).toContain("late is 2.9.25"); // It was connected, and refused by what it said.
    connections = 0;
    silent = Number.POSITIVE_INFINITY;
    expect(await connect(800)).toContain("TimeoutError");
    expect(connections).toBe(2); // The second one had 1.6 s.
    expect(await connect(1_001)).toContain("TimeoutError");
    expect(connections).toBe(3);
    late.stop(true);
  });

  test("a server older than 2.11 is refused: it would never end a lease", async () => {
    const info = { server_id: "OLD", server_name: "old", version: "2.9.25", proto: 1, headers: true, max_payload: 1e6 };
    const old = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => void socket.write(`INFO ${JSON.stringify(info)}\r\n`),
        data(socket, bytes) {
          if (bytes.toString().includes("PING")) socket.write("PONG\r\n");
        },
      },
    });
    await using system = createSystem();
    const thrown = await connectCluster(system, { ...OPTIONS, servers: `127.0.0.1:${old.port}` }).catch((each) => each);
    old.stop(true);
    expect(String(thrown)).toContain("needs a server of NATS 2.11 or later, and old is 2.9.25");
  });
});

describe.skipIf(!hasNats)("a connection", () => {
  test("leaves no timer behind, which would keep the process alive after the end", async () => {
    const { url } = await server();
    const pending = new Map<ClockTimer, number>();
    const clock: Clock = {
      ...systemClock,
      setTimer(callback, delay) {
        const timer = systemClock.setTimer(() => {
          pending.delete(own);
          callback();
        }, delay);
        const forget = (): void => void pending.delete(own);
        const own: ClockTimer = {
          ...timer,
          cancel: () => [forget(), timer.cancel()],
          unref: () => [forget(), timer.unref()],
        };
        pending.set(own, delay);
        return own;
      },
    };
    const system = createSystem({ clock });
    const cluster = await connectCluster(system, { ...OPTIONS, servers: url });
    const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
    const echoes = await cluster.sharded("echo", Echo, () => () => ({ say: (text) => text }));
    expect((await echoes.ref("a").ask("say", "hello"))._unsafeUnwrap()).toBe("hello");
    await system.shutdown();
    expect([...pending.values()]).toEqual([]);
  });

  test("ends with the system", async () => {
    const { url } = await server();
    const system = createSystem();
    const cluster = await connectCluster(system, { ...OPTIONS, servers: url });
    expect([cluster.name, cluster.node]).toEqual(["shop", "node-1"]);
    await system.shutdown();
    await cluster.close(); // It has ended: once more does nothing.
  });

  test("that is being made when its system is shut down is ended, too", async () => {
    const { url } = await server();
    await using witness = createSystem();
    const cluster = await connectCluster(witness, { ...OPTIONS, servers: url, node: "witness" });
    const early = createSystem();
    const connecting = connectCluster(early, { ...OPTIONS, servers: url, node: "early" });
    await early.shutdown();
    expect(String(await connecting.catch((thrown) => thrown))).toContain("shut down before it had joined");

    const late = createSystem();
    const entered = event(witness, "joined");
    const left = event(witness, "left");
    const joining = connectCluster(late, { ...OPTIONS, servers: url, node: "late" });
    expect((await entered).detail).toMatchObject({ node: "late" }); // It follows the others yet.
    await late.shutdown();
    expect((await joining).members()).toEqual([]);
    await left;
    expect(cluster.members()).toEqual(["witness"]);
  });

  test("is told when it is lost and when it is back, and is tried for ever", async () => {
    const nats = await startNats();
    const system = createSystem({ logger: { warn() {}, error() {} } });
    await connectCluster(system, { ...OPTIONS, servers: nats.url });
    const [lost, back] = [event(system, "disconnected"), event(system, "reconnected")];
    await nats.kill();
    expect((await lost).detail).toMatchObject({ cluster: "shop" });
    await nats.restart();
    await back;
    await system.shutdown();
    await nats.close();
  });

  test("closes without a server", async () => {
    const nats = await startNats();
    const system = createSystem({ logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, { ...OPTIONS, servers: nats.url });
    const lost = event(system, "disconnected");
    await nats.kill();
    await lost;
    await cluster.close();
    await system.shutdown();
    await nats.close();
  });

  test("takes a user and a password, and says who is not let in", async () => {
    const { url } = await server({ config: "authorization { user: ada, password: secret }" });
    await using system = createSystem();
    const credentials = { user: "ada", password: "secret" };
    const cluster = await connectCluster(system, { ...OPTIONS, servers: url, credentials });
    await cluster.close();
    const thrown = await connectCluster(system, { ...OPTIONS, servers: url }).catch((error) => error);
    expect(String(thrown)).toContain("credentials");
  });

  test("takes a token, and says who is not let in", async () => {
    const { url } = await server({ config: "authorization { token: secret }" });
    await using system = createSystem();
    const cluster = await connectCluster(system, { ...OPTIONS, servers: url, credentials: { token: "secret" } });
    await cluster.close();
    const wrong = connectCluster(system, { ...OPTIONS, servers: url, credentials: { token: "other" } });
    expect(String(await wrong.catch((error) => error))).toMatch(/Authorization Violation.*credentials/i);
  });

  test("to a server without JetStream says what names over the cluster need", async () => {
    const { url } = await server({ jetstream: false });
    await using system = createSystem();
    const cluster = await connectCluster(system, { ...OPTIONS, servers: url });
    const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
    const refused = await cluster.sharded("echo", Echo, () => () => ({ say: (text) => text })).catch((error) => error);
    expect(String(refused)).toContain("cluster.sharded needs JetStream");
    expect(String(refused)).toContain("start them with -js");
  });
});

describe.skipIf(!hasNats)("more replicas than there are servers", () => {
  const Note = defineProtocol("note", { put: { payload: Type.String() } });

  test("of one server alone are refused with what was asked for, and what to do", async () => {
    const { url, name } = await server();
    await using system = createSystem();
    const thrown = await connectCluster(system, { ...OPTIONS, servers: url, replicas: 3 }).catch((error) => error);
    expect(String(thrown)).toContain('Cluster "shop" asks for 3 copies (replicas)');
    expect(String(thrown)).toContain(`${name} is one server alone (`);
    expect(String(thrown)).toContain("connect with fewer replicas");
    await connectCluster(system, { ...OPTIONS, servers: url }); // Nothing is left of the other one.
  });

  test("are said to a durable send, too, where another node has made the cluster with fewer", async () => {
    const { url } = await server();
    await using first = createSystem();
    await using second = createSystem();
    await connectCluster(first, { ...OPTIONS, servers: url });
    const cluster = await connectCluster(second, { ...OPTIONS, servers: url, node: "node-2", replicas: 3 });
    const refused = await cluster.durable("notes", Note).tell("put", "a", { timeout: 1_000 });
    expect(refused.isErr() && refused.error.kind).toBe("unreachable");
    expect(refused.isErr() && refused.error.message).toContain("asks for 3 copies (replicas)");
  });

  test("of a cluster of servers are refused with the addresses of those that are known", async () => {
    const servers = await startNatsCluster();
    try {
      await using system = createSystem();
      const [{ url = "", port = 0 } = {}] = servers;
      const thrown = await connectCluster(system, { ...OPTIONS, servers: url, replicas: 5 }).catch((error) => error);
      expect(String(thrown)).toContain("asks for 5 copies (replicas)");
      expect(String(thrown)).toMatch(new RegExp(`the servers that are known are .*\\b${port}\\b`));
    } finally {
      await Promise.all(servers.map((each) => each.close()));
    }
  }, 60_000);
});
