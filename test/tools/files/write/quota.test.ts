import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { FileRefusal } from "../../../../src/tools/files/file-error";
import { move } from "../../../../src/tools/files/tree/move";
import { countAll } from "../../../../src/tools/files/tree/tree";
import { Workspace } from "../../../../src/tools/files/workspace";
import { Quota } from "../../../../src/tools/files/write/quota";
import type { Amount } from "../../../../src/tools/files/write/usage";
import { intercept, lasting, workspaceOver } from "../over-root";
import { type Disk, everyWay, rootWays, withFiles, withRoot } from "../ways";

async function write(files: FileSystemRef, path: string, size: number, inPlace = false) {
  const done = resultOf(await files.ask("write", { path, content: "x".repeat(size), inPlace }));
  return done.isOk() ? "written" : done.error.kind;
}

const used = async (files: FileSystemRef) => resultOf(await files.ask("inspect"))._unsafeUnwrap().usedBytes;

/** Bytes of the files in a directory. */
const sizeOf = (disk: Disk, directory: string): number =>
  disk
    .readdirSync(directory)
    .map(String)
    .filter((name) => name !== ".envoi")
    .reduce((size, name) => size + disk.readFileSync(join(directory, name)).length, 0);

describe.each(everyWay)("quotaBytes, by %s", (way) => {
  test("is counted when first needed, with what is there already and what is not served", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.mkdirSync(join(directory, "sub/deep"), { recursive: true });
        disk.writeFileSync(join(directory, "sub/deep/a"), "x".repeat(60));
        disk.writeFileSync(join(directory, "secret"), "x".repeat(30));
        expect(await used(files)).toBeUndefined();
        expect(await write(files, "b", 11)).toBe("quota");
        expect(await write(files, "b", 10)).toBe("written");
        expect(await used(files)).toBe(100);
        expect(await write(files, "c", 1)).toBe("quota");
        expect(await write(files, "c", 0)).toBe("written");
      },
      { quotaBytes: 100, deny: ["secret"] },
    ));

  test("is freed of one of two names of a file that takes the place of the other", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "a"), "x".repeat(60));
        disk.linkSync(join(directory, "a"), join(directory, "b"));
        expect(await write(files, "c", 1)).toBe("written"); // Which counts, each name for itself.
        const before = (await used(files)) ?? 0;
        const moved = resultOf(await files.ask("move", { from: "a", to: "b", ifExists: "replace" }));
        expect(moved.isOk()).toBe(true);
        expect(before - ((await used(files)) ?? 0)).toBe(60);
      },
      { quotaBytes: 1_000, hardLinks: true },
    ));

  test("counts what was written of a file in place whose asker gave up", () =>
    withFiles(
      way,
      async ({ files, directory, disk, system }) => {
        expect(await write(files, "a", 1)).toBe("written"); // Which counts.
        const asker = new AbortController();
        const content = new Uint8Array(8_000_000);
        const answer = files.ask("write", { path: "b", content, inPlace: true }, { signal: asker.signal });
        const size = () => (disk.existsSync(join(directory, "b")) ? disk.lstatSync(join(directory, "b")).size : 0);
        while (size() === 0) await new Promise<void>((resolve) => setImmediate(resolve));
        asker.abort();
        expect((await answer).isErr()).toBe(true);
        while (system.router.audit().running > 0) await new Promise<void>((resolve) => setImmediate(resolve));
        expect(size()).toBeLessThan(8_000_000);
        expect(await used(files)).toBe(size() + 1);
      },
      { quotaBytes: 9_000_000 },
    ));

  test("leaves no empty file of what it refuses", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        expect(await write(files, "a", 11, true)).toBe("quota");
        const added = resultOf(await files.ask("append", { path: "a", content: "x".repeat(11) }));
        expect(added._unsafeUnwrapErr().kind).toBe("quota");
        expect(disk.existsSync(join(directory, "a"))).toBe(false);
      },
      { quotaBytes: 10 },
    ));

  test("is given back by what is deleted, made shorter, and replaced by a move", () =>
    withFiles(
      way,
      async ({ files }) => {
        expect(await write(files, "tree/a", 50)).toBe("written");
        expect(await write(files, "b", 50)).toBe("written");
        expect(await write(files, "c", 10)).toBe("quota");
        expect(await write(files, "b", 30)).toBe("written");
        expect(await write(files, "c", 20)).toBe("written");
        expect(await used(files)).toBe(100);
        resultOf(await files.ask("move", { from: "c", to: "b", ifExists: "replace" }))._unsafeUnwrap();
        expect(await used(files)).toBe(70);
        resultOf(await files.ask("delete", { path: "b" }))._unsafeUnwrap();
        expect(await used(files)).toBe(50);
        resultOf(await files.ask("delete", { path: "tree", recursive: true }))._unsafeUnwrap();
        expect(await used(files)).toBe(0);
        expect(await write(files, "d", 100)).toBe("written");
      },
      { quotaBytes: 100 },
    ));

  test("is never passed by many that write at once, and then holds as much as fits", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "old"), "x".repeat(300));
        const sizes = Array.from({ length: 60 }, (_, i) => 10 + (i % 7));
        const done = await Promise.all(
          sizes.flatMap((size, i) => [
            write(files, `f${i}`, size, i % 3 === 0),
            ...(i === 30 ? [files.ask("delete", { path: "old" })] : []),
          ]),
        );
        expect(done).toContain("quota");
        const total = sizeOf(disk, directory);
        expect(total).toBeLessThanOrEqual(500);
        // Nothing that would have fitted was refused in the end.
        expect(await write(files, "last", 500 - total)).toBe("written");
        expect(await write(files, "more", 1)).toBe("quota");
        expect(sizeOf(disk, directory)).toBe(500);
      },
      { quotaBytes: 500 },
    ));

  test("is counted anew before anything is refused, since others write and delete too", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        expect(await write(files, "a", 90)).toBe("written");
        disk.rmSync(join(directory, "a"));
        expect(await write(files, "b", 90)).toBe("written");
        disk.writeFileSync(join(directory, "c"), "x".repeat(10));
        expect(await write(files, "d", 20)).toBe("quota");
        expect(await used(files)).toBe(100);
      },
      { quotaBytes: 100 },
    ));

  test("links and directories count for nothing", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.mkdirSync(join(directory, "sub"));
        disk.symlinkSync("/etc/passwd", join(directory, "link"));
        disk.symlinkSync("/etc", join(directory, "sub/link"));
        expect(await write(files, "a", 100)).toBe("written");
        expect(await used(files)).toBe(100);
      },
      { quotaBytes: 100 },
    ));
});

