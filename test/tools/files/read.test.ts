import { describe, expect, test } from "bun:test";
import { appendFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type FileSystemRef, resultOf } from "../../../src/tools";
import { etagOf, PIECE } from "../../../src/tools/files/etag";
import type { ReadRequest } from "../../../src/tools/files/requests/reading";
import { runs } from "../../property/runs";
import { everyWay, ways, withFiles } from "./ways";

/** The value of a read, which must succeed. */
async function contentOf(files: FileSystemRef, request: Omit<ReadRequest, "path">, path = "a") {
  return resultOf(await files.ask("read", { path, ...request }))._unsafeUnwrap();
}

/** The kind of the error that a read gives. */
async function kindOf(files: FileSystemRef, request: ReadRequest): Promise<string> {
  return resultOf(await files.ask("read", request))._unsafeUnwrapErr().kind;
}

/** Bytes of which no piece is like another one. */
const bytesOf = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 17 + (i >> 16) * 7) & 0xff;
  return bytes;
};

describe.each(everyWay)("read, by %s", (way) => {
  test("gives a text with its size and its etag", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "päper\n");
      const etag = etagOf(Buffer.from("päper\n"));
      expect(await contentOf(files, {})).toEqual({ encoding: "utf8", content: "päper\n", size: 7, etag });
    }));

  test("gives base64 and bytes, which are copies", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const bytes = Buffer.from([0, 255, 1, 254]);
      disk.writeFileSync(join(directory, "a"), bytes);
      disk.writeFileSync(join(directory, "b"), Buffer.from([9, 9, 9, 9]));
      expect((await contentOf(files, { encoding: "base64" })).content).toBe(bytes.toString("base64"));
      const { content } = await contentOf(files, { encoding: "bytes" });
      await contentOf(files, { encoding: "bytes" }, "b");
      expect(content).toEqual(new Uint8Array(bytes));
    }));

  test("an empty file has an empty content, and no lines", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "");
      expect(await contentOf(files, {})).toMatchObject({ content: "", size: 0, etag: etagOf(new Uint8Array()) });
      expect((await contentOf(files, { lines: {} })).lines).toEqual({ from: 1, to: 0, total: 0 });
    }));

  test("a part of a file of 1 MiB comes with the etag of the whole, and one of a larger file without", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      for (const [size, hasEtag] of [
        [1024 * 1024, true],
        [1024 * 1024 + 1, false],
      ] as const) {
        const bytes = bytesOf(size);
        disk.writeFileSync(join(directory, "a"), bytes);
        const { etag } = await contentOf(files, { encoding: "bytes", offset: 1, length: 1 });
        expect(etag).toBe(hasEtag ? etagOf(bytes) : undefined);
      }
    }));

  test("keeps a byte order mark and carriage returns, so that what was read can be written", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "\uFEFFone\r\ntwo\r\n");
      expect((await contentOf(files, {})).content).toBe("\uFEFFone\r\ntwo\r\n");
      disk.writeFileSync(join(directory, "a"), `\uFEFF${"x".repeat(PIECE)}`);
      expect((await contentOf(files, {})).content).toBe(`\uFEFF${"x".repeat(PIECE)}`);
    }));

  test("bytes that are no UTF-8 are no text, wherever they are", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "small"), Buffer.from([104, 0xff, 105]));
      const large = Buffer.alloc(2 * PIECE + 5, "x");
      disk.writeFileSync(join(directory, "cut"), Buffer.concat([large, Buffer.from([0xc3])]));
      large[PIECE + 1] = 0x80;
      disk.writeFileSync(join(directory, "large"), large);
      for (const path of ["small", "large", "cut"]) expect(await kindOf(files, { path })).toBe("not-text");
      expect((await contentOf(files, { encoding: "bytes" }, "large")).content).toEqual(new Uint8Array(large));
    }));

  test("a text may have the character that stands for what is no UTF-8", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "what\uFFFD");
      expect((await contentOf(files, {})).content).toBe("what\uFFFD");
      disk.writeFileSync(join(directory, "a"), Buffer.concat([Buffer.from("\uFFFD"), Buffer.from([0xed, 0xa0, 0x80])]));
      expect(await kindOf(files, { path: "a" })).toBe("not-text"); // Half of a surrogate pair.
    }));

  test("a character that lies on the border of two pieces stays whole", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const text = `${"x".repeat(PIECE - 1)}ä€😀${"y".repeat(PIECE)}`;
      disk.writeFileSync(join(directory, "a"), text);
      expect((await contentOf(files, {})).content === text).toBe(true);
    }));

  test("a part of a file, in bytes, is that part, and comes with the etag of the whole", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      for (const size of [1_000, PIECE, 3 * PIECE + 7, 1_100_000]) {
        const bytes = bytesOf(size);
        disk.writeFileSync(join(directory, "a"), bytes);
        const etag = size > 1024 * 1024 ? undefined : etagOf(bytes);
        for (const [offset, length] of [
          [0, 10],
          [7, undefined],
          [undefined, 3],
          [size - 3, 100],
          [size, 1],
          [size + 5, 1],
          [5, 0],
          [Math.min(PIECE - 2, size), 4],
        ]) {
          const expected = bytes.subarray(offset ?? 0, (offset ?? 0) + (length ?? size));
          for (const encoding of ["bytes", "base64"] as const) {
            const request = {
              encoding,
              ...(offset !== undefined && { offset }),
              ...(length !== undefined && { length }),
            };
            const { content, ...about } = await contentOf(files, request);
            const found = typeof content === "string" ? Buffer.from(content, "base64") : Buffer.from(content);
            expect({ size, offset, length, isEqual: found.equals(expected) }).toEqual({
              size,
              offset,
              length,
              isEqual: true,
            });
            expect(about.size).toBe(size);
            expect(about.etag).toBe(etag);
          }
        }
      }
    }));

  test("a part of a text that cuts a character is no text", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "aä");
      expect(await kindOf(files, { path: "a", length: 2 })).toBe("not-text");
      expect((await contentOf(files, { offset: 1, length: 2 })).content).toBe("ä");
    }));

  test("lines are those that a model finds, in small and in large files", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const line = fc.oneof(
        fc.constantFrom("", "a", "äöü", "\r"),
        fc.nat(60_000).map((n) => "z".repeat(n)),
      );
      const bound = fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined });
      await fc.assert(
        fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.boolean(), bound, bound, async (all, ends, from, to) => {
          const text = all.join("\n") + (ends ? "\n" : "");
          disk.writeFileSync(join(directory, "a"), text);
          const ended = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
          const first = from ?? 1;
          const last = Math.max(first - 1, Math.min(to ?? ended.length, ended.length));
          const lines = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
          const read = await contentOf(files, { lines });
          expect(read.content === ended.slice(first - 1, last).join("")).toBe(true);
          expect(read.lines).toEqual({ from: first, to: last, total: ended.length });
        }),
        runs(60),
      );
    }));

  test("the first lines of a file of more than a megabyte come without what is behind them", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "line\n".repeat(500_000));
      const { content, lines, etag, size } = await contentOf(files, { lines: { from: 2, to: 3 } });
      expect({ content, lines, etag, size }).toEqual({
        content: "line\nline\n",
        lines: { from: 2, to: 3 },
        etag: undefined,
        size: 2_500_000,
      });
    }));

  test("no more than maxReadBytes are read at once: whole, by bytes or by lines", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "small"), "x".repeat(101));
        disk.writeFileSync(join(directory, "large"), `${"x".repeat(PIECE * 2)}\n`);
        for (const path of ["small", "large"]) {
          expect(await kindOf(files, { path })).toBe("too-large");
          expect(await kindOf(files, { path, offset: 0 })).toBe("too-large");
          expect(await kindOf(files, { path, lines: { from: 1 } })).toBe("too-large");
          expect((await contentOf(files, { length: 100 }, path)).content).toBe("x".repeat(100));
        }
      },
      { maxReadBytes: 100 },
    ));

  test("what is no file is told as what it is, with the path as it was given", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.mkdirSync(join(directory, "folder"));
      disk.writeFileSync(join(directory, "file"), "");
      for (const [path, kind] of [
        ["missing", "not-found"],
        ["folder/missing", "not-found"],
        ["missing/x", "not-found"],
        ["folder", "is-directory"],
        ["folder/", "is-directory"],
        ["file/", "is-directory"],
        ["", "is-directory"],
        [".", "is-directory"],
        ["file/x", "not-a-directory"],
      ] as const) {
        const error = resultOf(await files.ask("read", { path }))._unsafeUnwrapErr();
        expect({ asked: path, kind: error.kind, path: "path" in error && error.path }).toEqual({
          asked: path,
          kind,
          path,
        });
      }
    }));

  test("paths that mean the same file give it", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.mkdirSync(join(directory, "folder"));
      disk.writeFileSync(join(directory, "folder/a"), "tea");
      for (const path of ["folder/a", "./folder/a", "folder//a", "folder/./a", ".//folder/a"]) {
        expect((await contentOf(files, {}, path)).content).toBe("tea");
      }
    }));
});

