import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { type FileSystemRef, type ReadRequest, resultOf } from "../../../src/tools";
import { TailScan } from "../../../src/tools/files/tail";
import { type Disk, everyWay, withFiles } from "./ways";

const many = async (files: FileSystemRef, reads: readonly ReadRequest[]) =>
  resultOf(await files.ask("readMany", { reads: [...reads] }))._unsafeUnwrap();

/** The contents, or the kinds of the errors. */
const toldBy = async (files: FileSystemRef, reads: readonly ReadRequest[]) =>
  (await many(files, reads)).map((told) => (told.ok ? told.value.content : told.error.kind));

const tail = async (files: FileSystemRef, tail: NonNullable<ReadRequest["tail"]>, more: Partial<ReadRequest> = {}) =>
  resultOf(await files.ask("read", { path: "a", tail, ...more }));

describe.each(everyWay)("readMany, by %s", (way) => {
  const put = (disk: Disk, directory: string, tree: Record<string, string>) => {
    for (const [name, content] of Object.entries(tree)) disk.writeFileSync(join(directory, name), content);
  };

  test("reads each as a read would, in their order, and what is refused keeps no other from being read", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, { a: "one\ntwo\n", b: "x".repeat(300_000), ".env": "secret" });
        const reads: ReadRequest[] = [
          { path: "a" },
          { path: "missing" },
          { path: "../a" },
          { path: ".env" },
          { path: "a", lines: { from: 2 } },
          { path: "b", offset: 299_999 },
          { path: "a", tail: { lines: 1 }, encoding: "base64" },
        ];
        const two = Buffer.from("two\n").toString("base64");
        expect(await toldBy(files, reads)).toEqual([
          "one\ntwo\n",
          "not-found",
          "outside-root",
          "denied",
          "two\n",
          "x",
          two,
        ]);
        const [first] = await many(files, reads);
        expect(first).toEqual({ ok: true, value: resultOf(await files.ask("read", { path: "a" }))._unsafeUnwrap() });
      },
      { deny: [".env"] },
    ));

  test("all contents together have at most maxReadBytes, and what is too much is refused by itself", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, { a: "x".repeat(300_000), b: "y".repeat(600_000), c: "z".repeat(100_000) });
        const [a, b, c, d] = await many(files, [{ path: "a" }, { path: "b" }, { path: "c" }, { path: "c", length: 1 }]);
        expect([a?.ok, b?.ok, c?.ok, d?.ok]).toEqual([true, true, true, false]);
        expect(d).toMatchObject({ error: { kind: "too-large", path: "c" } });
        expect(JSON.stringify(d)).toContain("0 are left of the 1000000 that one request reads");
        // The others have their turn where a large one does not fit.
        expect(
          (await toldBy(files, [{ path: "a" }, { path: "a" }, { path: "b" }, { path: "c" }])).map(
            (told) => told.length,
          ),
        ).toEqual([300_000, 300_000, "too-large".length, 100_000]);
      },
      { maxReadBytes: 1_000_000 },
    ));

  test("of none, or of more than 100, is no request", () =>
    withFiles(way, async ({ files }) => {
      for (const reads of [[], Array.from({ length: 101 }, () => ({ path: "a" }))]) {
        expect((await files.ask("readMany", { reads }))._unsafeUnwrapErr().kind).toBe("invalid-payload");
      }
    }));

  test("sees what was asked for before it of any of its files", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, { a: "old", b: "old" });
      const content = "new".repeat(400_000);
      const written = files.ask("write", { path: "b", content });
      const read = toldBy(files, [{ path: "a" }, { path: "b", length: 3 }]);
      await written;
      expect(await read).toEqual(["old", "new"]);
    }));
});

describe.each(everyWay)("the tail of a file, by %s", (way) => {
  test("is its last lines, or its last bytes from a whole character on", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "one\r\ntwo\nthré");
      expect((await tail(files, { lines: 1 }))._unsafeUnwrap()).toMatchObject({ content: "thré", size: 14, offset: 9 });
      expect((await tail(files, { lines: 2 }))._unsafeUnwrap()).toMatchObject({ content: "two\nthré", offset: 5 });
      expect((await tail(files, { lines: 9 }))._unsafeUnwrap()).toMatchObject({
        content: "one\r\ntwo\nthré",
        offset: 0,
      });
      expect((await tail(files, { bytes: 3 }))._unsafeUnwrap()).toMatchObject({ content: "ré", offset: 11 });
      expect((await tail(files, { bytes: 1 }))._unsafeUnwrap()).toMatchObject({ content: "", offset: 14 });
      expect((await tail(files, { bytes: 1 }, { encoding: "base64" }))._unsafeUnwrap()).toMatchObject({
        content: Buffer.from([0xa9]).toString("base64"),
        offset: 13,
      });
      disk.writeFileSync(join(directory, "a"), "");
      expect((await tail(files, { lines: 1 }))._unsafeUnwrap()).toMatchObject({ content: "", offset: 0 });
      disk.writeFileSync(join(directory, "a"), "one\n\n");
      expect((await tail(files, { lines: 1 }))._unsafeUnwrap()).toMatchObject({ content: "\n" });
    }));

  test("is read without the rest of a large file, and within maxReadBytes", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        const line = `${"é".repeat(99)}\n`;
        disk.writeFileSync(join(directory, "a"), line.repeat(20_000)); // 4 MB
        const last = (await tail(files, { lines: 2_500 }))._unsafeUnwrap();
        expect(last.content === line.repeat(2_500)).toBe(true);
        expect(last).toMatchObject({ size: 199 * 20_000, offset: 199 * 17_500 });
        expect(last.etag).toBeUndefined();
        // 199 bytes a line, all but one in pairs: 100 cuts one.
        expect((await tail(files, { bytes: 102 }))._unsafeUnwrap().content).toBe(`${"é".repeat(50)}\n`);
        expect((await tail(files, { lines: 6_000 }))._unsafeUnwrapErr()).toMatchObject({ kind: "too-large" });
        expect((await tail(files, { bytes: 1_000_003 }))._unsafeUnwrapErr()).toMatchObject({ kind: "too-large" });
      },
      { maxReadBytes: 1_000_000 },
    ));

  test("is of lines or of bytes, and of nothing else", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "one\ntwo\n");
      for (const wrong of [{}, { lines: 1, bytes: 1 }, { lines: 0 }]) {
        expect((await files.ask("read", { path: "a", tail: wrong }))._unsafeUnwrapErr().kind).toBe("invalid-payload");
      }
      expect((await tail(files, { lines: 1 }, { offset: 1 }))._unsafeUnwrapErr()).toMatchObject({ kind: "denied" });
    }));
});

test("the last lines are found as they are in the whole text, however it is cut into pieces", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "\r\n"), maxLength: 30 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 7 }), (text, wanted, piece) => {
      const bytes = Buffer.from(text);
      const scan = new TailScan(wanted);
      let start = 0;
      for (let end = bytes.length; end > 0; end -= piece) {
        const from = Math.max(0, end - piece);
        const found = scan.add(bytes.subarray(from, end));
        if (found === null) continue;
        start = from + found;
        break;
      }
      const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      expect(bytes.toString("utf8", start)).toBe(lines.slice(-wanted).join(""));
    }),
  );
});
