import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as raw from "../../benchmarks/harness/file-floors";
import {
  EDIT,
  entryNames,
  expectLast,
  expectNames,
  expectSame,
  expectSize,
  fillTree,
  letters,
  NEEDLE,
  writeLarge,
} from "../../benchmarks/harness/file-samples";
import { disk, makeFolder, type Place, SHARED, sharedFolder, tmpfs } from "../../benchmarks/harness/places";
import { Proof } from "../../benchmarks/harness/sampling";

const place: Place = { ...disk, folder: mkdtempSync(join(disk.folder, "envoi-floors-")) };
afterAll(() => rmSync(place.folder, { recursive: true }));

const onDisk = [
  raw.rawRead(100),
  raw.rawInPlace(100),
  raw.rawWhole(100),
  raw.rawTenWrites(100),
  raw.rawWriteRead(100),
  raw.rawDelete(100),
  raw.rawAppend(100),
  raw.rawEdit(1_000),
  raw.rawStat,
  raw.rawList(3),
  raw.rawListDetails(3),
  raw.rawDurable(100),
  raw.rawReadLarge(1_000_000),
  raw.rawCopyLarge(1_000_000),
].map((floor) => floor(place));

describe("each floor of files does the work that it says, and leaves nothing behind", () => {
  for (const floor of onDisk) {
    test(floor.name, async () => {
      const prepared = floor.setup(20);
      const proof = new Proof(floor.name, 20, prepared);
      for (let i = 0; i < 3; i++) await proof.call();
      await prepared.teardown?.();
      expect(readdirSync(place.folder).filter((name) => !name.startsWith(SHARED))).toEqual([]);
    });
  }
});

describe("what is there after the work is looked at:", () => {
  const inFolder = (check: (folder: string) => void) => () => {
    const folder = makeFolder(disk);
    try {
      check(folder.path);
    } finally {
      folder.remove();
    }
    expect(existsSync(folder.path)).toBe(false);
  };

  test(
    "the last of two contents in turn",
    inFolder((folder) => {
      const path = join(folder, "file.txt");
      writeFileSync(path, letters(100, 1));
      expect(() => expectLast(path, 100, 2)).not.toThrow();
      expect(() => expectLast(path, 100, 3)).toThrow("written last");
      expect(() => expectLast(path, 99, 2)).toThrow("written last");
    }),
  );

  test(
    "the size of a file, and the names in a folder",
    inFolder((folder) => {
      writeFileSync(join(folder, "file.txt"), "four");
      expect(() => expectSize(join(folder, "file.txt"), 4)).not.toThrow();
      expect(() => expectSize(join(folder, "file.txt"), 5)).toThrow("4 bytes where 5");
      expect(() => expectNames(folder, ["file.txt"])).not.toThrow();
      expect(() => expectNames(folder, [])).toThrow("1 names");
    }),
  );

  test(
    "every byte of a copy",
    inFolder((folder) => {
      const [path, other] = [join(folder, "large"), join(folder, "other")];
      writeLarge(path, 600_000);
      writeLarge(other, 600_000);
      expect(() => expectSame(path, other)).not.toThrow();
      writeLarge(other, 600_001);
      expect(() => expectSame(path, other)).toThrow("is not what was copied");
    }),
  );
});

test("what an edit replaces occurs once, and a text has the size that was asked for", () => {
  const text = EDIT.text(10_000);
  expect(text.split(EDIT.words(0)[0])).toHaveLength(2);
  expect(EDIT.words(1)).toEqual([EDIT.words(0)[1], EDIT.words(0)[0]]);
  for (const bytes of [1, 100, 10_240]) expect(Buffer.byteLength(letters(bytes, 1))).toBe(bytes);
});

test("one file of a hundred holds what is searched for", async () => {
  const { path, remove } = makeFolder(disk);
  const paths = fillTree(path, 200);
  const texts = await Promise.all(paths.map((each) => Bun.file(join(path, each)).text()));
  remove();
  expect(paths).toHaveLength(200);
  expect(texts.filter((text) => text.includes(NEEDLE))).toHaveLength(2);
  expect(entryNames(3)).toEqual([...entryNames(3)].sort());
});

test("a shared folder is filled once", () => {
  const folders = [1, 2].map((turn) => sharedFolder(place, "some", (path) => writeFileSync(join(path, `${turn}`), "")));
  expect(folders[1]).toBe(folders[0] ?? "");
  expect(readdirSync(folders[0] ?? "")).toEqual(["1"]);
});

test("a place says what file system it is", () => {
  if (process.platform === "linux") expect(disk.kind).not.toBe("unknown");
  if ("none" in tmpfs) expect(tmpfs.none).toContain("/dev/shm");
  else expect(tmpfs.kind).toBe("tmpfs");
});
