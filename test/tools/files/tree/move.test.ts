import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { everyWay, ways, withFiles } from "../ways";
import { at, put } from "./disk";

async function move(files: FileSystemRef, from: string, to: string, ifExists?: "replace" | "fail") {
  const done = resultOf(await files.ask("move", { from, to, ...(ifExists !== undefined && { ifExists }) }));
  if (done.isOk()) return "moved";
  const { error } = done;
  return "path" in error ? `${error.kind} ${error.path}` : error.kind;
}

describe.each(everyWay)("move, by %s", (way) => {
  test("moves a file and a directory, and makes what is missing on the way", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a", "tree/b", "tree/c/d");
      expect(await move(files, "a", "new/sub/a2")).toBe("moved");
      expect(at(disk, directory, "new/sub/a2")).toBe("a");
      expect(await move(files, "tree/", "new/tree/")).toBe("moved");
      expect(at(disk, directory, "new/tree/c/d")).toBe("tree/c/d");
      expect(disk.existsSync(join(directory, "tree"))).toBe(false);
      const without = resultOf(await files.ask("move", { from: "new", to: "x/y", parents: false }));
      expect(without._unsafeUnwrapErr()).toMatchObject({ kind: "not-found", path: "x/y" });
      expect(disk.existsSync(join(directory, "new"))).toBe(true);
    }));

  test("replaces a file where that is asked for, and nothing else ever", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a", "b", "tree/c", "other/d");
      disk.mkdirSync(join(directory, "empty"));
      disk.symlinkSync("b", join(directory, "link"));
      for (const ifExists of ["fail", "replace"] as const) {
        const isReplace = ifExists === "replace";
        expect(await move(files, "a", "tree", ifExists)).toBe(isReplace ? "is-directory tree" : "exists tree");
        expect(await move(files, "a", "link", ifExists)).toBe(isReplace ? "denied link" : "exists link");
        for (const to of ["b", "other", "empty", "link"]) {
          expect(await move(files, "tree", to, ifExists)).toBe(`exists ${to}`);
        }
      }
      expect(await move(files, "a", "b")).toBe("exists b");
      expect([at(disk, directory, "a"), at(disk, directory, "b")]).toEqual(["a", "b"]);
      expect(await move(files, "a", "b", "replace")).toBe("moved");
      expect(at(disk, directory, "b")).toBe("a");
      expect(disk.existsSync(join(directory, "a"))).toBe(false);
      expect(disk.existsSync(join(directory, "tree/c"))).toBe(true);
    }));

  test("onto itself, does nothing; into itself, and of the root, is refused", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a", "tree/c");
      for (const ifExists of ["fail", "replace"] as const) {
        expect(await move(files, "a", "./a", ifExists)).toBe("moved");
        expect(await move(files, "tree", "tree/", ifExists)).toBe("moved");
        expect(await move(files, "none", "none", ifExists)).toBe("not-found none");
        expect(await move(files, "tree", "tree/in/it", ifExists)).toBe("invalid-path tree/in/it");
        expect(await move(files, "tree/c", "tree", ifExists)).toMatch(/^(exists|is-directory) tree$/);
        expect(await move(files, "", "x", ifExists)).toBe("denied ");
        expect(await move(files, "a", ".", ifExists)).toBe("exists .");
      }
      expect(at(disk, directory, "a")).toBe("a");
      expect(at(disk, directory, "tree/c")).toBe("tree/c");
      expect(disk.existsSync(join(directory, "tree/in"))).toBe(false);
    }));

  test("refuses links, and what leads through one", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "real/a", "b");
      disk.symlinkSync("real", join(directory, "link"));
      expect(await move(files, "link", "x")).toBe("denied link");
      expect(await move(files, "link/a", "x")).toBe("denied link/a");
      expect(await move(files, "b", "link/b")).toBe("denied link/b");
      expect(await move(files, "b", "b/c")).toBe("invalid-path b/c");
      expect(await move(files, "b", "real/a/c")).toBe("not-a-directory real/a/c");
      expect(await move(files, "b/", "c")).toBe("not-a-directory b/");
      expect(await move(files, "b", "c/")).toBe("is-directory c/");
      expect(await move(files, "none", "new/x")).toBe("not-found none");
      expect(disk.existsSync(join(directory, "new"))).toBe(false);
      expect(disk.readdirSync(join(directory, "real")).map(String)).toEqual(["a"]);
    }));

  test("moves nothing that is not served, be it by its old name or by its new one", async () => {
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a/b/.env", "c/d", "f", "g/tmp/h");
        expect(await move(files, "a", "x")).toBe("denied a");
        expect(await move(files, "a/b/.env", "x")).toBe("denied a/b/.env");
        expect(await move(files, "f", "a/.env")).toBe("denied a/.env");
        expect(await move(files, "f", ".envoi/f")).toBe("denied .envoi/f");
        expect(await move(files, "c", "secret")).toBe("denied secret");
        expect(await move(files, "g", "closed")).toBe("denied g"); // It would hold closed/tmp.
        expect(await move(files, "c", "x")).toBe("moved");
        expect(await move(files, "f", "x/f")).toBe("moved");
        expect(disk.existsSync(join(directory, "a/b/.env"))).toBe(true);
      },
      { deny: ["**/.env", "secret", "closed/tmp"] },
    );
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a/b.ts", "a/c.md", "d/e.ts");
        expect(await move(files, "a/c.md", "a/c.ts")).toBe("denied a/c.md");
        expect(await move(files, "none.md", "a/c.ts")).toBe("denied none.md");
        expect(await move(files, "a/b.ts", "a/b.md")).toBe("denied a/b.md");
        expect(await move(files, "a", "x")).toBe("denied a");
        expect(await move(files, "d", "x")).toBe("moved");
        expect(await move(files, "x/e.ts", "y.ts")).toBe("moved");
      },
      { allow: ["**/*.ts"] },
    );
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a");
        expect(await move(files, "a", "b")).toBe("read-only a");
      },
      { readOnly: true },
    );
  });

  test("of many that move files to one name, one wins, and no file is lost", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
      put(disk, directory, ...names);
      const done = await Promise.all(names.map((name) => move(files, name, "one")));
      expect(done.filter((what) => what === "moved")).toHaveLength(1);
      expect(
        disk
          .readdirSync(directory)
          .map(String)
          .filter((name) => name !== ".envoi"),
      ).toHaveLength(20);
    }));
});