describe.each(ways)("read, by %s, on the machine", (way) => {
  test("what is added while a file is read is not waited for, and what is cut off is not made up", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const path = join(directory, "a");
      disk.writeFileSync(path, Buffer.alloc(6 * PIECE, "x"));
      const growing = files.ask("read", { path: "a", encoding: "bytes" });
      await new Promise((resolve) => setImmediate(resolve));
      appendFileSync(path, Buffer.alloc(PIECE, "y"));
      expect(resultOf(await growing)._unsafeUnwrap().content).toEqual(new Uint8Array(6 * PIECE).fill(120));
      const shrinking = files.ask("read", { path: "a", encoding: "bytes" });
      await new Promise((resolve) => setImmediate(resolve));
      truncateSync(path, 5 * PIECE);
      const read = resultOf(await shrinking)._unsafeUnwrap();
      expect({ length: read.content.length, size: read.size }).toEqual({ length: 5 * PIECE, size: 5 * PIECE });
    }));

  test("P7: a large read ends with its asker", () =>
    withFiles(way, async ({ files, directory, disk, system }) => {
      disk.writeFileSync(join(directory, "a"), Buffer.alloc(40 * PIECE, "x"));
      const controller = new AbortController();
      const reading = files.ask("read", { path: "a", encoding: "bytes" }, { signal: controller.signal });
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect((await reading)._unsafeUnwrapErr().kind).toBe("cancelled");
      await system.stop(files, { drain: true });
      expect(system.router.audit()).toMatchObject({ running: 0, queued: 0 });
    }));
});
