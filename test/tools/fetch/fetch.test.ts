import { describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { certificate, local, serve, serveRaw, turns, web } from "./kit";

describe("get", () => {
  test("gives the status, the headers and the content of an answer", async () => {
    await using server = serve(
      () => new Response('{"a":1}', { headers: { "content-type": "application/json", etag: '"1"' } }),
    );
    const at = `http://api.example.com:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    const reply = await tool.get(`${at}/items?page=2#top`, { headers: { Accept: "application/json" } });
    expect(reply).toEqual({
      url: `${at}/items?page=2`,
      status: 200,
      headers: expect.objectContaining({ "content-type": "application/json", etag: '"1"' }),
      encoding: "utf8",
      content: '{"a":1}',
    });
    expect(server.heard).toEqual([
      {
        method: "GET",
        path: "/items?page=2",
        headers: expect.objectContaining({
          host: `api.example.com:${server.port}`,
          accept: "application/json",
          "user-agent": "envoi",
        }),
        body: "",
      },
    ]);
  });

  test("an answer with any status is a value", async () => {
    await using server = serve(() => new Response("none", { status: 404 }));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    expect(await tool.get(`${at}/`)).toMatchObject({ status: 404, content: "none" });
  });

  test("content is text by the charset of the answer, base64, or bytes; what is no text is refused", async () => {
    const bytes = Uint8Array.of(0x67, 0xfc, 0x6e); // "gün" in Latin-1.
    const types: Record<string, string> = {
      "/latin": "text/plain; charset=iso-8859-1",
      "/quoted": 'text/plain; format=flowed; charset="ISO-8859-1"',
      "/utf8": "text/plain; charset=utf-8",
      "/none": "image/png",
      "/odd": "text/plain; charset=klingon",
    };
    await using server = serve((request) => {
      const type = types[new URL(request.url).pathname] ?? "text/plain";
      return new Response(bytes, { headers: { "content-type": type } });
    });
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    expect(await tool.get(`${at}/latin`)).toMatchObject({ content: "gün" });
    expect(await tool.get(`${at}/quoted`)).toMatchObject({ content: "gün" });
    for (const path of ["utf8", "none", "odd"])
      expect(await tool.get(`${at}/${path}`)).toMatchObject({ kind: "not-text" });
    expect(await tool.get(`${at}/none`, { encoding: "base64" })).toMatchObject({ encoding: "base64", content: "Z/xu" });
    expect(await tool.get(`${at}/none`, { encoding: "bytes" })).toMatchObject({ encoding: "bytes", content: bytes });
  });

  test("what is compressed is decompressed, and its headers are not about the content any more", async () => {
    const text = "envoi ".repeat(10_000);
    const codings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, "x-gzip": gzipSync };
    await using server = serve((request) => {
      const coding = new URL(request.url).pathname.slice(1) as keyof typeof codings; // One of those below.
      return new Response(codings[coding](text), { headers: { "content-encoding": coding } });
    });
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    for (const coding of Object.keys(codings)) {
      const reply = await tool.get(`${at}/${coding}`);
      expect(reply).toMatchObject({ status: 200, content: text });
      expect(reply).not.toHaveProperty(["headers", "content-encoding"]);
      expect(reply).not.toHaveProperty(["headers", "content-length"]);
    }
    expect(server.heard[0]?.headers).toMatchObject({ "accept-encoding": "gzip, br" });
    await tool.get(`${at}/gzip`, { headers: { range: "bytes=0-9" } });
    expect(server.heard.at(-1)?.headers).toMatchObject({ "accept-encoding": "identity", range: "bytes=0-9" });
  });

  test("maxBytes gives the beginning, says so, and leaves half of a letter out", async () => {
    await using server = serve(() => new Response("aü".repeat(100_000)));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    expect(await tool.get(`${at}/`, { maxBytes: 5 })).toMatchObject({ content: "aüa", isCut: true });
    expect(await tool.get(`${at}/`, { maxBytes: 5, encoding: "base64" })).toMatchObject({
      content: Buffer.from("aüaü").subarray(0, 5).toString("base64"),
      isCut: true,
    });
    expect(await tool.get(`${at}/`, { maxBytes: 300_000 })).not.toHaveProperty("isCut");
  });

  test("an answer without a body has no content", async () => {
    await using server = serve(
      (request) =>
        new Response(request.method === "HEAD" ? "it" : null, { status: request.method === "HEAD" ? 200 : 204 }),
    );
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    expect(await tool.get(`${at}/`)).toMatchObject({ status: 204, content: "" });
    expect(await tool.send("HEAD", `${at}/`)).toMatchObject({ status: 200, content: "" });
  });

  test("over TLS, the server is known by the certificate of its name, by the rule's authority", async () => {
    await using server = serve(undefined, { isSecure: true });
    const at = (host: string) => `https://${host}:${server.port}`;
    await using tool = web({
      allow: [
        local(`${at("api.example.com")}/*`, { ca: certificate }),
        local(`${at("www.other.test")}/*`, { ca: certificate }),
        local(`${at("www.example.com")}/*`),
        local(`${at("127.0.0.1")}/*`, { ca: certificate }),
      ],
    });
    expect(await tool.get(`${at("api.example.com")}/`)).toMatchObject({ status: 200, content: "hello" });
    expect(server.heard).toMatchObject([{ headers: { host: `api.example.com:${server.port}` } }]);
    for (const host of ["www.other.test", "www.example.com", "127.0.0.1"]) {
      expect(await tool.get(`${at(host)}/`)).toMatchObject({
        kind: "insecure",
        message: expect.not.stringContaining("ERR_"),
      });
    }
    expect(server.heard.length).toBe(1);
  });

  test("IPv6 is connected to as IPv4 is", async () => {
    await using server = serve(undefined, { hostname: "::1" });
    const at = (host: string) => `http://${host}:${server.port}`;
    await using tool = web({ allow: [local(`${at("a.test")}/*`), local(`${at("[::1]")}/*`)], resolve: () => ["::1"] });
    expect(await tool.get(`${at("a.test")}/`)).toMatchObject({ status: 200 });
    expect(await tool.get(`${at("[::1]")}/`)).toMatchObject({ status: 200 });
    expect(server.heard.map(({ headers }) => headers["host"])).toEqual([
      `a.test:${server.port}`,
      `[::1]:${server.port}`,
    ]);
  });
});

