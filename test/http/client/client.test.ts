import { afterAll, expect, test } from "bun:test";
import { createServer } from "node:net";
import { type ClientErrorKind, createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { Counter, createCounter } from "../counter";

const system = createSystem({ logger: { error() {}, warn() {} } });
const counter = system.spawn("counter", Counter, createCounter, { concurrency: 100 });
const service = serve(system, {
  port: 0,
  signals: [],
  basePath: "/api",
  expose: {
    counter: { ref: counter, operations: ["add", "total", "echo", "told", "fail", "never", "ticks"] },
    close: { ref: counter, operations: ["total"] },
  },
  limits: { body: 1_000, time: 60_000 },
  authenticate: ({ headers }) =>
    headers.get("authorization") === "Bearer of-ada"
      ? { id: "ada", metadata: { app: headers.get("x-app") ?? "" } }
      : undefined,
});
afterAll(() => service.stop({ streams: 0, timeout: 1 }));
const url = new URL("/api", service.url);
const client = createClient<typeof service>({ url, token: "of-ada", headers: { "x-app": "tests" } });

/** Serves bytes as they are, for each connection, and then closes it. */
async function raw(
  response: string | null,
): Promise<{ readonly url: string; readonly requests: string[]; close(): void }> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      requests.push(String(data));
      if (response !== null) socket.end(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("It has no port.");
  return { url: `http://127.0.0.1:${address.port}`, requests, close: () => void server.close() };
}

const http = (status: string, type: string, body: string, more = "") =>
  `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n${more}\r\n${body}`;

test("an ask gives the reply, and a tell is taken", async () => {
  expect((await client.counter.ask("add", 2))._unsafeUnwrap()).toBe(2);
  expect((await client.counter.tell("add", 3)).isOk()).toBe(true);
  expect((await client.counter.ask("total"))._unsafeUnwrap()).toBe(5);
  for (const value of [null, false, 0, "", "ä😀\u2028", [1, { a: [] }]]) {
    expect((await client.counter.ask("echo", value))._unsafeUnwrap()).toEqual(value);
  }
  expect((await client.counter.ask("echo", undefined)).isOk()).toBe(true);
});

test("token, headers and the trace go with each request", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const trace = { traceparent, tracestate: "vendor=1" };
  const told = await client.counter.ask("told", undefined, { ...trace, headers: { "x-app": "one" } });
  expect(told._unsafeUnwrap()).toMatchObject({ app: "one", caller: "ada", ...trace });
  let renewed = 0;
  const other = createClient<typeof service>({
    url,
    token: async () => (++renewed === 1 ? "of-eve" : "of-ada"),
    headers: async () => ({ "x-app": "made" }),
  });
  expect((await other.counter.ask("total"))._unsafeUnwrapErr().kind).toBe("unauthenticated");
  expect((await other.counter.ask("told"))._unsafeUnwrap()).toMatchObject({ app: "made" });
});

test("an error says what happened: its kind, a sentence, its status, and the issues of a payload", async () => {
  // @ts-expect-error — no number
  const invalid = (await client.counter.ask("add", "two"))._unsafeUnwrapErr();
  expect(invalid).toMatchObject({ kind: "invalid-payload", status: 400, retryable: false, retryAfter: null });
  expect(invalid.issues).toEqual([{ path: "", message: expect.stringMatching(/number/) }]);
  expect((await client.counter.ask("fail"))._unsafeUnwrapErr()).toMatchObject({ kind: "handler-failed", status: 500 });
  // @ts-expect-error — not exposed
  expect((await client.counter.ask("reset"))._unsafeUnwrapErr()).toMatchObject({ kind: "not-found", status: 404 });
  expect((await client.counter.ask("echo", "x".repeat(2_000)))._unsafeUnwrapErr()).toMatchObject({
    kind: "payload-too-large",
    status: 413,
  });
});

test("what JSON cannot carry is not sent", async () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  for (const payload of [1n, circle]) {
    expect((await client.counter.ask("echo", payload))._unsafeUnwrapErr()).toMatchObject({
      kind: "invalid-payload",
      status: null,
    });
  }
});

test("an ask ends when its signal is aborted, or its time is up", async () => {
  const abort = new AbortController();
  const asked = client.counter.ask("never", undefined, { signal: abort.signal });
  abort.abort(new Error("no more"));
  expect((await asked)._unsafeUnwrapErr()).toMatchObject({
    kind: "cancelled",
    status: null,
    cause: abort.signal.reason,
  });
  expect((await client.counter.ask("add", 1, { signal: AbortSignal.abort() }))._unsafeUnwrapErr().kind).toBe(
    "cancelled",
  );

  const clock = createManualClock();
  const other = createClient<typeof service>({ url, token: "of-ada", clock, timeout: 5_000 });
  const late = other.counter.ask("never");
  await clock.advance(5_000);
  expect((await late)._unsafeUnwrapErr()).toMatchObject({ kind: "timeout", retryable: true, status: null });
  expect(clock.timers).toBe(0);
  expect(() => client.counter.ask("never", undefined, { timeout: 0 })).toThrow(RangeError);
});

