import { describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { FileRefusal } from "../../../../src/tools/files/file-error";
import { remove } from "../../../../src/tools/files/tree/delete";
import { isLong } from "../../../property/runs";
import { intercept, lasting, workspaceOver } from "../over-root";
import { type Disk, everyWay, rootWays, ways, withFiles, withRoot } from "../ways";

async function del(files: FileSystemRef, path: string, recursive?: boolean) {
  const done = resultOf(await files.ask("delete", { path, ...(recursive !== undefined && { recursive }) }));
  return done.isOk() ? done.value.deleted : done.error.kind;
}

function put(disk: Disk, directory: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    disk.mkdirSync(dirname(join(directory, path)), { recursive: true });
    disk.writeFileSync(join(directory, path), "x");
  }
}

/** The entries of a directory, without the actor's own. */
const left = (disk: Disk, directory: string): string[] =>
  disk
    .readdirSync(directory)
    .map(String)
    .filter((name) => name !== ".envoi")
    .sort();

/** The refusal that a deletion throws. */
async function refusalOf(work: () => unknown): Promise<FileRefusal["error"]> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof FileRefusal) return thrown.error;
    throw thrown;
  }
  throw new Error("It was not refused.");
}

describe.each(everyWay)("delete, by %s", (way) => {
  test("removes a file, an empty directory, and with recursive all that is in one", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a", "tree/b", "tree/c/d/e", "tree/c/f", "kept");
      disk.mkdirSync(join(directory, "empty"));
      disk.mkdirSync(join(directory, "empty too"));
      expect(await del(files, "a")).toBe(1);
      expect(await del(files, "empty/")).toBe(1);
      expect(await del(files, "empty too", true)).toBe(1);
      expect(await del(files, "tree")).toBe("is-directory");
      expect(disk.existsSync(join(directory, "tree/c/d/e"))).toBe(true);
      expect(await del(files, "tree", true)).toBe(6);
      expect(left(disk, directory)).toEqual(["kept"]);
    }));

  test("removes links, and nothing that they lead to", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "real/a", "tree/b");
      disk.symlinkSync("real", join(directory, "link"));
      disk.symlinkSync("../real", join(directory, "tree/link"));
      disk.symlinkSync("nothing", join(directory, "tree/dangling"));
      expect(await del(files, "link/a")).toBe("denied");
      expect(await del(files, "link/")).toBe("denied");
      expect(await del(files, "link", true)).toBe(1);
      expect(await del(files, "tree", true)).toBe(4);
      expect(left(disk, directory)).toEqual(["real"]);
      expect(disk.existsSync(join(directory, "real/a"))).toBe(true);
    }));

  test("says what it cannot delete", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a");
      for (const [path, kind] of [
        ["none", "not-found"],
        ["none/a", "not-found"],
        ["a/", "not-a-directory"],
        ["a/b", "not-a-directory"],
        ["", "denied"],
        [".", "denied"],
        [".envoi", "denied"],
        ["../a", "outside-root"],
      ] as const) {
        for (const recursive of [false, true]) expect([path, await del(files, path, recursive)]).toEqual([path, kind]);
      }
      expect(left(disk, directory)).toEqual(["a"]);
    }));

  test("leaves a directory as it is that holds anything denied, and all where nothing is to be changed", async () => {
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a/b/.env", "a/b/c", "d/e");
        expect(await del(files, "a", true)).toBe("denied");
        expect(await del(files, "a/b/.env")).toBe("denied");
        expect(left(disk, join(directory, "a/b"))).toEqual([".env", "c"]);
        expect(await del(files, "d", true)).toBe(2);
        expect(await del(files, "a/b/c")).toBe(1);
        disk.mkdirSync(join(directory, "e/f/closed"), { recursive: true });
        expect(await del(files, "e", true)).toBe("denied");
        expect(disk.existsSync(join(directory, "e/f/closed"))).toBe(true);
      },
      { deny: ["**/.env", "e/f/closed"] },
    );
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a/b.ts", "a/c.md", "d/e.ts");
        for (const path of ["a/c.md", "none.md"]) expect(await del(files, path)).toBe("denied");
        expect(await del(files, "a", true)).toBe("denied");
        expect(left(disk, join(directory, "a"))).toEqual(["b.ts", "c.md"]);
        expect(await del(files, "d", true)).toBe(2);
      },
      { allow: ["**/*.ts"] },
    );
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a");
        expect(await del(files, "a")).toBe("read-only");
        expect(left(disk, directory)).toEqual(["a"]);
      },
      { readOnly: true },
    );
  });
});

