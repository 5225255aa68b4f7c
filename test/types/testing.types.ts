import Type from "typebox";
import {
  type AnySignatures,
  type Context,
  defineProtocol,
  type FailedEvent,
  type Ref,
  type RefTo,
  type SignaturesOf,
  systemClock,
  type Terminated,
} from "../../src/index";
import {
  type BehaviourKit,
  createBehaviourKit,
  createTestSystem,
  type Effect,
  type Probe,
  type Run,
} from "../../src/testing/index";
import { type Equal, expectType } from "./expect";

const Shop = defineProtocol("shop", {
  price: { payload: Type.String(), reply: Type.Number() },
  open: {},
  order: { payload: Type.Object({ count: Type.Number() }) },
  maybe: { payload: Type.Union([Type.String(), Type.Undefined()]) },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
type Shopping = SignaturesOf<typeof Shop>;

export async function probes(): Promise<void> {
  await using test = createTestSystem({ askTimeout: 5 });
  const shop = test.createProbe(Shop);
  expectType<Equal<typeof shop, Probe<Shopping>>>();
  expectType<Equal<typeof shop.ref, RefTo<typeof Shop>>>();
  const item = await shop.expectMessage("price");
  expectType<Equal<typeof item, string>>();
  const nothing = await shop.expectMessage("open");
  expectType<Equal<typeof nothing, undefined>>();
  const order = await shop.expectMessage("order", { count: 1 });
  expectType<Equal<typeof order, { count: number }>>();
  const maybe = await shop.expectMessage("maybe", undefined);
  expectType<Equal<typeof maybe, string | undefined>>();
  const ticks = await shop.expectMessage("ticks", 3);
  expectType<Equal<typeof ticks, number>>();
  const terminated = await shop.expectTerminated(shop.ref);
  expectType<Equal<typeof terminated, Terminated>>();
  const failure = await test.expectFailure(shop.ref, /x/);
  expectType<Equal<typeof failure, FailedEvent>>();
  shop.reply("price", 4);
  shop.reply("open");
  shop.reply("ticks", [1, 2]);
  shop.fail("ticks", new Error("x"));
  shop.answer("price", (name) => name.length);
  shop.answer("price", async (name) => name.length);
  shop.answer("open", () => {});
  shop.answer("ticks", (n) => [n]);
  shop.tell(shop.ref, "order", { count: 1 });
  for (const message of shop.received) {
    if (message.operation === "price") expectType<Equal<typeof message.payload, string>>();
  }

  const any = test.createProbe("any");
  expectType<Equal<typeof any, Probe<AnySignatures>>>();
  const payload = await any.expectMessage("whatever", 1);
  expectType<Equal<typeof payload, unknown>>();
  any.reply("whatever", 1);
  any.reply("whatever");

  // @ts-expect-error — a wrong operation
  await shop.expectMessage("close");
  // @ts-expect-error — a wrong payload
  await shop.expectMessage("price", 1);
  // @ts-expect-error — a payload where there is none
  await shop.expectMessage("open", 1);
  // @ts-expect-error — a wrong reply
  shop.reply("price", "4");
  // @ts-expect-error — a missing reply
  shop.reply("price");
  // @ts-expect-error — a reply where there is none
  shop.reply("open", 1);
  // @ts-expect-error — an item is no iterable
  shop.reply("ticks", 1);
  // @ts-expect-error — a wrong answer
  shop.answer("price", (name) => name);
  createTestSystem({ clock: test.clock });
  // @ts-expect-error — a test moves its clock
  createTestSystem({ clock: systemClock });
}

export async function kits(): Promise<void> {
  const kit = createBehaviourKit(Shop, (ctx) => {
    expectType<Equal<typeof ctx, Context<Shopping>>>();
    return { price: (item) => item.length, open() {}, order() {}, maybe() {}, *ticks() {} };
  });
  expectType<Equal<typeof kit, BehaviourKit<Shopping>>>();
  expectType<Equal<typeof kit.self, RefTo<typeof Shop>>>();
  const run = kit.run("price", "tea", { sender: kit.self });
  expectType<Equal<typeof run, Run<number>>>();
  expectType<Equal<typeof run.reply, number | Promise<number>>>();
  expectType<Equal<typeof run.effects, readonly Effect[]>>();
  const ticks = await kit.run("ticks", 3, { take: 2 }).reply;
  expectType<Equal<typeof ticks, number[]>>();
  kit.run("open");
  kit.run("open", { sender: kit.self });
  kit.run("maybe");
  const other = kit.ref(Shop, "other");
  expectType<Equal<typeof other, RefTo<typeof Shop>>>();
  const any = kit.ref("any");
  expectType<Equal<typeof any, Ref<AnySignatures>>>();
  kit.answer(other, "price", (item) => item.length);
  kit.answer(other, "ticks", () => [1]);
  kit.answer(any, "whatever", () => 1);
  kit.refuse(other, "price", "timeout");

  // @ts-expect-error — a wrong operation
  kit.run("close");
  // @ts-expect-error — a wrong payload
  kit.run("price", 1);
  // @ts-expect-error — a missing payload
  kit.run("price");
  // @ts-expect-error — a wrong answer
  kit.answer(other, "price", () => "4");
  // @ts-expect-error — an answer to an operation that it has not
  kit.answer(other, "close", () => 4);
  // @ts-expect-error — a kind that nobody can be refused with
  kit.refuse(other, "price", "late");
  // @ts-expect-error — a hook that is none
  kit.runHook("onEnd");
  // @ts-expect-error — a handler is missing
  createBehaviourKit(Shop, () => ({ open() {} }));
}
