import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { everyWay, withFiles } from "../ways";

async function make(files: FileSystemRef, path: string, parents?: boolean) {
  const made = resultOf(await files.ask("mkdir", { path, ...(parents !== undefined && { parents }) }));
  return made.isOk() ? made.value.created : made.error.kind;
}

describe.each(everyWay)("mkdir, by %s", (way) => {
  test("makes a directory with those on the way, and says whether it was there", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      expect(await make(files, "a/b/c")).toBe(true);
      expect(disk.readdirSync(join(directory, "a/b")).map(String)).toEqual(["c"]);
      expect(await make(files, "a/b/c")).toBe(false);
      expect(await make(files, "a/b/./c/")).toBe(false);
      expect(await make(files, "")).toBe(false);
      expect(await make(files, "d/")).toBe(true);
    }));

  test("without parents, makes one directory in one that is there", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      expect(await make(files, "a/b", false)).toBe("not-found");
      expect(disk.existsSync(join(directory, "a"))).toBe(false);
      expect(await make(files, "a", false)).toBe(true);
      expect(await make(files, "a/b", false)).toBe(true);
    }));

  test("refuses where a file or a link is, and makes nothing through either", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "file"), "");
      disk.mkdirSync(join(directory, "real"));
      disk.symlinkSync("real", join(directory, "link"));
      expect(await make(files, "file")).toBe("exists");
      expect(await make(files, "file/a/b")).toBe("not-a-directory");
      expect(await make(files, "link")).toBe("denied");
      expect(await make(files, "link/a/b")).toBe("denied");
      expect(disk.readdirSync(join(directory, "real"))).toEqual([]);
    }));

  test("makes none that is denied, and none where nothing is to be changed", async () => {
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        expect(await make(files, "secret/a")).toBe("denied");
        expect(await make(files, ".envoi/a")).toBe("denied");
        expect(disk.existsSync(join(directory, "secret"))).toBe(false);
        expect(await make(files, "docs")).toBe(true); // `allow` is about files.
      },
      { deny: ["secret"], allow: ["src/**"] },
    );
    await withFiles(way, async ({ files }) => expect(await make(files, "a")).toBe("read-only"), { readOnly: true });
  });
});
