import { describe, expect, test } from "bun:test";
import { address, createMessage, defineProtocol, type RefTo, Type } from "../../src/index";
import { createTestSystem, type TestSystem } from "../../src/testing/index";

const Shop = defineProtocol("shop", {
  price: { payload: Type.String(), reply: Type.Number() },
  open: {},
  order: { payload: Type.Object({ item: Type.String(), count: Type.Number() }) },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
const Buyer = defineProtocol("buyer", {
  buy: { payload: Type.String(), reply: Type.Number() },
  sell: {},
  stop: {},
});

/** An actor that asks a shop, and tells it. */
const spawnBuyer = ({ system }: TestSystem, shop: RefTo<typeof Shop>) =>
  system.spawn("buyer", Buyer, (ctx) => ({
    async buy(item) {
      const price = await ctx.ask(shop, "price", item);
      ctx.tell(shop, "order", { item, count: 1 });
      return price.unwrapOr(-1);
    },
    sell: () => ctx.tell(shop, "open"),
    stop: () => ctx.stop(),
  }));

describe("a probe", () => {
  test("P2: takes what it was sent in order, and gives the payload", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    shop.ref.tell("open");
    shop.ref.tell("order", { item: "tea", count: 2 });
    await shop.expectMessage("open");
    expect(await shop.expectMessage("order")).toEqual({ item: "tea", count: 2 });
    await shop.expectNoMessage();
    expect(shop.received.map((message) => message.operation)).toEqual(["open", "order"]);
  });

  test("knows who sent a message, and how", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    const buyer = spawnBuyer(test, shop.ref);
    buyer.tell("sell");
    const answer = buyer.ask("buy", "tea");
    await test.settle();
    expect(shop.received).toEqual([
      { operation: "open", payload: undefined, pattern: "tell", sender: expect.anything() },
      { operation: "price", payload: "tea", pattern: "ask", sender: expect.anything() },
    ]);
    expect(shop.received[0]?.sender).toBe(buyer as never);
    shop.reply("price", 4);
    expect((await answer)._unsafeUnwrap()).toBe(4);
  });

  test("compares a payload deeply", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    shop.ref.tell("order", { count: 2, item: "tea" });
    shop.ref.tell("order", { item: "tea", count: 2 });
    await shop.expectMessage("order", { item: "tea", count: 2 });
    await expect(shop.expectMessage("order", { item: "tea", count: 3 })).rejects.toThrow("count: 3");
  });

  test("tells references and functions in a payload apart", async () => {
    await using test = createTestSystem();
    const probe = test.createProbe();
    const [one, two] = [test.createProbe(Shop), test.createProbe(Shop)];
    probe.ref.tell("use", [one.ref]);
    await expect(probe.expectMessage("use", [two.ref])).rejects.toThrow("expected 'use' with [ Ref @(probe-3) ]");
    await probe.expectMessage("use", [one.ref]);
    const [call, other] = [() => 1, () => 1];
    probe.ref.tell("call", { call });
    await expect(probe.expectMessage("call", { call: other })).rejects.toThrow("expected 'call'");
    await probe.expectMessage("call", { call });
  });

  test("says what came instead of what was expected", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    const buyer = spawnBuyer(test, shop.ref);
    shop.ref.tell("order", { item: "tea", count: 2 });
    buyer.tell("sell");
    await shop.expectMessage("order");
    const error = await shop.expectMessage("order", { item: "tea", count: 3 }).catch(String);
    expect(error).toBe(
      [
        "Error: @(probe-1) expected 'order' with { item: 'tea', count: 3 }, and got 'open' (told by @(buyer)).",
        "All that came:",
        "  1. 'order' with { item: 'tea', count: 2 } (told) — expected before",
        "  2. 'open' (told by @(buyer))",
      ].join("\n"),
    );
    await expect(shop.expectNoMessage()).rejects.toThrow("expected no message, and got 'open'");
  });

  test("says that nothing came, and what may be why", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    await expect(shop.expectMessage("open")).rejects.toThrow(
      /expected 'open', and nothing came\.\nAll that came:\n {2}nothing$/,
    );
    test.router.tell(createMessage(address("shop"), "open", undefined));
    test.clock.setTimer(() => shop.ref.tell("open"), 10);
    const error = await shop.expectMessage("open").catch(String);
    expect(error).toContain("Logged meanwhile:\n  1. envoi: dead letter (no-recipient)");
    expect(error).toContain("advance()");
    await test.advance(10);
    await shop.expectMessage("open");
    test.takeLog();
  });

  test("shows the last twenty of many", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    test.clock.setTimer(() => {}, 10);
    for (let count = 1; count <= 25; count++) shop.ref.tell("order", { item: "tea", count });
    const error = await shop.expectMessage("open").catch(String);
    expect(error).toContain("got 'order' with { item: 'tea', count: 1 }");
    expect(error).not.toContain("advance()");
    expect(error).toContain("\n  … 5 before these\n  6. 'order' with { item: 'tea', count: 6 }");
    expect(error).toEndWith("25. 'order' with { item: 'tea', count: 25 } (told)");
    await test.advance(10);
  });

  test("has the name that it is given, or a number", async () => {
    await using test = createTestSystem();
    const refs = [test.createProbe(Shop), test.createProbe(Shop, "shop"), test.createProbe("any"), test.createProbe()];
    expect(refs.map((probe) => String(probe.ref))).toEqual(["@(probe-1)", "@(shop)", "@(any)", "@(probe-4)"]);
  });
});

