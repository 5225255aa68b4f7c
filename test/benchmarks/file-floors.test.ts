import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EDIT, fillTree, letters, NEEDLE } from "../../benchmarks/harness/file-samples";
import { disk, makeFolder, type Place, sharedFolder, tmpfs } from "../../benchmarks/harness/places";
import { Proof } from "../../benchmarks/harness/sampling";
import { append, byActor, byHand, edit, write, writeAndDelete } from "../../benchmarks/subjects/file-kinds";

const KINDS = { write: write(100), append, edit: edit(1_000), delete: writeAndDelete };

describe("work with files is refused where the folder does not hold what was written last, and leaves nothing behind:", () => {
  for (const [name, open] of Object.entries(KINDS)) {
    for (const by of [byHand, byActor]) {
      test(`${name}, ${by.name}`, async () => {
        let at = "";
        const opened = (folder: string) => {
          at = folder;
          return open(folder);
        };
        const prepared = by(opened, 2);
        const proof = new Proof(name, 2, prepared);
        for (let i = 0; i < 3; i++) await proof.call();
        writeFileSync(join(at, "file.txt"), letters(99, 1));
        expect(() => prepared.verify?.(3)).toThrow("does not hold what was written last");
        await prepared.teardown?.();
        expect(existsSync(at)).toBe(false);
      });
    }
  }
});

test("what an edit replaces occurs once, and a text has the size that was asked for", () => {
  expect(EDIT.text(10_000).split(EDIT.words(0)[0])).toHaveLength(2);
  for (const bytes of [1, 100, 10_240]) expect(Buffer.byteLength(letters(bytes, 1))).toBe(bytes);
});

test("one file of a hundred holds what is searched for", async () => {
  const { path, remove } = makeFolder(disk);
  const texts = await Promise.all(fillTree(path, 200).map((each) => Bun.file(join(path, each)).text()));
  remove();
  expect(texts.filter((text) => text.includes(NEEDLE))).toHaveLength(2);
});

test("a shared folder is filled once, and a place says what file system it is", () => {
  const place: Place = { ...disk, folder: mkdtempSync(join(disk.folder, "envoi-floors-")) };
  const [first, second] = [1, 2].map((turn) =>
    sharedFolder(place, "some", (at) => writeFileSync(join(at, `${turn}`), "")),
  );
  expect(second).toBe(first ?? "");
  expect(readdirSync(first ?? "")).toEqual(["1"]);
  rmSync(place.folder, { recursive: true });
  if (process.platform === "linux") expect(disk.kind).not.toBe("unknown");
  expect("none" in tmpfs ? tmpfs.none : tmpfs.kind).toContain("none" in tmpfs ? "/dev/shm" : "tmpfs");
});