describe("request", () => {
  test("sends a method and a body, as text, base64 or bytes", async () => {
    await using server = serve(async (request) => new Response(await request.bytes()));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`, { methods: ["POST", "DELETE"] })] });
    const headers = { "content-type": "text/plain" };
    expect(await tool.send("POST", `${at}/`, { body: "ü", headers })).toMatchObject({ content: "ü" });
    expect(await tool.send("POST", `${at}/`, { body: "w7w=", bodyEncoding: "base64" })).toMatchObject({ content: "ü" });
    expect(await tool.send("POST", `${at}/`, { body: Uint8Array.of(65) })).toMatchObject({ content: "A" });
    expect(await tool.send("DELETE", `${at}/`)).toMatchObject({ content: "" });
    expect(server.heard.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "DELETE"]);
    expect(server.heard[0]?.headers).toMatchObject({ "content-type": "text/plain", "content-length": "2" });
  });

  test("refuses what cannot be a body, before anything is sent", async () => {
    await using server = serve();
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`, { methods: ["GET", "POST"] })], maxRequestBytes: 10 });
    expect(await tool.send("GET", `${at}/`, { body: "a" })).toMatchObject({ kind: "invalid-request" });
    expect(await tool.send("POST", `${at}/`, { body: "a b", bodyEncoding: "base64" })).toMatchObject({
      kind: "invalid-request",
    });
    for (const body of ["a".repeat(11), "ü".repeat(6), new Uint8Array(11)]) {
      expect(await tool.send("POST", `${at}/`, { body })).toMatchObject({ kind: "too-large" });
    }
    const long = Buffer.alloc(20).toString("base64");
    expect(await tool.send("POST", `${at}/`, { body: long, bodyEncoding: "base64" })).toMatchObject({
      kind: "too-large",
    });
    expect(server.heard).toEqual([]);
    expect(await tool.send("POST", `${at}/`, { body: "a".repeat(10) })).toMatchObject({ status: 200 });
  });

  test("a misspelt field is refused", async () => {
    await using tool = web({ allow: ["https://a.test/*"] });
    const reply = await tool.ref.ask("get", { url: "https://a.test/", max_bytes: 1 } as never);
    expect(reply.isErr() && reply.error.kind).toBe("invalid-payload");
  });
});

describe("requestStream", () => {
  test("gives the head, and then the content in pieces whose letters are whole", async () => {
    const text = "aü€😀".repeat(40_000);
    await using server = serve(() => new Response(text, { headers: { "x-a": "b" } }));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)], maxReplyBytes: 1 });
    const [head, ...pieces] = (await tool.stream(`${at}/`)) as { content: string }[]; // As the protocol has them.
    expect(head).toMatchObject({ kind: "head", status: 200, url: `${at}/`, headers: { "x-a": "b" } });
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.map(({ content }) => content).join("")).toBe(text);
    const [, ...coded] = (await tool.stream(`${at}/`, { encoding: "base64" })) as { content: string }[];
    expect(Buffer.from(coded.map(({ content }) => content).join(""), "base64").toString()).toBe(text);
    const [, ...bytes] = (await tool.stream(`${at}/`, { encoding: "bytes" })) as { content: Uint8Array }[];
    expect(Buffer.concat(bytes.map(({ content }) => content)).toString()).toBe(text);
  });

  test("P12: a reader that stops holds the server up, and one that leaves closes the connection", async () => {
    let sent = 0;
    const left = Promise.withResolvers<void>();
    const piece = Buffer.alloc(65_536);
    await using server = await serveRaw((socket) => {
      socket.on("close", () => left.resolve());
      socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
      const push = (): void => {
        for (let goesOn = true; goesOn && !socket.destroyed; sent += piece.length) goesOn = socket.write(piece);
        if (!socket.destroyed) socket.once("drain", push);
      };
      push();
    });
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)], maxStreamBytes: 10 ** 12 });
    let read = 0;
    for await (const item of tool.ref.stream("requestStream", { url: `${at}/`, encoding: "bytes" }, { credit: 2 })) {
      expect(item.ok).toBe(true);
      if (++read < 5) continue;
      await turns(2_000);
      break;
    }
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    await left.promise;
  });

  test("a refusal is the last item", async () => {
    await using server = serve(() => new Response("a".repeat(100_000)));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)], maxStreamBytes: 60_000 });
    const items = await tool.stream(`${at}/`);
    expect(items.at(-1)).toMatchObject({ kind: "too-large" });
    expect(items[0]).toMatchObject({ kind: "head" });
    expect(await tool.stream("https://b.test/")).toMatchObject([{ kind: "not-allowed" }]);
  });

  test("streams that are open hold up no requests", async () => {
    const stuck = Promise.withResolvers<Response>();
    await using server = serve((request) => (request.url.endsWith("stuck") ? stuck.promise : new Response("it")));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)], concurrency: 1 });
    const waiting = tool.stream(`${at}/stuck`);
    expect(await tool.get(`${at}/`)).toMatchObject({ content: "it" });
    stuck.resolve(new Response("late"));
    expect((await waiting).at(-1)).toMatchObject({ content: "late" });
  });
});
