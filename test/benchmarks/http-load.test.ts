import { afterAll, expect, test } from "bun:test";
import { connect, get, isOk, openAll, post, repeat, times } from "../../benchmarks/subjects/http-load";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.url.endsWith("/busy")) return new Response("busy", { status: 503 });
    if (request.url.endsWith("/long")) return new Response("x".repeat(1_000_000));
    if (request.url.endsWith("/length")) return Response.json((await request.text()).length);
    async function* parts() {
      yield "first ";
      yield await request.text();
    }
    return new Response(parts());
  },
});
const port = server.port ?? 0;
afterAll(() => server.stop(true));

test("an answer is read to its end, whether its length is told or it comes in chunks", async () => {
  const connection = await connect(port);
  const long = await connection.ask(get("/long"));
  expect(long.slice(long.indexOf("\r\n\r\n") + 4)).toBe("x".repeat(1_000_000));
  expect(await connection.ask(post("/parts", "last"))).toMatch(/first [\s\S]*last\r\n0\r\n\r\n$/);
  expect(await connection.ask(post("/parts", "last"), "first")).toStartWith("HTTP/1.1 200 OK");
  expect(await connection.rest()).toEndWith("last\r\n0\r\n\r\n");
});

test("a request that is longer than the socket takes at once is sent whole", async () => {
  expect(await (await connect(port)).ask(post("/length", "x".repeat(9_000_000)))).toEndWith("\r\n\r\n9000000");
});

test("a load of wrong answers fails, and so does one whose server goes away", async () => {
  const clients = await openAll(port, 2);
  let asked = 0;
  const isRight = (answer: string): boolean => isOk(answer) && answer.includes(`${(asked++ % 2) + 1}\r\n`);
  const requests = ["1", "2"].map((body) => post("/parts", body));
  await repeat(clients.slice(1), { requests, isRight }, times(7));
  expect(asked).toBe(7);
  const busy = { requests: [get("/busy")], isRight: isOk };
  await expect(repeat(clients, busy, times(7))).rejects.toThrow("an answer was not the due one: HTTP/1.1 503");
  const gone = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data: (socket) => void socket.end() } });
  const connection = await connect(gone.port);
  await expect(connection.ask(get("/"))).rejects.toThrow("the server closed a connection");
  gone.stop();
});

test("a connection that was closed between two requests is opened anew", async () => {
  const connection = await connect(port);
  expect(await connection.ask(post("/length", "one"))).toEndWith("\r\n\r\n3");
  connection.leave();
  expect(await connection.ask(post("/length", "three"))).toEndWith("\r\n\r\n5");
});
