import { describe, expect, test } from "bun:test";
import { type AskResult, createSystem, defineProtocol, type StreamError, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { mayHaveBegun } from "../../src/workers";
import { hasNats, server } from "./rooms";

const Desk = defineProtocol("desk", {
  wait: { reply: Type.Null() },
  who: { reply: Type.Null() },
  count: { stream: Type.Number() },
});
const LONG = { timeout: 60_000 };

describe.skipIf(!hasNats)("P17: a node whose shutdown is over before its handlers are", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  const join = async (name: string, node: string) => {
    const system = createSystem({ logger: { warn() {}, error() {} } });
    return { system, cluster: await connectCluster(system, { servers: url, name, node, lease: 1_000 }) };
  };
  const desk = () => {
    const begun = Promise.withResolvers<void>();
    const create = () => ({
      wait() {
        begun.resolve();
        return new Promise<null>(() => {});
      },
      who: () => null,
      async *count() {
        yield 1;
        begun.resolve();
        await new Promise(() => {});
      },
    });
    return { create, begun: begun.promise };
  };
  const told = (result: AskResult) => {
    const error = result._unsafeUnwrapErr();
    return [error.kind, mayHaveBegun(error)];
  };

  test("tells askers of an exposed actor timeout where the handler had begun, and unreachable where it had not", async () => {
    const [a, b] = [await join("leaving-1", "a"), await join("leaving-1", "b")];
    const { create, begun } = desk();
    b.cluster.expose("desk", b.system.spawn("desk", Desk, create));
    const remote = a.cluster.remote("b", "desk", Desk);
    const running = remote.ask("wait", LONG);
    await begun;
    const waiting = remote.ask("who", LONG);
    await a.cluster.topic("any").settled();
    await b.system.shutdown({ timeout: 100 });
    expect(told(await running)).toEqual(["timeout", true]);
    expect(told(await waiting)).toEqual(["unreachable", false]);
    await a.system.shutdown();
  }, 60_000);

  test("tells askers of an id so, and the reader of a stream", async () => {
    for (const way of ["ask", "stream"]) {
      const name = `leaving-2-${way}`;
      const [a, b] = [await join(name, "a"), await join(name, "b")];
      const { create, begun } = desk();
      await b.cluster.sharded("desk", Desk, () => create);
      const ref = (await a.cluster.sharded("desk", Desk)).ref("ada");
      const read = async (): Promise<unknown> => {
        try {
          for await (const _ of ref.stream("count", LONG));
          return undefined;
        } catch (thrown) {
          return (thrown as StreamError).kind; // A stream throws nothing else.
        }
      };
      const running = way === "ask" ? ref.ask("wait", LONG).then((result) => result._unsafeUnwrapErr().kind) : read();
      await begun;
      await b.system.shutdown({ timeout: 100 });
      expect(await running).toBe("timeout");
      await a.system.shutdown();
    }
  }, 60_000);
});
