import { describe, expect, test } from "bun:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { local, serve, serveRaw, web } from "../kit";

const MB = 1024 * 1024;
const head = (more: string): string => `HTTP/1.1 200 OK\r\n${more}\r\n\r\n`;

describe("bombs", () => {
  const zeros = Buffer.alloc(64 * MB);
  const bombs = { gzip: gzipSync(zeros), br: brotliCompressSync(zeros, { params: { 1: 1 } }) };
  test.each(["gzip", "br"] as const)(
    "64 MB of zeros by %s: refused at the limit, or cut where the caller said",
    async (coding) => {
      await using server = serve(() => new Response(bombs[coding], { headers: { "content-encoding": coding } }));
      const at = `http://a.test:${server.port}`;
      await using tool = web({ allow: [local(`${at}/*`)], maxStreamBytes: 2 * MB });
      expect(await tool.get(`${at}/`)).toMatchObject({ kind: "too-large" });
      expect(await tool.get(`${at}/`, { maxBytes: 10 })).toMatchObject({ content: "\0".repeat(10), isCut: true });
      const items = await tool.stream(`${at}/`);
      expect(items.at(-1)).toMatchObject({ kind: "too-large" });
      const letters = items.map((item) => (item as { content?: string }).content?.length ?? 0); // None in the head and in the error.
      expect(letters.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(2 * MB);
      expect(Math.max(...letters)).toBeLessThanOrEqual(65_536);
    },
  );

  test("a compressed body that never gives anything is refused by its own bytes, and its connection is closed", async () => {
    const empty = Buffer.alloc(65_535, Buffer.from([0, 0, 0, 0xff, 0xff])); // Blocks of DEFLATE with nothing in them.
    const closed = Promise.withResolvers<void>();
    await using server = await serveRaw((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write(head("content-encoding: gzip\r\ntransfer-encoding: chunked"));
      const chunk = (bytes: Uint8Array) =>
        Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
      socket.write(chunk(Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)));
      const push = (): void => {
        while (!socket.destroyed && socket.write(chunk(empty)));
        if (!socket.destroyed) socket.once("drain", push);
      };
      push();
    });
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    expect(await tool.get(`${at}/`, { maxBytes: 1 })).toMatchObject({ kind: "too-large" });
    await closed.promise;
  });
});

describe("bodies", () => {
  test("one that is announced to be too large is refused before it is read, and its connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await serveRaw((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write(head("content-length: 1000000000000"));
    });
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)] });
    expect(await tool.get(`${at}/`)).toMatchObject({ kind: "too-large" });
    await closed.promise;
  });

  test("one without an end is refused at the limit, or cut, and its connection is closed", async () => {
    let open = 0;
    let closed = 0;
    const all = Promise.withResolvers<void>();
    await using server = await serveRaw((socket) => {
      open++;
      socket.on("close", () => ++closed === 2 && all.resolve());
      socket.write(head("connection: close"));
      const piece = Buffer.alloc(65_536, "a");
      const push = (): void => {
        while (!socket.destroyed && socket.write(piece));
        if (!socket.destroyed) socket.once("drain", push);
      };
      push();
    });
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)], maxReplyBytes: 100_000 });
    expect(await tool.get(`${at}/`)).toMatchObject({ kind: "too-large" });
    expect(await tool.get(`${at}/`, { maxBytes: 1_000 })).toMatchObject({ content: "a".repeat(1_000), isCut: true });
    await all.promise;
    expect(open).toBe(2);
  });

  test("maxBytes of a caller goes not beyond the owner's limit", async () => {
    await using server = serve(() => new Response("a".repeat(1_000)));
    const at = `http://a.test:${server.port}`;
    await using tool = web({ allow: [local(`${at}/*`)], maxReplyBytes: 100 });
    expect(await tool.get(`${at}/`, { maxBytes: 500 })).toMatchObject({ content: "a".repeat(100), isCut: true });
  });
});
