import { afterAll, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "envoi";
import { type AroundRequest, createGateway } from "envoi/http";

const Counter = defineProtocol("counter", { add: { payload: Type.Number(), reply: Type.Number() } });
const lines: string[] = [];
const system = createSystem({ logger: { warn() {}, error: (line) => void lines.push(line) } });
const counter = system.spawn("counter", Counter, () => ({ add: (n) => n + 1 }));
afterAll(() => system.shutdown());

const gatewayWith = (around: AroundRequest) =>
  createGateway(system, { around, expose: { counter: { ref: counter, operations: ["add"] } } });
const post = (path: string): Request =>
  new Request(`http://localhost${path}`, {
    method: "POST",
    body: "1",
    headers: { "content-type": "application/json" },
  });

test("a request is answered inside of its wrapper, which learns the route and may give another response", async () => {
  const seen: unknown[] = [];
  const { fetch } = gatewayWith(async (exchange, answer) => {
    seen.push(exchange.route);
    const response = await answer();
    seen.push(exchange.route, response.status);
    response.headers.set("x-seen", exchange.request.method);
    return response;
  });
  const response = await fetch(post("/actors/counter/add"));
  expect(await response.json()).toBe(2);
  expect(response.headers.get("x-seen")).toBe("POST");
  expect((await fetch(post("/nowhere"))).status).toBe(404);
  expect(seen).toEqual([undefined, expect.stringMatching(/^\/actors\//), 200, undefined, undefined, 404]);
});

test("P18: an error of a wrapper is answered with status 500 and without its text, and is logged", async () => {
  for (const around of [
    () => Promise.reject(new Error("the secret")),
    () => {
      throw new Error("the secret");
    },
  ]) {
    const response = await gatewayWith(around).fetch(post("/actors/counter/add"));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("the secret");
  }
  expect(lines.length).toBe(2);
});

test("a wrapper is a function", () => {
  expect(() => gatewayWith({} as never)).toThrow("around");
});
