// A service for very many sockets. It prints its port, and what it holds for each line that it reads.
import { serve } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";

const Desk = defineProtocol("desk", { add: { payload: Type.Number(), reply: Type.Number() } });
const system = createSystem();
let total = 0;
const ref = system.spawn("desk", Desk, () => ({ add: (amount) => (total += amount) }));
const { server } = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  expose: { desk: { ref, operations: ["add"] } },
  limits: { sockets: 20_000 },
});
console.log(server.port);
for await (const _ of console) {
  Bun.gc(true);
  console.log(JSON.stringify({ sockets: server.pendingWebSockets, heap: process.memoryUsage().heapUsed }));
}