describe.each(rootWays)("counting bytes, by %s", (way) => {
  test("goes on where a directory is gone, and ends where one cannot be read", () =>
    withRoot(way, async (root, directory, disk) => {
      for (const name of ["a", "b", "c"]) {
        disk.mkdirSync(join(directory, name));
        disk.writeFileSync(join(directory, name, "f"), "12345");
      }
      expect(await countAll(workspaceOver(root), null)).toEqual({ bytes: 15, files: 6 });
      for (const [errno, counted] of [
        [2, { bytes: 10, files: 4 }],
        [13, { bytes: 10, files: 4 }],
      ] as const) {
        const failing = intercept(root, {
          openAt: (at, name, opening) => (name === "b" ? -errno : root.openAt(at, name, opening)),
        });
        expect(await countAll(workspaceOver(failing), null)).toEqual(counted);
      }
      const broken = intercept(root, { entries: () => -5 });
      expect(await countAll(workspaceOver(broken), null).catch((thrown) => thrown.error.kind)).toBe("io");
    }));
});

test.each(rootWays)("a move waits for a count that is under way, which could miss what is moved, by %s", (way) =>
  withRoot(way, async (root, directory, disk) => {
    disk.writeFileSync(join(directory, "a"), "x");
    const one = { bytes: 1, files: 1 };
    const count = Promise.withResolvers<Amount>();
    let asked = 0;
    const quota = new Quota({ bytes: 100 }, async () => (asked++ === 0 ? one : count.promise));
    const workspace = new Workspace({ ...workspaceOver(root), quota });
    await quota.countFor(1);
    const counted = quota.countFor(100);
    const moved = move(workspace, { from: "a", to: "b" }, lasting);
    expect(disk.existsSync(join(directory, "a"))).toBe(true);
    count.resolve(one);
    await counted;
    await moved;
    expect(disk.existsSync(join(directory, "b"))).toBe(true);
  }),
);

describe("a quota", () => {
  test("adds what is written while it counts, since the count may have come past it", async () => {
    const counts = [Promise.withResolvers<number>(), Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    let asked = 0;
    const quota = new Quota({ bytes: 100 }, async () => {
      const bytes = await (counts[asked++]?.promise ?? Promise.reject(new Error("too often")));
      return { bytes, files: 0 };
    });
    const first = quota.countFor(10);
    const second = quota.countFor(90);
    expect(asked).toBe(1); // Both wait for one count.
    quota.add(30);
    quota.add(-50); // Of a file that it may not have come to yet.
    counts[0]?.resolve(50);
    await first;
    expect(quota.used?.bytes).toBe(80);
    expect(quota.fits(20)).toBe(true);
    expect(() => quota.admit(21, "a")).toThrow(FileRefusal as never);
    expect(asked).toBe(2); // For the other one, which does not fit by a figure that may be too high.
    counts[1]?.resolve(10);
    await second;
    expect(quota.used?.bytes).toBe(10);
    expect(quota.fits(90)).toBe(true);
  });

  test("is counted again after a count that failed", async () => {
    let count = 0;
    const quota = new Quota({ bytes: 100 }, async () => {
      if (count++ === 0) throw new Error("no");
      return { bytes: 7, files: 0 };
    });
    expect(await quota.countFor(1).catch((error) => error.message)).toBe("no");
    await quota.countFor(1);
    expect(quota.used?.bytes).toBe(7);
  });
});
