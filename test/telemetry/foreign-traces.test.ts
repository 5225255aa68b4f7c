import { expect, test } from "bun:test";
import { context, propagation } from "@opentelemetry/api";
import { defineProtocol, type Metadata, Type } from "../../src/index";
import { trace } from "../../src/telemetry/index";
import { testSystems } from "../actor/test-system";
import { installContextManager, traced } from "./traced";

// What comes from another process beside a message: its trace, the state of that, and its baggage.

const { createTestSystem } = testSystems();
installContextManager();

const Back = defineProtocol("back", {
  work: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
});
const back = () => ({ work: (text: string) => text, note() {} });

function start() {
  const test = createTestSystem();
  const spans = traced();
  trace(test.system, { tracer: spans.tracer });
  return { ...test, ...spans };
}

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("the trace of another process goes on where its text is well formed, and a new one begins otherwise", async () => {
  const { system, spans } = start();
  const ref = system.spawn("back", Back, back);
  const parentOf = async (metadata: Metadata): Promise<string | undefined> => {
    const before = spans().length;
    await ref.ask("work", "x", { metadata });
    const span = spans()[before];
    const { traceId, spanId, isRemote } = span?.parentSpanContext ?? {};
    return span === undefined ? "no span" : traceId && `${traceId}-${spanId}-${isRemote}`;
  };
  const known = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-true";
  expect(await parentOf({ traceparent: PARENT })).toBe(known);
  expect(await parentOf({ traceparent: `cc${PARENT.slice(2)}-what-comes` })).toBe(known); // A later version.
  expect(await parentOf({ traceparent: PARENT.replace(/01$/, "03") })).toBe(known); // Level 2: a random id.
  for (const flags of ["00", "02"])
    expect(await parentOf({ traceparent: PARENT.replace(/01$/, flags) })).toBe("no span");
  const malformed: readonly unknown[] = [
    PARENT.toUpperCase(),
    `${PARENT}, ${PARENT}`,
    `${PARENT}-more`,
    ` ${PARENT}`,
    PARENT.replace(/^00/, "ff"),
    PARENT.replace(/^00/, "0x"),
    PARENT.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)),
    PARENT.replace("b7ad6b7169203331", "0".repeat(16)),
    PARENT.replace("b7ad6b7169203331", "b7ad6b716920333g"),
    PARENT.replace(/01$/, "0"),
    PARENT.replace(/01$/, "1g"),
    PARENT.replace(/-/g, "_"),
    PARENT.slice(1),
    "x".repeat(1_000_000),
    "",
    7,
    null,
    { toString: () => PARENT },
    [PARENT],
  ];
  for (const traceparent of malformed)
    expect([traceparent, await parentOf({ traceparent })]).toEqual([traceparent, undefined]);
});

test("a tracestate goes on with its trace, where it is well formed", async () => {
  const { system, spans } = start();
  const ref = system.spawn("back", Back, back);
  const stateOf = async (tracestate: unknown): Promise<string | undefined> => {
    const before = spans().length;
    await ref.ask("work", "x", { metadata: { traceparent: PARENT, tracestate } });
    return spans()[before]?.spanContext().traceState?.serialize();
  };
  expect(await stateOf("congo=t61,rojo=00f0")).toBe("congo=t61,rojo=00f0");
  const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=v`).join(",");
  expect(await stateOf(many(32))).toBe(many(32));
  for (const wrong of [many(33), "a=1,a=2", "A=1", "a", "a=1;b\n", 7, null])
    expect(await stateOf(wrong)).toBeUndefined();
});

test("baggage is handed on, and handlers and their instrumentation read and change it", async () => {
  const { system, settle } = start();
  const seen: unknown[] = [];
  const read = () =>
    Object.fromEntries(
      propagation
        .getActiveBaggage()
        ?.getAllEntries()
        .map(([k, { value }]) => [k, value]) ?? [],
    );
  const ref = system.spawn("back", Back, (ctx) => ({
    ...back(),
    note: () => void seen.push([read(), ctx.metadata["baggage"]]),
    async work(text) {
      await undefined;
      ctx.tell(ref, "note", text);
      const baggage = propagation.getActiveBaggage()?.setEntry("shop", { value: "a b" });
      if (baggage !== undefined) {
        context.with(propagation.setBaggage(context.active(), baggage), () => ctx.tell(ref, "note", text));
      }
      return text;
    },
  }));
  await ref.ask("work", "x", { metadata: { traceparent: PARENT, baggage: "user=%C3%A4da;p=1, bad, user2=%zz" } });
  await ref.ask("note", "x" as never, { metadata: { baggage: "only=1" } });
  const plain = propagation.createBaggage({ from: { value: "code" } });
  context.with(propagation.setBaggage(context.active(), plain), () => ref.tell("note", "x"));
  await settle();
  expect(seen).toEqual([
    [{ user: "äda" }, "user=%C3%A4da;p=1, bad, user2=%zz"],
    [{ user: "äda", shop: "a b" }, "user=%C3%A4da;p=1,shop=a%20b"],
    [{ only: "1" }, "only=1"],
    [{ from: "code" }, "from=code"],
  ]);
});