describe.each(ways)("move on a disk, by %s", (way) => {
  test("leaves a file where it is that has another name, unless hard links are served", async () => {
    for (const hardLinks of [false, true]) {
      await withFiles(
        way,
        async ({ files, directory, disk }) => {
          put(disk, directory, "a", "c");
          disk.linkSync(join(directory, "a"), join(directory, "b"));
          expect(await move(files, "a", "x")).toBe(hardLinks ? "moved" : "denied a");
          expect(await move(files, "c", "b", "replace")).toBe(hardLinks ? "moved" : "denied b");
          expect(disk.existsSync(join(directory, "x"))).toBe(hardLinks);
          if (!hardLinks) return;
          // Two names of one file: the one takes the place of the other.
          disk.linkSync(join(directory, "x"), join(directory, "y"));
          expect(await move(files, "x", "y", "replace")).toBe("moved");
          expect(disk.existsSync(join(directory, "x"))).toBe(false);
          expect(at(disk, directory, "y")).toBe("a");
        },
        { hardLinks },
      );
    }
  });

  test("leaves FIFOs where they are, and keeps a file the same file", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a");
      const { ino } = statSync(join(directory, "a"));
      expect(Bun.spawnSync(["mkfifo", join(directory, "fifo")]).exitCode).toBe(0);
      expect(await move(files, "fifo", "x")).toBe("not-a-file fifo");
      expect(await move(files, "a", "fifo", "replace")).toBe("not-a-file fifo");
      expect(await move(files, "a", "b")).toBe("moved");
      expect(statSync(join(directory, "b")).ino).toBe(ino);
    }));
});
