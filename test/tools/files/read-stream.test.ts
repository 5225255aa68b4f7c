import { describe, expect, test } from "bun:test";
import { appendFileSync, closeSync, ftruncateSync, openSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createManualClock } from "../../../src/testing";
import { type FileReply, FileSystemError, type FileSystemRef, itemsOf } from "../../../src/tools";
import { Pace } from "../../../src/tools/files/pace";
import type { ReadStreamRequest } from "../../../src/tools/files/requests/reading";
import { runs } from "../../property/runs";
import { everyWay, openBelow, ways, withFiles } from "./ways";

type Item = string | Uint8Array;

/** Every item of a stream, refusals included. */
async function repliesOf(files: FileSystemRef, request: Omit<ReadStreamRequest, "path">): Promise<FileReply<Item>[]> {
  const replies: FileReply<Item>[] = [];
  for await (const reply of files.stream("readStream", { path: "a", ...request })) replies.push(reply);
  return replies;
}

async function valuesOf(files: FileSystemRef, request: Omit<ReadStreamRequest, "path"> = {}): Promise<Item[]> {
  const values: Item[] = [];
  for await (const value of itemsOf(files.stream("readStream", { path: "a", ...request }))) values.push(value);
  return values;
}

const kindsOf = (replies: FileReply<Item>[]): string[] =>
  replies.map((reply) => (reply.ok ? "item" : reply.error.kind));

describe.each(everyWay)("readStream, by %s", (way) => {
  test("gives a file in chunks of the size that was asked for, each with bytes of its own", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const bytes = Buffer.from(Array.from({ length: 2_500 }, (_, i) => i % 251));
      disk.writeFileSync(join(directory, "a"), bytes);
      const items = (await valuesOf(files, { chunkBytes: 1_024 })) as Uint8Array[];
      expect(items.map((item) => item.length)).toEqual([1_024, 1_024, 452]);
      expect(items.every((item) => item.constructor === Uint8Array && item.buffer.byteLength === item.length)).toBe(
        true,
      );
      expect(Buffer.concat(items).equals(bytes)).toBe(true);
    }));

  test("gives nothing of an empty file, and nothing behind the end of one", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "");
      for (const encoding of ["bytes", "utf8", "base64"] as const)
        expect(await repliesOf(files, { encoding })).toEqual([]);
      disk.writeFileSync(join(directory, "a"), "abc");
      expect(await repliesOf(files, { offset: 3 })).toEqual([]);
      expect(await repliesOf(files, { offset: 4 })).toEqual([]);
    }));

  test("gives the part between offset and length", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const text = "0123456789".repeat(400);
      disk.writeFileSync(join(directory, "a"), text);
      const parts = await valuesOf(files, { encoding: "utf8", offset: 5, length: 2_000, chunkBytes: 1_024 });
      expect(parts.map((part) => part.length)).toEqual([1_024, 976]);
      expect(parts.join("")).toBe(text.slice(5, 2_005));
      expect((await valuesOf(files, { encoding: "utf8", offset: 3_990, length: 2_000 })).join("")).toBe("0123456789");
    }));

  test("keeps a character whole that is cut between two chunks", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: 4 }), fc.constantFrom("é", "☃", "😀"), async (shift, character) => {
          const text = "x".repeat(shift) + character.repeat(1_500);
          disk.writeFileSync(join(directory, "a"), text);
          const items = await valuesOf(files, { encoding: "utf8", chunkBytes: 1_024 });
          expect(items.length).toBeGreaterThan(2);
          expect(items.every((item) => (item as string).isWellFormed())).toBe(true);
          expect(items.join("")).toBe(text);
        }),
        runs(20),
      );
    }));

  test("tells bytes that are no text as the last item, also at the very end", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), Buffer.concat([Buffer.alloc(1_024, "a"), Buffer.from([0xff, 0x61])]));
      expect(kindsOf(await repliesOf(files, { encoding: "utf8", chunkBytes: 1_024 }))).toEqual(["item", "not-text"]);
      disk.writeFileSync(join(directory, "a"), Buffer.concat([Buffer.alloc(1_024, "a"), Buffer.from([0xe2, 0x98])]));
      expect(kindsOf(await repliesOf(files, { encoding: "utf8", chunkBytes: 1_024 })).at(-1)).toBe("not-text");
    }));

  test("gives base64 of which each item can be decoded by itself, and only the last one is padded", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7) % 256));
      disk.writeFileSync(join(directory, "a"), bytes);
      const items = (await valuesOf(files, { encoding: "base64", chunkBytes: 1_024 })) as string[];
      expect(items.slice(0, -1).every((item) => item.length === 1_364 && !item.endsWith("="))).toBe(true);
      expect(Buffer.from(items.join(""), "base64").equals(bytes)).toBe(true);
      expect(Buffer.concat(items.map((item) => Buffer.from(item, "base64"))).equals(bytes)).toBe(true);
    }));

  test("refuses what no read would be given, as the only item", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.mkdirSync(join(directory, "d"));
        disk.writeFileSync(join(directory, "secret"), "x");
        const kindOf = async (path: string): Promise<string[]> => kindsOf(await repliesOf(files, { path } as never));
        expect(await kindOf("missing")).toEqual(["not-found"]);
        expect(await kindOf("d")).toEqual(["is-directory"]);
        expect(await kindOf("../a")).toEqual(["outside-root"]);
        expect(await kindOf("secret")).toEqual(["denied"]);
        expect(await kindOf(".envoi/lock")).toEqual(["denied"]);
      },
      { deny: ["secret"] },
    ));

  test("reads more than a read may", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "a"), Buffer.alloc(10_000));
        expect(Buffer.concat((await valuesOf(files)) as Uint8Array[]).length).toBe(10_000);
      },
      { maxReadBytes: 100 },
    ));

  test("has chunks of 1 KB to 4 MB", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), Buffer.alloc(2_000));
      for (const chunkBytes of [0, 1_023, 4_194_305, 1_500.5, Number.NaN]) {
        await expect(valuesOf(files, { chunkBytes })).rejects.toMatchObject({ kind: "invalid-payload" });
      }
      expect(((await valuesOf(files, { chunkBytes: 1_024 })) as Uint8Array[]).map(({ length }) => length)).toEqual([
        1_024, 976,
      ]);
    }));
});

