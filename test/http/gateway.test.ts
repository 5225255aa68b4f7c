import { expect, test } from "bun:test";
import { createGateway } from "../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../src/index";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
  total: { reply: Type.Number(), hints: { readOnly: true } },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  reset: {},
});
const system = createSystem();
let n = 0;
const counter = system.spawn("counter", Counter, () => ({
  add: (m) => (n += m),
  total: () => n,
  async *ticks(k) {
    for (let i = 0; i < k; i++) yield i;
  },
  reset: () => {
    n = 0;
  },
}));
const gateway = createGateway(system, { expose: { counter: { ref: counter, operations: ["add", "total", "ticks"] } } });
// @ts-expect-error it has no such operation
const wrong = () => createGateway(system, { expose: { counter: { ref: counter, operations: ["ad"] } } });
const withOptions = createGateway(system, {
  expose: { counter: { ref: counter, operations: { add: true, ticks: { format: "ai-sdk" } } } },
});

const post = (path: string, body: unknown) =>
  gateway.fetch(
    new Request(`http://x${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
test("it asks", async () => {
  const r = await post("/actors/counter/add", 2);
  expect([r.status, await r.text()]).toEqual([200, "2"]);
  const b = await post("/actors/counter/add", "2");
  console.log(b.status, await b.text());
  console.log((await post("/actors/counter/reset", null)).status);
  const t = await gateway.fetch(new Request("http://x/actors/counter/total"));
  console.log(await t.text());
  console.log(await (await post("/actors/counter/ticks", 3)).text());
  expect(wrong).toThrow();
  expect(withOptions).toBeDefined();
});
