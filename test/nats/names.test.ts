import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../src";
import { connectCluster } from "../../src/nats";
import { event } from "./events";
import { hasNats, server } from "./rooms";

const Cart = defineProtocol("cart", {
  add: { payload: Type.Number(), reply: Type.Number() },
  put: { payload: Type.Number() },
  where: { reply: Type.Object({ node: Type.String(), epoch: Type.Number(), taken: Type.Array(Type.Number()) }) },
});

describe.skipIf(!hasNats)("names over the cluster", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  async function join(name: string, node: string, lease = 1_000) {
    const system = createSystem({ name: node, hookTimeout: 60_000, logger: { warn() {}, error() {} } });
    const cluster = await connectCluster(system, { servers: url, name, node, lease });
    const carts = await cluster.sharded("cart", Cart, (_, { epoch }) => () => {
      const taken: number[] = [];
      return {
        add: (number) => taken.push(number),
        put: (number) => void taken.push(number),
        where: () => ({ node, epoch, taken }),
      };
    });
    return { system, cluster, carts };
  }
  const LONG = { timeout: 60_000 };
  const IDS = Array.from({ length: 40 }, (_, index) => `cart-${index}`);

  test("an actor for an id is on one node, whoever asks, and all nodes have some", async () => {
    const a = await join("names-1", "a");
    const joined = event(a.system, "joined");
    const b = await join("names-1", "b");
    await joined;
    const owners = new Set<string>();
    for (const id of IDS) {
      await a.carts.ref(id).ask("add", 1, LONG);
      expect((await b.carts.ref(id).ask("add", 2, LONG))._unsafeUnwrap()).toBe(2);
      const { node, taken, epoch } = (await a.carts.ref(id).ask("where", LONG))._unsafeUnwrap();
      expect(taken).toEqual([1, 2]);
      expect((node === "a" ? a : b).cluster.epochOf("cart", id)).toBe(epoch);
      expect((node === "a" ? b : a).cluster.epochOf("cart", id)).toBeUndefined();
      owners.add(node);
    }
    expect(owners).toEqual(new Set(["a", "b"]));
    await a.system.shutdown();
    await b.system.shutdown();
  });

  test("a caller is told that the actor for an id could not be made, and where, but not why: the log there says it", async () => {
    const lines: string[] = [];
    const note = (line: string) => void lines.push(line);
    const owning = createSystem({ logger: { warn: note, error: note } });
    const owner = await connectCluster(owning, { servers: url, name: "names-6", node: "a", lease: 1_000 });
    const caller = await join("names-6", "b");
    await owner.sharded("early", Cart, () => {
      throw new TypeError("the disk is away");
    });
    await owner.sharded("late", Cart, () => () => {
      throw new TypeError("the disk is away");
    });
    await owner.singleton("one", Cart, () => {
      throw "the disk is away";
    });
    const refs = [];
    for (const cluster of [owner, caller.cluster]) {
      if (cluster !== owner) for (const name of ["early", "late"]) await cluster.sharded(name, Cart);
      refs.push(cluster.ref("early", "ada", Cart), cluster.ref("late", "ada", Cart));
    }
    refs.push(await caller.cluster.singleton("one", Cart));
    for (const ref of refs) {
      const refused = (await ref.ask("add", 1, LONG))._unsafeUnwrapErr();
      const [, name] = /own\/(\w+)/.exec(refused.message) ?? [];
      const who = name === "one" ? 'of "one"' : `for the id "ada" of "${name}"`;
      expect(refused.kind).toBe("unreachable");
      expect(refused.message).toEndWith(
        `was not handled: the actor ${who} could not be made on node "a", whose log says why; send it again later.`,
      );
    }
    for (const at of ["early/ada", "late/ada"]) {
      expect(lines).toContain(`envoi: @(names-6/own/${at}) could not be opened: TypeError: the disk is away`);
    }
    expect(lines).toContain("envoi: @(names-6/own/one/one) could not be opened: Error: the disk is away");
    await caller.system.shutdown();
    await owning.shutdown();
  });

  test("a name that other nodes could not read in the entry of this one is refused", async () => {
    const one = await join("refused", "node-1");
    const create = () => () => ({
      add: (number: number) => number,
      put() {},
      where: () => ({ node: "", epoch: 0, taken: [] }),
    });
    for (const name of ["__proto__", "node", "own", "loop", "a.b"]) {
      await expect(one.cluster.sharded(name, Cart, create)).rejects.toThrow("A name over the cluster");
    }
    await one.system.shutdown();
  });

  test("a singleton is one actor, and moves when its node closes", async () => {
    const a = await join("names-2", "a");
    const b = await join("names-2", "b");
    const one = await a.cluster.singleton("one", Cart, ({ epoch }) => () => ({
      add: (number) => number,
      put() {},
      where: () => ({ node: "a", epoch, taken: [] }),
    }));
    const first = (await one.ask("where", LONG))._unsafeUnwrap();
    const same = await b.cluster.singleton("one", Cart, ({ epoch }) => () => ({
      add: (number) => number,
      put() {},
      where: () => ({ node: "b", epoch, taken: [] }),
    }));
    const both = async () => [
      (await one.ask("where", LONG))._unsafeUnwrap(),
      (await same.ask("where", LONG))._unsafeUnwrap(),
    ];
    let [here, there] = await both();
    while (here?.epoch !== there?.epoch) [here, there] = await both(); // It moved between the two: the nodes share it anew.
    expect(here).toEqual(there);
    await a.system.shutdown();
    const last = (await same.ask("where", LONG))._unsafeUnwrap();
    expect(last.node).toBe("b");
    expect(last.epoch).toBeGreaterThanOrEqual(first.epoch);
    await b.system.shutdown();
  });

  test("hand-over: what is sent while shards move is handled once and in order", async () => {
    const a = await join("names-3", "a");
    const sent = new Map<string, number>(IDS.map((id) => [id, 0]));
    let isDone = false;
    const failed: string[] = [];
    const replies: Promise<void>[] = [];
    const sending = (async () => {
      while (!isDone) {
        for (const id of IDS) {
          const number = (sent.get(id) ?? 0) + 1;
          sent.set(id, number);
          replies.push(
            a.carts
              .ref(id)
              .ask("add", number, LONG)
              .then((result) => void (result.isErr() && failed.push(String(result.error)))),
          );
        }
        await new Promise((resolve) => setImmediate(resolve));
        if (replies.length > 20_000) break;
      }
    })();
    const b = await join("names-3", "b");
    // Until a shard of b's answers to a: each id is asked where it is.
    let moved = 0;
    while (moved === 0) {
      const found = await Promise.all(IDS.map((id) => b.carts.ref(id).ask("where", LONG)));
      moved = found.filter((each) => each._unsafeUnwrap().node === "b").length;
    }
    isDone = true;
    await sending;
    await Promise.all(replies);
    expect(failed).toEqual([]);
    for (const id of IDS) {
      const { taken } = (await a.carts.ref(id).ask("where", LONG))._unsafeUnwrap();
      // An actor that moved has what came after the move alone: without a gap, and in order.
      const last = sent.get(id) ?? 0;
      expect(taken).toEqual(Array.from({ length: taken.length }, (_, index) => last - taken.length + 1 + index));
    }
    await a.system.shutdown();
    await b.system.shutdown();
  });

  test("hand-over: a node that closes handles what waits there, its answers arrive, and later messages wait for the next owner", async () => {
    const Desk = defineProtocol("desk", { work: { payload: Type.Number(), reply: Type.String() } });
    const open = Promise.withResolvers<void>();
    const handled: number[] = [];
    const serve = async (node: string) => {
      const joined = await join("names-4", node);
      await joined.cluster.singleton("desk", Desk, () => () => ({
        async work(number) {
          handled.push(number);
          await open.promise;
          return node;
        },
      }));
      return { node, ...joined };
    };
    const serving = [await serve("a"), await serve("b")];
    const { system, cluster } = await join("names-4", "c");
    const desk = await cluster.singleton("desk", Desk);
    const first = desk.ask("work", 0, LONG);
    const others = Array.from({ length: 20 }, (_, index) => desk.ask("work", index + 1, LONG));
    while (handled.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const owner = serving.find((each) => each.cluster.epochOf("desk") !== undefined);
    const next = serving.find((each) => each !== owner)?.node;
    const closing = owner?.cluster.close();
    open.resolve();
    const late: ReturnType<typeof desk.ask>[] = [];
    for (let isMoved = false, number = 21; !isMoved; number++) {
      late.push(desk.ask("work", number, LONG));
      isMoved = (await late.at(-1))?.unwrapOr("") === next;
    }
    await closing;
    expect((await Promise.all([first, ...others])).map((reply) => reply._unsafeUnwrap())).toEqual(
      Array.from({ length: 21 }, () => owner?.node ?? ""),
    );
    for (const reply of await Promise.all(late)) reply._unsafeUnwrap();
    expect(handled).toEqual(Array.from({ length: 21 + late.length }, (_, number) => number));
    for (const each of [...serving, { system }]) await each.system.shutdown();
  });

  test("P17: a rolling restart by system.shutdown() fails no ask: what a node owns is handed over while its actors still run", async () => {
    const asker = await (async () => {
      const system = createSystem({ hookTimeout: 60_000, logger: { warn() {}, error() {} } });
      const cluster = await connectCluster(system, { servers: url, name: "names-roll", node: "asker", lease: 1_000 });
      return { system, carts: await cluster.sharded("cart", Cart), one: await cluster.singleton("one", Cart) };
    })();
    const serve = async (node: string) => {
      const joined = await join("names-roll", node);
      await joined.cluster.singleton("one", Cart, ({ epoch }) => () => ({
        add: (number) => number,
        put() {},
        where: () => ({ node, epoch, taken: [] }),
      }));
      return joined;
    };
    let nodes = [await serve("b"), await serve("c")];
    let isRolling = true;
    const failures: string[] = [];
    const ask = async (ref: typeof asker.one): Promise<number> => {
      let answered = 0;
      while (isRolling) {
        const answer = await ref.ask("add", 1, LONG);
        if (answer.isErr()) failures.push(answer.error.message);
        answered++;
      }
      return answered;
    };
    const asking = [asker.one, ...IDS.slice(0, 12).map((id) => asker.carts.ref(id))].map(ask);
    for (const old of nodes) {
      const { node } = old.cluster;
      await old.system.shutdown();
      nodes = [...nodes.filter((each) => each !== old), await serve(node)];
    }
    isRolling = false;
    for (const answered of await Promise.all(asking)) expect(answered).toBeGreaterThan(0);
    expect(failures).toEqual([]);
    for (const { system } of [...nodes, asker]) await system.shutdown();
  }, 60_000);
});