describe("a probe that is asked", () => {
  test("P6: lets each ask wait until it is replied to, oldest first", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    const answers = ["tea", "milk"].map((item) => shop.ref.ask("price", item));
    await shop.expectMessage("price", "tea");
    await shop.expectMessage("price", "milk");
    shop.reply("price", 4);
    shop.reply("price", 2);
    expect((await Promise.all(answers)).map((answer) => answer._unsafeUnwrap())).toEqual([4, 2]);
  });

  test("P6: lets an ask for nothing wait, too", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    let isOpen = false;
    const answer = shop.ref.ask("open").then(() => {
      isOpen = true;
    });
    await shop.expectMessage("open");
    expect(isOpen).toBe(false);
    shop.reply("open");
    await answer;
    expect(isOpen).toBe(true);
  });

  test("P6: an ask that nobody replies to fails the test", async () => {
    const test = createTestSystem();
    void test.createProbe(Shop, "shop").ref.ask("price", "tea");
    await expect(test.finish()).rejects.toThrow('@(shop) still handles "price"');
  });

  test("P7: an ask that was given up does not wait for a reply", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    const answer = shop.ref.ask("price", "tea", { timeout: 10 });
    await shop.expectMessage("price");
    await test.advance(10);
    expect((await answer)._unsafeUnwrapErr().kind).toBe("timeout");
    expect(() => shop.reply("price", 4)).toThrow("has no ask of 'price' to reply to");
    expect(test.deadLetters).toEqual([]);
  });

  test("says what came when there is nothing to reply to", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    shop.ref.tell("price", "tea");
    await test.settle();
    expect(() => shop.reply("price", 4)).toThrow("All that came:\n  1. 'price' with 'tea' (told)");
    expect(() => shop.fail("open", 1)).toThrow("has no ask of 'open' to fail");
  });

  test("P9: fails on request, and goes on, whatever the supervision", async () => {
    for (const directive of ["restart", "stop", "escalate"] as const) {
      await using test = createTestSystem({ supervision: { decide: () => directive } });
      const shop = test.createProbe(Shop);
      const answers = ["tea", "milk"].map((item) => shop.ref.ask("price", item));
      await test.settle();
      shop.fail("price", new Error("sold out"));
      await test.settle();
      shop.reply("price", 2);
      const [tea, milk] = await Promise.all(answers);
      expect(tea?._unsafeUnwrapErr()).toMatchObject({ kind: "handler-failed", cause: new Error("sold out") });
      expect(milk?._unsafeUnwrap()).toBe(2);
      expect(test.takeFailures()).toEqual([]);
    }
  });

  test("answers by itself where an answer was given", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    shop.answer("price", (item) => item.length);
    shop.answer("ticks", async function* (n) {
      for (let i = 0; i < n; i++) yield i;
    } as (n: number) => AsyncIterable<number>);
    expect((await shop.ref.ask("price", "milk"))._unsafeUnwrap()).toBe(4);
    expect(await Array.fromAsync(shop.ref.stream("ticks", 3))).toEqual([0, 1, 2]);
    await shop.expectMessage("price", "milk");
    await shop.expectMessage("ticks", 3);
  });

  test("P12: replies to a stream with an iterable", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    const items = Array.fromAsync(shop.ref.stream("ticks", 3));
    await shop.expectMessage("ticks", 3);
    shop.reply("ticks", [7, 8]);
    expect(await items).toEqual([7, 8]);
  });

  test("P12: a stream whose reader leaves does not wait for a reply", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    const stream = shop.ref.stream("ticks", 3);
    void stream.next();
    await shop.expectMessage("ticks", 3);
    await stream.return();
    await test.settle();
    expect(test.router.audit()).toMatchObject({ handled: 1, failed: 0, running: 0 });
    expect(() => shop.reply("ticks", [1])).toThrow("none waits");
  });
});

