import { describe, expect, test } from "bun:test";
import { createSystem, type DeadLetter, defineProtocol, Type } from "../../src";
import { connectCluster, versionOf } from "../../src/nats";
import { event } from "./events";
import { hasNats, server } from "./rooms";

const Old = defineProtocol("shop", {
  price: { payload: Type.Object({ item: Type.String() }), reply: Type.Number() },
  note: { payload: Type.String() },
});
/** Has an operation more, and schemas that are wider: its payload by a property, its reply by texts. */
const New = defineProtocol("shop", {
  price: {
    payload: Type.Object({ item: Type.Union([Type.String(), Type.Number()]) }),
    reply: Type.Union([Type.Number(), Type.String()]),
  },
  note: { payload: Type.Union([Type.String(), Type.Number()]) },
  sum: { payload: Type.Array(Type.Number()), reply: Type.Number() },
  days: { stream: Type.Number() },
});
const LONG = { timeout: 60_000 };

describe("the version of a protocol", () => {
  test("is the same for the same operations and schemas in any order, and another for others", () => {
    const again = defineProtocol("shop", {
      note: { payload: Type.String(), description: "Keeps a note." },
      price: { reply: Type.Number(), payload: Type.Object({ item: Type.String() }) },
    });
    expect(versionOf(Old)).toMatch(/^shop [0-9a-f]{8}$/);
    expect(versionOf(again)).toBe(versionOf(Old));
    expect(versionOf(New)).not.toBe(versionOf(Old));
    const narrower = defineProtocol("shop", {
      price: { payload: Type.Object({ item: Type.String({ maxLength: 3 }) }), reply: Type.Number() },
      note: { payload: Type.String() },
    });
    expect(versionOf(narrower)).not.toBe(versionOf(Old));
  });

  test("is there for a schema that has no JSON Schema", () => {
    const odd = defineProtocol("odd", { put: { payload: Type.BigInt() } });
    expect(versionOf(odd)).toMatch(/^odd [0-9a-f]{8}$/);
  });
});