describe.each(ways)("delete on a disk, by %s", (way) => {
  test("removes FIFOs, hard links and names that no path can say", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "kept", "tree/a");
      disk.linkSync(join(directory, "kept"), join(directory, "tree/hard"));
      expect(Bun.spawnSync(["mkfifo", join(directory, "fifo"), join(directory, "tree/fifo")]).exitCode).toBe(0);
      disk.mkdirSync(Buffer.concat([Buffer.from(`${directory}/tree/`), Buffer.from([0xff])]));
      expect(await del(files, "fifo")).toBe(1);
      expect(await del(files, "tree", true)).toBe(5);
      expect(disk.readFileSync(join(directory, "kept"), "utf8")).toBe("x");
    }));
});

describe.each(rootWays.filter((way) => way !== "memory"))("delete over a root, by %s", (way) => {
  const depth = isLong ? 2_000 : 500; // Of ten bytes each: a path has at most 4,096.
  test(
    `${depth} directories in each other, longer than any path, are gone with few of them open at once`,
    () =>
      withRoot(way, async (root, directory, disk) => {
        put(disk, directory, "deep/a");
        let at = root.open("deep", "directory");
        for (let i = 0; i < depth; i++) {
          expect(root.makeDirectory(at, "directory", 0o777)).toBe(0);
          const next = root.openAt(at, "directory", "directory");
          root.close(at);
          at = next;
        }
        root.close(root.openAt(at, "file", "create"));
        root.close(at);
        let open = 0;
        let most = 0;
        const counted = intercept(root, {
          open(path, opening) {
            const opened = root.open(path, opening);
            if (opened >= 0) most = Math.max(most, ++open);
            return opened;
          },
          openAt(from, name, opening) {
            const opened = root.openAt(from, name, opening);
            if (opened >= 0) most = Math.max(most, ++open);
            return opened;
          },
          close(descriptor) {
            open--;
            root.close(descriptor);
          },
        });
        // Each look at its clock ends a turn, so that all pauses are there.
        let time = 0;
        const done = await remove(
          workspaceOver(counted, {}, () => ++time),
          { path: "deep", recursive: true },
          lasting,
        );
        expect(done).toEqual({ deleted: depth + 3 });
        expect(open).toBe(0);
        expect(most).toBeLessThan(100);
        expect(left(disk, directory)).toEqual([]);
      }),
    240_000,
  );

  test("a directory that is swapped for a link is not followed", () =>
    withRoot(way, async (root, directory, disk) => {
      put(disk, directory, "outside/kept", "tree/victim/a", "tree/b");
      const swapping = intercept(root, {
        openAt(at, name, opening) {
          if (name === "victim") {
            disk.rmSync(join(directory, "tree/victim"), { recursive: true, force: true });
            disk.symlinkSync("../outside", join(directory, "tree/victim"));
          }
          return root.openAt(at, name, opening);
        },
      });
      expect(await remove(workspaceOver(swapping), { path: "tree", recursive: true }, lasting)).toEqual({ deleted: 3 });
      expect(left(disk, directory)).toEqual(["outside"]);
      expect(disk.existsSync(join(directory, "outside/kept"))).toBe(true);
    }));

  test("a directory that is a link whenever it is opened, and a directory again when it is looked at, is given up", () =>
    withRoot(way, async (root, directory, disk) => {
      put(disk, directory, "outside/kept", "tree/victim/a");
      const [victim, hidden] = [join(directory, "tree/victim"), join(directory, "hidden")];
      let tries = 0;
      const swapping = intercept(root, {
        openAt(at, name, opening) {
          if (name !== "victim") return root.openAt(at, name, opening);
          if (++tries > 100) throw new Error("It tries without end.");
          disk.renameSync(victim, hidden);
          disk.symlinkSync("../outside", victim);
          const opened = root.openAt(at, name, opening);
          disk.rmSync(victim);
          disk.renameSync(hidden, victim);
          return opened;
        },
      });
      const refused = await refusalOf(() =>
        remove(workspaceOver(swapping), { path: "tree", recursive: true }, lasting),
      );
      expect([refused.path, tries]).toEqual(["tree", 17]);
      expect(disk.existsSync(join(directory, "outside/kept"))).toBe(true);
    }));

  test("a directory that another one comes into the place of is not gone back into", () =>
    withRoot(way, async (root, directory, disk) => {
      // So deep that the first directories are closed meanwhile, and opened again on the way back.
      const deep = Array.from({ length: 80 }, (_, i) => `d${i}`).join("/");
      put(disk, directory, `tree/${deep}/a`, "other/kept");
      // It looks the same from there.
      disk.mkdirSync(join(directory, "other", deep.slice("d0/d1/d2/".length, deep.indexOf("/d16"))), {
        recursive: true,
      });
      const moving = intercept(root, {
        unlink(at, name) {
          const code = root.unlink(at, name);
          const moved = join(directory, "tree/d0/d1/d2");
          disk.renameSync(moved, join(directory, "away"));
          disk.renameSync(join(directory, "other"), moved);
          return code;
        },
      });
      const refused = await refusalOf(() => remove(workspaceOver(moving), { path: "tree", recursive: true }, lasting));
      expect(refused.path).toBe("tree");
      expect(disk.existsSync(join(directory, "tree/d0/d1/d2/kept"))).toBe(true);
    }));

  test("a file that becomes a directory, and a directory that is filled again, are deleted; one that is filled for ever is told", () =>
    withRoot(way, async (root, directory, disk) => {
      put(disk, directory, "tree/file", "tree/sub/a");
      let fills = 0;
      const filling = (most: number) =>
        intercept(root, {
          unlink(at, name) {
            if (name === "file") {
              disk.rmSync(join(directory, "tree/file"), { recursive: true });
              put(disk, directory, "tree/file/b");
            }
            return root.unlink(at, name);
          },
          removeDirectory(at, name) {
            if (name === "sub" && fills++ < most) put(disk, directory, `tree/sub/again/${fills}`);
            return root.removeDirectory(at, name);
          },
        });
      await remove(workspaceOver(filling(3)), { path: "tree", recursive: true }, lasting);
      expect(left(disk, directory)).toEqual([]);
      put(disk, directory, "tree/sub/a");
      const endless = workspaceOver(filling(Number.POSITIVE_INFINITY));
      const refused = await refusalOf(() => remove(endless, { path: "tree", recursive: true }, lasting));
      expect(refused.kind).toBe("is-directory");
      expect(refused.message).toContain("were deleted before");
    }));

  test("stops at what is denied and was not there when it looked", () =>
    withRoot(way, async (root, directory, disk) => {
      put(disk, directory, "tree/a", "tree/sub/b");
      const adding = intercept(root, {
        unlink(at, name) {
          put(disk, directory, "tree/sub/.env");
          return root.unlink(at, name);
        },
      });
      const workspace = workspaceOver(adding, { deny: ["**/.env"] });
      const refused = await refusalOf(() => remove(workspace, { path: "tree", recursive: true }, lasting));
      expect(refused).toMatchObject({ kind: "denied", path: "tree" });
      expect(disk.existsSync(join(directory, "tree/sub/.env"))).toBe(true);
    }));

  test("ends when its asker gives up", () =>
    withRoot(way, async (root, directory, disk) => {
      put(disk, directory, ...Array.from({ length: 100 }, (_, i) => `tree/${i % 10}/${i}`));
      const asker = new AbortController();
      let time = 0;
      const slow = workspaceOver(root, {}, () => {
        if (++time === 60) asker.abort(new Error("given up"));
        return time;
      });
      const done = Promise.resolve(remove(slow, { path: "tree", recursive: true }, { signal: asker.signal }));
      expect(await done.catch((reason) => reason.message)).toBe("given up");
      const rest = disk.readdirSync(join(directory, "tree"), { recursive: true } as never);
      expect(rest.length).toBeGreaterThan(10);
      expect(rest.length).toBeLessThan(100);
    }));
});
