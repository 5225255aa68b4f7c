import { expect, test } from "bun:test";
import { createGateway } from "../../src/http/index";
import {
  type Address,
  address,
  createMessage,
  type Message,
  type MessageOptions,
  parseResponse,
  serializeMessage,
} from "../../src/index";
import { testSystems } from "../actor/test-system";
import { Counter, createCounter, expectProblem, post, send } from "./counter";

const { createTestSystem } = testSystems();
const at = address("counter");
const asking = (to: Address, type: string, payload: unknown, options: MessageOptions = {}): Message =>
  createMessage(to, type, payload, { pattern: "ask", ...options });

function createService(options: { readonly role?: string } = {}) {
  const test = createTestSystem();
  const ref = test.system.spawn("counter", Counter, createCounter);
  test.system.spawn("secret", Counter, createCounter);
  const gateway = createGateway(test.system, {
    expose: {
      counter: { ref, operations: ["add", "told", "fail", "ticks"] },
      reader: { ref, operations: ["total", "add"] },
    },
    ...(options.role !== undefined && {
      authenticate: () => ({ id: "ada" }),
      authorize: (_: unknown, actor: string) => actor === options.role,
    }),
  });
  const sendMessage = (message: Message, headers?: Record<string, string>) =>
    send(gateway, "/messages", serializeMessage(message)._unsafeUnwrap(), headers);
  return { ...test, gateway, sendMessage };
}

test("a message in the wire form is answered in the wire form", async () => {
  const { sendMessage } = createService();
  const message = asking(at, "add", 2, { from: address("client") });
  const response = await sendMessage(message);
  expect(response.status).toBe(200);
  expect(parseResponse(await response.text())._unsafeUnwrap()).toMatchObject({
    ok: true,
    payload: 2,
    type: "add",
    from: at,
    to: address("client"),
    correlationId: message.correlationId ?? message.id,
  });
});

test("a tell is taken with 202, and its actor gets it", async () => {
  const { sendMessage, settle } = createService();
  const response = await sendMessage(createMessage(at, "add", 2));
  expect([response.status, await response.text()]).toEqual([202, ""]);
  await settle();
  const total = await sendMessage(asking(at, "total", null));
  expect(await total.json()).toMatchObject({ ok: true, payload: 2 });
});

test("a failure comes back in the wire form, with the status of its kind", async () => {
  const { sendMessage, takeLog, takeFailures } = createService();
  const refused = await sendMessage(asking(at, "add", "two"));
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { ok: false, error: { kind: "invalid-payload" } },
  ]);
  const failed = await sendMessage(asking(at, "fail", null));
  const text = await failed.text();
  expect([failed.status, JSON.parse(text)]).toMatchObject([500, { ok: false, error: { kind: "handler-failed" } }]);
  expect(text).not.toContain("secret");
  expect(takeLog()).toHaveLength(1);
  takeFailures();
});

test("P18: only what is exposed is reached, and the rest looks as if it were not there", async () => {
  const { sendMessage } = createService();
  const unknown = [
    asking(address("secret"), "add", 2),
    asking(address("nobody"), "add", 2),
    asking(at, "reset", null),
    asking(at, "constructor", null),
    asking(at, "__proto__", null),
  ];
  for (const message of unknown) await expectProblem(await sendMessage(message), 404, "not-found");
});

test("P18: an actor that is exposed by two names is authorized by the one that a caller may use", async () => {
  const reader = createService({ role: "reader" });
  expect((await reader.sendMessage(asking(at, "add", 1))).status).toBe(200);
  await expectProblem(await reader.sendMessage(asking(at, "fail", null)), 403, "forbidden");
  const nobody = createService({ role: "none" });
  await expectProblem(await nobody.sendMessage(asking(at, "add", 1)), 403, "forbidden");
});

test("P18: metadata from outside is dropped, but for the trace context", async () => {
  const { sendMessage } = createService({ role: "counter" });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const metadata = { caller: "root", role: "admin", traceparent, tracestate: "a=1", baggage: "b=2" };
  const told = await sendMessage(asking(at, "told", null, { metadata }));
  expect(await told.json()).toMatchObject({ payload: { caller: "ada", traceparent, tracestate: "a=1" } });
  const wrong = await sendMessage(
    asking(at, "told", null, { metadata: { traceparent: "anything", tracestate: { a: 1 } } }),
    { traceparent },
  );
  expect(await wrong.json()).toMatchObject({ payload: { caller: "ada", traceparent } });
});

test.each([
  ["no object", [1], /A message is a JSON object/],
  ["no id", { pattern: "ask", to: at, type: "add", timestamp: 1 }, /\/id is missing/],
  ["a reply", { id: "1", pattern: "reply", to: at, type: "add", timestamp: 1 }, /one of tell, ask, stream/],
  ["a bad address", { id: "1", pattern: "ask", to: "../counter", type: "add", timestamp: 1 }, /\/to is an address/],
  [
    "a stream",
    { id: "1", pattern: "stream", to: at, type: "ticks", timestamp: 1 },
    /POST \/actors\/counter\/ticks does/,
  ],
  ["an ask of a stream", { id: "1", pattern: "ask", to: at, type: "ticks", timestamp: 1 }, /opens no stream/],
])("what is no message for it is refused: %s", async (_, message, sentence) => {
  const { gateway } = createService();
  expect(await expectProblem(await post(gateway, "/messages", message), 400, "bad-request")).toMatch(sentence);
});
