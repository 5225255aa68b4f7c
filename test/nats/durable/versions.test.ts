import { describe, expect, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { defineProtocol, type Metadata, Type } from "../../../src";
import { versionOf } from "../../../src/nats";
import { event } from "../events";
import { hasNats, server } from "../rooms";
import { node } from "./nodes";

const Old = defineProtocol("shop", { note: { payload: Type.String() } });
/** Has an operation more, and a wider payload. */
const New = defineProtocol("shop", {
  note: { payload: Type.Union([Type.String(), Type.Number()]) },
  sum: { payload: Type.Array(Type.Number()) },
});

/** An actor of the old version that notes what it handles. */
function oldShop() {
  const handled: { readonly text: string; readonly versions: unknown }[] = [];
  const last = Promise.withResolvers<void>();
  const create = (ctx: { readonly metadata: Metadata | undefined }) => ({
    note(text: string) {
      handled.push({ text, versions: ctx.metadata?.["envoi.versions"] });
      if (text === "last") last.resolve();
    },
  });
  return { handled, last: last.promise, create };
}

const SENTENCE = `node "new" calls "${versionOf(New)}", and node "old" serves "${versionOf(Old)}"`;

describe.skipIf(!hasNats)("a durable message that another version of its receiver's protocol sent", () => {
  test("is handled where it fits, and becomes a dead letter that names both versions where it does not", async () => {
    const { url } = await server();
    await using old = await node("old", url);
    await using newer = await node("new", url);
    const { handled, last, create } = oldShop();
    const told: unknown[] = [];
    let lettersLeft = 3;
    const given = Promise.withResolvers<void>();
    old.system.events.subscribe((each) => {
      if ((each.kind as string) === "nats:versions") told.push(each);
      if ((each.kind as string) === "nats:dead-letter" && --lettersLeft === 0) given.resolve();
    });
    await old.cluster.receiveDurable("shop", old.system.spawn("shop", Old, create));
    const shop = newer.cluster.durable("shop", New);
    await shop.tell("sum", [1, 2], { delay: 1 });
    await Promise.all([shop.tell("sum", [1, 2]), shop.tell("note", 7), shop.tell("note", "first")]);
    await given.promise;
    await shop.tell("note", "last");
    await last;
    expect(handled).toEqual(["first", "last"].map((text) => ({ text, versions: SENTENCE })));
    const letters = await old.cluster.deadLetters("shop");
    expect(letters.map(({ reason }) => reason).sort()).toEqual([
      "invalid-payload",
      "unknown-operation",
      "unknown-operation",
    ]);
    for (const { message, metadata } of letters) {
      expect(message).toStartWith(`${SENTENCE}: `);
      expect(metadata).toBeUndefined(); // As it was sent: it may be sent again.
    }
    expect(letters.some(({ id }) => id.startsWith("later-"))).toBe(true);
    expect(told).toMatchObject([{ detail: { node: "new", called: versionOf(New), served: versionOf(Old) } }]);
  }, 30_000);

  test("to the actor for an id becomes a dead letter that names both versions once", async () => {
    const { url } = await server();
    await using old = await node("old", url);
    await using newer = await node("new", url);
    const { handled, last, create } = oldShop();
    const shops = await newer.cluster.sharded("shop", New, undefined, { durable: true });
    const ada = newer.cluster.durable(shops.ref("ada"));
    for (const delay of [undefined, 1]) await ada.tell("sum", [1, 2], delay === undefined ? {} : { delay });
    await ada.tell("note", "last");
    const second = event(old.system, "dead-letter", ({ id }) => String(id).startsWith("later-"));
    await old.cluster.sharded("shop", Old, () => create, { durable: true });
    await Promise.all([last, second]);
    const letters = await old.cluster.deadLetters(shops.ref("ada"));
    expect(letters.map(({ reason }) => reason)).toEqual(["unknown-operation", "unknown-operation"]);
    for (const { message } of letters) expect(message.split(SENTENCE)).toHaveLength(2);
    expect(handled).toEqual([{ text: "last", versions: SENTENCE }]);
  }, 30_000);

  test("shares no batch with messages of its own version, and keeps its place among them", async () => {
    const { url } = await server();
    await using one = await node("old", url);
    const { handled, last, create } = oldShop();
    const [older, newer] = [one.cluster.durable("shop", Old), one.cluster.durable("shop", New)];
    const stored = await Promise.all([
      older.tell("note", "a"),
      older.tell("note", "b"),
      newer.tell("note", "c"),
      older.tell("note", "last"),
    ]);
    expect(stored.map((each) => each._unsafeUnwrap().sequence)).toEqual([1, 1, 2, 3]);
    await one.cluster.receiveDurable("shop", one.system.spawn("shop", Old, create));
    await last;
    expect(handled.map(({ text }) => text)).toEqual(["a", "b", "c", "last"]);
    expect(handled.map(({ versions }) => versions !== undefined)).toEqual([false, false, true, false]);
  });

  test("may come without a version, as earlier nodes send it, or with something that is none", async () => {
    const { url } = await server();
    await using old = await node("old", url);
    const { handled, last, create } = oldShop();
    await old.cluster.receiveDurable("shop", old.system.spawn("shop", Old, create));
    const earlier = await connect({ servers: url });
    const send = (s: unknown, p: string) =>
      earlier.request("envoi.shop.durable.shop", JSON.stringify({ v: 1, n: "new", s, e: [{ o: "note", p }] }));
    await send(undefined, "a");
    await send({ name: 1 }, "b");
    await send("x".repeat(301), "last");
    await earlier.close();
    await last;
    expect(handled).toEqual(["a", "b", "last"].map((text) => ({ text, versions: undefined })));
  });

  test("by a long name of its protocol has as much room less for its payload", async () => {
    const { url } = await server({ config: "max_payload: 4096" });
    await using one = await node("one", url);
    const Long = defineProtocol("p".repeat(2_000), { note: { payload: Type.String() } });
    const refused = await one.cluster.durable("shop", Long).tell("note", "x".repeat(1_500));
    expect(refused.isErr() && refused.error.kind).toBe("payload-too-large");
    expect((await one.cluster.durable("shop", Long).tell("note", "x".repeat(900))).isOk()).toBe(true);
  });
});