describe.skipIf(!hasNats)("a rolling upgrade", async () => {
  const { url } = hasNats ? await server() : { url: "" };

  const join = async (name: string, node: string) => {
    const system = createSystem({ name: node, hookTimeout: 60_000, logger: { warn() {}, error() {} } });
    return { system, cluster: await connectCluster(system, { servers: url, name, node, lease: 2_000 }) };
  };
  const oldShop = () => ({ price: () => 7, note() {} });
  const newShop = () => ({
    price: ({ item }: { item: string | number }) => (typeof item === "number" ? "seven" : 7),
    note() {},
    sum: (numbers: number[]) => numbers.reduce((sum, each) => sum + each, 0),
    async *days() {
      yield 1;
    },
  });

  /** Two nodes: `old` and `new`, each with the other's shop by a name, by its own version of the protocol. */
  async function upgrading(name: string) {
    const [before, after] = [await join(name, "old"), await join(name, "new")];
    before.cluster.expose("shop", before.system.spawn("here", Old, oldShop));
    after.cluster.expose("shop", after.system.spawn("here", New, newShop));
    const letters: DeadLetter[] = [];
    before.system.router.deadLetters.subscribe((letter) => letters.push(letter));
    return {
      before,
      after,
      letters,
      fromOld: before.cluster.remote("new", "shop", Old),
      fromNew: after.cluster.remote("old", "shop", New),
      end: async () => {
        await before.system.shutdown();
        await after.system.shutdown();
      },
    };
  }
  /** Asserts that a text names both versions. */
  const namesBoth = (text: unknown): void => {
    expect(String(text)).toContain(versionOf(Old));
    expect(String(text)).toContain(versionOf(New));
  };

  test("what fits both versions works both ways, and the difference is told once to both nodes", async () => {
    const { before, after, fromOld, fromNew, end } = await upgrading("upgrade-1");
    const told: unknown[] = [];
    for (const { system } of [before, after]) {
      system.events.subscribe((each) => void ((each.kind as string) === "nats:versions" && told.push(each)));
    }
    for (let again = 0; again < 3; again++) {
      expect((await fromOld.ask("price", { item: "tea" }, LONG))._unsafeUnwrap()).toBe(7);
      expect((await fromNew.ask("price", { item: "tea" }, LONG))._unsafeUnwrap()).toBe(7);
    }
    expect(told).toHaveLength(4); // Each node is once the one that calls, and once the one that serves.
    for (const each of told) namesBoth(JSON.stringify(each));
    await end();
  });

  test("an operation that the other node does not have is refused with both versions", async () => {
    const { fromNew, letters, end } = await upgrading("upgrade-2");
    const refused = (await fromNew.ask("sum", [1, 2], LONG))._unsafeUnwrapErr();
    expect(refused.kind).toBe("unknown-operation");
    namesBoth(refused.message);
    const reading = fromNew.stream("days")[Symbol.asyncIterator]();
    const broken = await reading.next().then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(broken.kind).toBe("unknown-operation");
    namesBoth(broken.message);
    fromNew.tell("sum", [1, 2]);
    expect((await fromNew.ask("price", { item: "tea" }, LONG)).isOk()).toBe(true);
    const letter = letters.findLast(({ message }) => message.type === "sum");
    expect(letter?.reason).toBe("unknown-operation");
    namesBoth(letter?.message.metadata?.["envoi.versions"]);
    await end();
  });

  test("a payload that the other node's schema refuses is refused with both versions, and a told one is a dead letter with them", async () => {
    const { fromNew, letters, end } = await upgrading("upgrade-3");
    const refused = (await fromNew.ask("price", { item: 7 }, LONG))._unsafeUnwrapErr();
    expect(refused.kind).toBe("invalid-payload");
    namesBoth(refused.message);
    fromNew.tell("note", 7);
    expect((await fromNew.ask("price", { item: "tea" }, LONG)).isOk()).toBe(true);
    const [letter] = letters.filter(({ message }) => message.type === "note");
    expect(letter?.reason).toBe("invalid-payload");
    namesBoth(letter?.message.metadata?.["envoi.versions"]);
    await end();
  });

  test("ids that move from a node of the old version to one of the new one are reached by both", async () => {
    const before = await join("upgrade-4", "old");
    const shops = await before.cluster.sharded("shop", Old, () => oldShop);
    expect((await shops.ref("a").ask("price", { item: "tea" }, LONG)).isOk()).toBe(true);
    const joined = event(before.system, "joined");
    const after = await join("upgrade-4", "new");
    await joined;
    const newer = await after.cluster.sharded("shop", New, () => newShop);
    const kinds = new Set<string>();
    for (let id = 0; kinds.size < 2; id++) {
      expect((await shops.ref(`${id}`).ask("price", { item: "tea" }, LONG))._unsafeUnwrap()).toBe(7);
      const found = await newer.ref(`${id}`).ask("sum", [1, 2], LONG);
      if (found.isErr()) {
        expect(found.error.kind).toBe("unknown-operation");
        namesBoth(found.error.message);
      }
      kinds.add(found.isOk() ? "new" : "old");
    }
    await before.system.shutdown();
    expect((await newer.ref("a").ask("sum", [1, 2], LONG))._unsafeUnwrap()).toBe(3);
    await after.system.shutdown();
  });

  test("a name that another node serves as another protocol, or as a singleton, is refused", async () => {
    const before = await join("upgrade-5", "old");
    await before.cluster.sharded("shop", Old, () => oldShop);
    const joined = event(before.system, "joined");
    const after = await join("upgrade-5", "new");
    await joined;
    const Other = defineProtocol("other", { note: { payload: Type.String() } });
    const asOther = await after.cluster.sharded("shop", Other).catch((thrown) => thrown);
    expect(String(asOther)).toContain('serves "shop" as "shop 64');
    const asOne = await after.cluster.singleton("shop", Old, () => oldShop).catch((thrown) => thrown);
    expect(String(asOne)).toContain('would as "shop 1');
    await before.system.shutdown();
    await after.system.shutdown();
  });
});