test("the gateway is told how long the client waits", async () => {
  const { url, requests, close } = await raw(http("200 OK", "application/json", "7"));
  const other = createClient<typeof service>({ url });
  expect((await other.counter.ask("total", undefined, { timeout: 1_500 }))._unsafeUnwrap()).toBe(7);
  expect(requests[0]).toMatch(/^prefer: wait=2\r$/im);
  close();
});

test("a service that cannot be reached: nothing was sent, for sure", async () => {
  const { url, close } = await raw(null);
  close();
  const other = createClient<typeof service>({ url });
  expect((await other.counter.ask("total"))._unsafeUnwrapErr()).toMatchObject({
    kind: "unreachable",
    retryable: true,
    status: null,
  });
  const nowhere = createClient<typeof service>({ url, token: () => Promise.reject(new Error("no token")) });
  expect((await nowhere.counter.ask("total"))._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable", status: null });
});

test("P17: an answer that is cut off after any byte is unknown, and nothing is sent twice", async () => {
  const answer = http("200 OK", "application/json", "12345");
  for (let length = 0; length < answer.length; length++) {
    const { url, requests, close } = await raw(answer.slice(0, length));
    const other = createClient<typeof service>({ url });
    const reply = await other.counter.ask("add", 1);
    expect({ length, kind: reply.isErr() && reply.error.kind }).toEqual({ length, kind: "unknown" });
    expect({ length, requests: requests.length }).toEqual({ length, requests: 1 });
    close();
  }
});

const STRANGE: readonly (readonly [answer: string, kind: ClientErrorKind, status: number, retryable: boolean])[] = [
  [http("200 OK", "text/html", "<p>Log in</p>"), "invalid-response", 200, false],
  [http("200 OK", "application/json", "{"), "invalid-response", 200, false],
  [http("502 Bad Gateway", "text/html", "<p>nginx</p>"), "unknown", 502, true],
  [http("503 Service Unavailable", "text/html", "", "retry-after: 7\r\n"), "unavailable", 503, true],
  [http("504 Gateway Timeout", "text/html", ""), "timeout", 504, true],
  [http("418 I'm a teapot", "text/plain", "tea"), "bad-request", 418, false],
  [http("599 Odd", "text/plain", ""), "unavailable", 599, true],
  [http("500 Oh", "application/problem+json", "{"), "internal-error", 500, false],
  [
    http("500 Oh", "application/problem+json", '{"kind":"__proto__","detail":"x","status":500,"issues":7}'),
    "internal-error",
    500,
    false,
  ],
  [
    http(
      "400 No",
      "application/problem+json",
      '{"kind":"bad-request","detail":"x","status":400,"issues":[7,{"path":"/a","message":"m"}]}',
    ),
    "bad-request",
    400,
    false,
  ],
];

test("an answer of something else is told by its status", async () => {
  for (const [answer, kind, status, retryable] of STRANGE) {
    const { url, close } = await raw(answer);
    const error = (await createClient<typeof service>({ url }).counter.ask("total"))._unsafeUnwrapErr();
    expect({ answer, kind: error.kind, status: error.status, retryable: error.retryable }).toEqual({
      answer,
      kind,
      status,
      retryable,
    });
    if (status === 503) expect(error.retryAfter).toBe(7_000);
    if (status === 400) expect(error.issues).toEqual([{ path: "/a", message: "m" }]);
    close();
  }
});

test("an actor that is called like a method of the client is reached by its name", async () => {
  expect((await client.actor("close").ask("total")).isOk()).toBe(true);
  expect(await client).toBe(client); // It is no promise.
  // @ts-expect-error — no such name
  expect((await client.actor("nobody").ask("total"))._unsafeUnwrapErr().kind).toBe("not-found");
  expect((await createClient({ url, token: "of-ada" }).actor("counter").ask("total")).isOk()).toBe(true);
});

test("options that cannot be one are refused at once", () => {
  // @ts-expect-error — no url
  expect(() => createClient({})).toThrow(TypeError);
  expect(() => createClient({ url, timeout: -1 })).toThrow(RangeError);
  expect(() => createClient({ url, retry: { attempts: Number.NaN } })).toThrow(RangeError);
});
