import { expect, test } from "bun:test";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { defineProtocol, Type } from "../../src/index";
import { trace } from "../../src/telemetry/index";
import { testSystems } from "../actor/test-system";
import { installContextManager, traced } from "./traced";

const { createTestSystem } = testSystems();
installContextManager();

const Shop = defineProtocol("shop", {
  order: { payload: Type.Number(), reply: Type.String() },
  fail: { payload: Type.String() },
});
const Store = defineProtocol("store", {
  take: { payload: Type.Number(), reply: Type.Number() },
  note: { payload: Type.String() },
});

test("each message handled is a span below that of its sender, with the attributes of the conventions", async () => {
  const { system } = createTestSystem();
  const { tracer, span, tree } = traced();
  trace(system, { tracer });
  const store = system.spawn("store", Store, (ctx) => ({
    async take(count) {
      await undefined;
      ctx.tell(store, "note", "taken");
      return count;
    },
    note() {},
  }));
  const shop = system.spawn("shop", Shop, (ctx) => ({
    async order(count) {
      return `${(await ctx.ask(store, "take", count)).unwrapOr(0)} sent`;
    },
    fail() {},
  }));
  await tracer.startActiveSpan("request", async (request) => {
    expect((await shop.ask("order", 3)).unwrapOr("")).toBe("3 sent");
    request.end();
  });
  await Bun.sleep(0);
  expect(tree()).toEqual(["request", "  process shop.order", "    process store.take", "      process store.note"]);
  const { kind, attributes, status, parentSpanContext } = span("process shop.order");
  expect(kind).toBe(SpanKind.CONSUMER);
  expect(status).toEqual({ code: SpanStatusCode.UNSET });
  expect(parentSpanContext?.isRemote).not.toBe(true);
  expect(attributes).toEqual({
    "messaging.system": "envoi",
    "messaging.operation.type": "process",
    "messaging.operation.name": "process",
    "messaging.destination.name": "@(shop)",
    "messaging.destination.template": "shop",
    "messaging.envoi.operation": "order",
    "messaging.envoi.queue_time": expect.any(Number),
  });
});
