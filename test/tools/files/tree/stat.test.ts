import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { everyWay, ways, withFiles } from "../ways";

const stat = async (files: FileSystemRef, path: string) => resultOf(await files.ask("stat", { path }));
const exists = async (files: FileSystemRef, path: string) => resultOf(await files.ask("exists", { path }));

async function kindsOf(files: FileSystemRef, path: string) {
  const [told, is] = [await stat(files, path), await exists(files, path)];
  return [told.isOk() ? told.value.kind : told.error.kind, is.isOk() ? is.value : is.error.kind];
}

describe.each(everyWay)("stat and exists, by %s", (way) => {
  test("tell what a file and a directory are", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.mkdirSync(join(directory, "sub"));
      disk.writeFileSync(join(directory, "sub/a.txt"), "twelve bytes");
      const file = (await stat(files, "sub/a.txt"))._unsafeUnwrap();
      expect(file).toMatchObject({ kind: "file", size: 12 });
      expect(file.modified).toBeGreaterThan(Date.UTC(2020));
      expect((await stat(files, "./sub//"))._unsafeUnwrap()).toMatchObject({ kind: "directory", size: 0 });
      for (const path of ["", "."]) expect(await kindsOf(files, path)).toEqual(["directory", true]);
      expect(await kindsOf(files, "sub/a.txt")).toEqual(["file", true]);
      expect(await kindsOf(files, "sub/")).toEqual(["directory", true]);
    }));

  test("say no to what is not there, and to what is below a file", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "");
      expect(await kindsOf(files, "b")).toEqual(["not-found", false]);
      expect(await kindsOf(files, "b/c")).toEqual(["not-found", false]);
      expect(await kindsOf(files, "a/c")).toEqual(["not-a-directory", false]);
      expect(await kindsOf(files, "a/")).toEqual(["not-a-directory", false]);
    }));

  test("tell a link as one, and follow none on the way", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.mkdirSync(join(directory, "real"));
      disk.writeFileSync(join(directory, "real/a"), "");
      disk.symlinkSync("real", join(directory, "link"));
      disk.symlinkSync("nothing", join(directory, "dangling"));
      expect(await kindsOf(files, "link")).toEqual(["link", true]);
      expect(await kindsOf(files, "dangling")).toEqual(["link", true]);
      expect((await stat(files, "link"))._unsafeUnwrap().size).toBe(0);
      expect(await kindsOf(files, "link/a")).toEqual(["denied", "denied"]);
      expect(await kindsOf(files, "link/")).toEqual(["denied", "denied"]);
    }));

  test("answer nothing about what the globs close, be it there or not", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.mkdirSync(join(directory, "sub"));
        for (const name of ["a.ts", "a.key", "b.md", "sub/c.ts"]) disk.writeFileSync(join(directory, name), "");
        for (const path of ["a.ts", "sub/c.ts"]) expect(await kindsOf(files, path)).toEqual(["file", true]);
        expect(await kindsOf(files, "sub")).toEqual(["directory", true]);
        expect(await kindsOf(files, "none.ts")).toEqual(["not-found", false]);
        for (const path of ["a.key", "none.key", "b.md", "none.md", ".envoi", ".envoi/lock", "sub/c.ts/d"]) {
          expect(await kindsOf(files, path)).toEqual(["denied", "denied"]);
        }
      },
      { allow: ["**/*.ts"], deny: ["**/*.key"] },
    ));
});

test("a FIFO and a device are told as something else, without being opened", async () => {
  for (const way of ways) {
    await withFiles(way, async ({ files, directory }) => {
      expect(Bun.spawnSync(["mkfifo", join(directory, "fifo")]).exitCode).toBe(0);
      expect(await kindsOf(files, "fifo")).toEqual(["other", true]);
      expect(await kindsOf(files, "fifo/")).toEqual(["not-a-directory", false]);
    });
  }
});
