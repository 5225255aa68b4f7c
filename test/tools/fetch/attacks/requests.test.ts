import { describe, expect, test } from "bun:test";
import { local, serve, serveRaw, web } from "../kit";

describe("headers of a caller", () => {
  test.each([
    "Host",
    "connection",
    "transfer-encoding",
    "Content-Length",
    "upgrade",
    "te",
    "expect",
    "proxy-authorization",
    "authorization",
    "cookie",
    "x-forwarded-for",
    "x-http-method-override",
    "accept-encoding",
    "user-agent",
    "x-amz-target",
    "__proto__",
    "constructor",
    "",
    "accept ",
    "accept\r\nx-a",
  ])("%j may not be set", async (name) => {
    await using server = serve();
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    const headers = JSON.parse(`{${JSON.stringify(name)}:"a"}`);
    expect(await tool.get(`${at}/`, { headers })).toMatchObject({ kind: "not-allowed" });
    expect(server.heard).toEqual([]);
  });

  test("what would begin another header, or another request, is refused; so is a header twice", async () => {
    await using server = serve();
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    for (const value of ["a\r\nx-b: c", "a\nb", "a\rb", "a\u0000b", "日本", "\u007f"]) {
      expect(await tool.get(`${at}/`, { headers: { accept: value } })).toMatchObject({ kind: "invalid-request" });
    }
    expect(await tool.get(`${at}/`, { headers: { accept: "a", ACCEPT: "b" } })).toMatchObject({
      kind: "invalid-request",
    });
    expect(server.heard).toEqual([]);
  });

  test("too many of them, or too long ones, fit no schema", async () => {
    await using tool = web({ allow: ["https://a.test/*"] });
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`x-${at}`, "a"]));
    for (const headers of [many, { accept: "a".repeat(4_097) }, { accept: 7 }, ["accept"]]) {
      const reply = await tool.ref.ask("get", { url: "https://a.test/", headers: headers as never });
      expect(reply.isErr() && reply.error.kind).toBe("invalid-payload");
    }
  });

  test("a header that the owner adds goes before that of the caller", async () => {
    await using server = serve();
    const at = `http://a.test:${server.port}`;
    const rule = local(`${at}/*`, { headers: { "X-Key": "of the owner", "user-agent": "of the owner" } });
    await using tool = web({ allow: [rule], requestHeaders: ["X-Key"] });
    expect(await tool.get(`${at}/`, { headers: { "x-key": "of the caller" } })).toMatchObject({ status: 200 });
    expect(server.heard[0]?.headers).toMatchObject({ "x-key": "of the owner", "user-agent": "of the owner" });
  });
});

test("what is not allowed is refused without a word of what is", async () => {
  await using tool = web({
    allow: [{ url: "https://secret.internal/*", headers: { authorization: "Bearer s3cret" } }],
  });
  const told = await tool.get("https://other.test/");
  expect(told).toMatchObject({ kind: "not-allowed", url: "https://other.test/" });
  expect(JSON.stringify(told)).not.toMatch(/internal|s3cret/);
  expect(await tool.send("POST", "https://secret.internal/")).toMatchObject({ kind: "not-allowed" });
});

describe("answers that are no answers", () => {
  test.each([
    ["garbage", "garbage\r\n\r\n"],
    ["nothing", ""],
    ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello"],
    ["a body that is cut off", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhi"],
    ["chunks that are cut off", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhi"],
    ["chunks of no size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 4\r\n\r\nhihi"],
    ["a head of many megabytes", `HTTP/1.1 200 OK\r\nx-a: ${"a".repeat(8_388_608)}\r\n\r\n`],
    ["thousands of headers", `HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(5_000)}\r\n`],
    ["an unknown compression", "HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 2\r\n\r\nhi"],
    [
      "a compression of a compression",
      "HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip\r\ncontent-length: 2\r\n\r\nhi",
    ],
    [
      "a compression by a name of each object",
      "HTTP/1.1 200 OK\r\ncontent-encoding: constructor\r\ncontent-length: 2\r\n\r\nhi",
    ],
    ["a broken compression", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nhi"],
    [
      "a broken compression of another kind",
      "HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 4\r\n\r\n\xff\xff\xff\xff",
    ],
  ])("%s: an error without the inside", async (_, text) => {
    await using server = await serveRaw((socket) => socket.end(text, "latin1"));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    const told = await tool.get(`${at}/`);
    expect(told).toMatchObject({ kind: expect.stringMatching(/^(bad-reply|unreachable)$/) });
    expect(JSON.stringify(told)).not.toMatch(/127\.0\.0\.1|ERR_|Z_|ECONN|Malformed|node:|\.ts/);
  });

  test("a port where nobody listens: unreachable, without its address", async () => {
    const { port, ...server } = serve();
    await server[Symbol.asyncDispose]();
    const at = `http://a.test:${port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    const told = await tool.get(`${at}/`);
    expect(told).toMatchObject({ kind: "unreachable" });
    expect(JSON.stringify(told)).not.toMatch(/127\.0\.0\.1|ECONN/);
  });

  test("of the headers, 64 are shown, each cut at 4,096 letters, and none of the connection", async () => {
    const many = Array.from({ length: 90 }, (_, at) => `x-${at}: ${"a".repeat(at === 0 ? 6_000 : 1)}\r\n`).join("");
    const own = 'connection: close\r\nalt-svc: h3=":443"\r\n__proto__: a\r\ntransfer-encoding: chunked\r\n';
    await using server = await serveRaw((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${own}${many}\r\n2\r\nhi\r\n0\r\n\r\n`),
    );
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    const told = await tool.get(`${at}/`);
    if (!("headers" in told)) throw new Error(told.message);
    const names = Object.keys(told.headers);
    expect(names.length).toBe(64);
    expect(names.filter((name) => !name.startsWith("x-"))).toEqual([]);
    expect(Math.max(...Object.values(told.headers).map((value) => value.length))).toBe(4_096);
  });
});