describe("a probe that watches", () => {
  test("P2: sees an actor end, and why where it had watched before", async () => {
    await using test = createTestSystem({ supervision: { decide: () => "stop" } });
    const shop = test.createProbe(Shop);
    const buyer = spawnBuyer(test, shop.ref);
    shop.watch(buyer);
    shop.watch(buyer);
    buyer.tell("stop");
    expect(await shop.expectTerminated(buyer)).toEqual({ address: buyer.address, error: undefined });
    const other = test.system.spawn("other", Buyer, () => ({
      buy: () => 1,
      sell() {
        throw new Error("broke");
      },
      stop() {},
    }));
    shop.watch(other);
    other.tell("sell");
    await test.settle();
    expect((await shop.expectTerminated(other)).error).toEqual(new Error("broke"));
    await test.expectFailure(other, "broke");
  });

  test("P2: sees that an actor is gone already, also one of a name that is used again", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    for (let i = 0; i < 2; i++) {
      const buyer = spawnBuyer(test, shop.ref);
      await expect(shop.expectTerminated(buyer)).rejects.toThrow("have stopped, and it is idle");
      await test.system.stop(buyer);
      await shop.expectTerminated(buyer);
    }
  });

  test("says what an actor does instead", async () => {
    await using test = createTestSystem();
    const shop = test.createProbe(Shop);
    const buyer = spawnBuyer(test, shop.ref);
    void buyer.ask("buy", "tea");
    buyer.tell("stop");
    await test.advance(20);
    await expect(shop.expectTerminated(buyer)).rejects.toThrow(
      '@(probe-1) expected @(buyer) to have stopped, and it handles "buy" (for 20 ms), and 1 message waits.',
    );
    shop.reply("price", 1);
    await shop.expectTerminated(buyer);
  });
});

describe("a probe without a protocol", () => {
  test("takes any message, asked and told, by reference and by router", async () => {
    await using test = createTestSystem();
    const probe = test.createProbe("echo");
    probe.ref.tell("say", 1);
    const answer = test.router.ask(createMessage(address("echo"), "say", "hi"));
    expect(await probe.expectMessage("say")).toBe(1);
    await probe.expectMessage("say", "hi");
    probe.reply("say", "hi yourself");
    expect((await answer)._unsafeUnwrap()).toBe("hi yourself");
  });

  test("watches, and tells, though no message came to it yet", async () => {
    await using test = createTestSystem();
    const probe = test.createProbe();
    const shop = test.createProbe(Shop);
    probe.tell(shop.ref, "open");
    probe.tell(shop.ref, "price", "tea");
    await shop.expectMessage("open");
    await shop.expectMessage("price", "tea");
    expect(shop.received.map(({ sender }) => sender?.address)).toEqual([probe.ref.address, probe.ref.address]);
    await test.system.stop(shop.ref);
    await probe.expectTerminated(shop.ref);
    await probe.expectNoMessage();
    expect(probe.received).toEqual([]);
  });
});

test("a probe tells as an actor does: what it tells has it as the sender, and is answered by a tell", async () => {
  await using test = createTestSystem();
  const Echo = defineProtocol("echo", { say: { payload: Type.String() } });
  const echo = test.system.spawn("echo", Echo, (ctx) => ({ say: (text) => ctx.sender?.tell("said", `${text}!`) }));
  const probe = test.createProbe();
  probe.tell(echo, "say", "hi");
  await probe.expectMessage("said", "hi!");
});
