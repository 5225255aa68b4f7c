// A service with sessions, which the test kills: prints its port.
import { createGateway } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";

const Counting = defineProtocol("counting", {
  count: { payload: Type.Number(), stream: Type.Number() },
  fill: { payload: Type.Number(), stream: Type.String() },
});

const system = createSystem();
const gateway = createGateway(system, {
  expose: {},
  authenticate: (request) => ({ id: request.headers.get("authorization") ?? "nobody" }),
  sessions: {
    protocol: Counting,
    path: process.argv[2] ?? "",
    operations: ["count", "fill"],
    factory: (ctx) => ({
      async *count(to) {
        for (let n = 0; n < to; n++) {
          yield n;
          if (n % 3 === 0) await new Promise<void>((go) => ctx.clock.macrotask(go));
        }
      },
      async *fill(to) {
        for (let n = 0; n < to; n++) yield `${n} `.padEnd(4_096, "x");
      },
    }),
  },
});
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: gateway.fetch });
process.stdout.write(`${server.port}\n`);
// Ends with the test, however that ends.
process.stdin.on("end", () => process.exit()).resume();
