import { expect, test } from "bun:test";
import { createSystem } from "../../src/index";
import { recordIn } from "../actor/test-system";
import { EVERY, FLOOD, Heap } from "../rpc/stranger";
import { call, post, requestOf, send, serveDesk } from "./desk";

const CALL = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "desk_total" } };

test("P18: a server among 100,000 wrong requests answers the right ones, and its memory stays flat", async () => {
  await using system = createSystem({ logger: recordIn([]) });
  const mcp = await serveDesk(system, { limits: { body: 2_000 } });
  /** Requests that the door refuses. */
  const atDoor: readonly (() => Promise<Response>)[] = [
    () => post(mcp, "{"),
    () => post(mcp, '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}'),
    () => post(mcp, `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(100)}${"]".repeat(100)}}`),
    () => post(mcp, `"${"x".repeat(3_000)}"`),
    () => post(mcp, CALL, { "content-type": "text/plain" }),
    () => post(mcp, CALL, { host: "evil.example" }),
    () => post(mcp, CALL, { origin: "http://evil.example" }),
    () => post(mcp, CALL, { "mcp-session-id": "nobody's" }),
    () => mcp.fetch(new Request("http://localhost/mcp", { method: "PUT" })),
  ];
  const heap = new Heap();
  let refused = 0;
  for (let sent = 0; sent < FLOOD; ) {
    for (let index = 0; index < EVERY; index++) {
      const response = await (atDoor[index % atDoor.length] as () => Promise<Response>)(); // There are some.
      if (response.status >= 400) refused++;
    }
    sent += EVERY;
    // Only the official SDK can refuse these calls, which takes ten times as long.
    for (const params of [{ name: "desk_secret" }, { name: "desk_add", arguments: { a: "one" } }, { name: 7 }]) {
      const { result, error } = await send(mcp, "tools/call", params);
      expect(error !== undefined || result?.["isError"] === true).toBe(true);
    }
    expect((await mcp.fetch(requestOf("no/such/method"))).status).toBeGreaterThanOrEqual(400);
    expect(await call(mcp, "desk_double", { value: sent })).toMatchObject({ structuredContent: { value: 2 * sent } });
    if (sent % (FLOOD / 5) === 0) heap.measure();
  }
  expect(refused).toBe(FLOOD);
  heap.expectFlat();
  await mcp.close();
});