describe.each(ways)("readStream of a file that others change, by %s", (way) => {
  test("ends where the file ended when it was opened", () =>
    withFiles(way, async ({ files, directory }) => {
      writeFileSync(join(directory, "a"), Buffer.alloc(4_096));
      let sum = 0;
      for await (const item of itemsOf(files.stream("readStream", { path: "a", chunkBytes: 1_024 }, { credit: 1 }))) {
        sum += item.length;
        appendFileSync(join(directory, "a"), Buffer.alloc(2_048));
      }
      expect(sum).toBe(4_096);
    }));

  test("tells of a file that was cut meanwhile, after what was there", () =>
    withFiles(way, async ({ files, directory }) => {
      writeFileSync(join(directory, "a"), Buffer.alloc(8_192));
      const kinds: (string | number)[] = [];
      for await (const reply of files.stream("readStream", { path: "a", chunkBytes: 1_024 }, { credit: 1 })) {
        kinds.push(reply.ok ? reply.value.length : reply.error.kind);
        if (kinds.length === 1) truncateSync(join(directory, "a"), 3_500);
      }
      expect(kinds).toEqual([1_024, 1_024, 1_024, 428, "changed"]);
    }));

  test("closes the file when its reader leaves, and when the actor stops", () =>
    withFiles(way, async ({ files, directory, system }) => {
      writeFileSync(join(directory, "a"), Buffer.alloc(100_000));
      const isOpen = (): boolean => openBelow(directory).includes(join(directory, "a"));
      const open = () => files.stream("readStream", { path: "a", chunkBytes: 1_024 }, { credit: 2 });
      const left = open();
      await left.next();
      expect(isOpen()).toBe(true);
      await left.return();
      await new Promise((resolve) => setImmediate(resolve));
      expect(isOpen()).toBe(false);
      const stopped = open();
      await stopped.next();
      expect(isOpen()).toBe(true);
      await system.shutdown();
      expect(isOpen()).toBe(false);
    }));

  test("P12: reads no further ahead than its reader's credit", () =>
    withFiles(way, async ({ files, directory }) => {
      writeFileSync(join(directory, "a"), Buffer.alloc(100 * 1_024, "a"));
      const stream = files.stream("readStream", { path: "a", encoding: "utf8", chunkBytes: 1_024 }, { credit: 4 });
      const first = await stream.next();
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(join(directory, "a"), Buffer.alloc(100 * 1_024, "b")); // The same file: what comes now is read now.
      let old = first.done ? 0 : 1;
      for await (const value of itemsOf(stream)) if (value === "a".repeat(1_024)) old++;
      expect(old).toBeGreaterThanOrEqual(4);
      expect(old).toBeLessThanOrEqual(6); // One was read, one waits for credit.
    }));

  test("P5: timers and I/O go on while a large file is read", () =>
    withFiles(way, async ({ files, directory }) => {
      const size = 64 * 1_024 * 1_024;
      const file = openSync(join(directory, "a"), "w");
      writeSync(file, "begin");
      ftruncateSync(file, size);
      closeSync(file);
      let sum = 0;
      let turns = 0;
      let atTurn = 0;
      let most = 0;
      let isOver = false;
      const turn = (): void => {
        most = Math.max(most, sum - atTurn);
        atTurn = sum;
        turns++;
        if (!isOver) setImmediate(turn);
      };
      turn();
      for await (const item of itemsOf(files.stream("readStream", { path: "a" }))) sum += item.length;
      isOver = true;
      expect(sum).toBe(size);
      expect(turns).toBeGreaterThanOrEqual(size / (2 * 1_024 * 1_024) - 1);
      expect(most).toBeLessThanOrEqual(8 * 1_024 * 1_024); // What was read ahead, and one stretch.
    }));
});

describe("a pace", () => {
  test("asks for a pause after so much work, or so much time", async () => {
    const clock = createManualClock();
    const pace = new Pace({ clock, pause: () => new Promise((resolve) => clock.macrotask(resolve)) }, 100);
    expect(pace.spend(99)).toBe(false);
    expect(pace.spend(1)).toBe(true);
    const paused = pace.pause();
    await clock.settle();
    await paused;
    expect(pace.spend(1)).toBe(false);
    await clock.advance(1);
    expect(pace.spend(1)).toBe(true);
  });
});

test("a refusal in a loop over a stream's items is an Error with its kind and path", () =>
  withFiles("memory", async ({ files }) => {
    const thrown = await valuesOf(files).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(FileSystemError);
    expect(thrown).toMatchObject({
      name: "FileSystemError",
      kind: "not-found",
      path: "a",
      error: { kind: "not-found" },
    });
  }));
