import { describe, expect, test } from "bun:test";
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { createSystem, systemClock } from "../../../../src";
import { type FileSystemRef, resultOf, spawnFileSystem } from "../../../../src/tools";
import { PIECE } from "../../../../src/tools/files/etag";
import type { MoveRequest } from "../../../../src/tools/files/requests/changing";
import { type Disk, everyWay, ways, withFiles } from "../ways";
import { at, put } from "./disk";

async function copy(files: FileSystemRef, from: string, to: string, more: Partial<MoveRequest> = {}) {
  const done = resultOf(await files.ask("copy", { from, to, ...more }));
  if (done.isOk()) return done.value;
  const { error } = done;
  return "path" in error ? `${error.kind} ${error.path}` : error.kind;
}

/** The entries that are staged now. */
const staged = (disk: Disk, directory: string): string[] =>
  disk.existsSync(join(directory, ".envoi"))
    ? disk
        .readdirSync(join(directory, ".envoi"))
        .map(String)
        .filter((name) => /\.\d+$/.test(name))
    : [];

const large = "0123456789abcdef".repeat(PIECE / 4); // 4 pieces

/** Whether something holds as soon as an answer has come. */
const settled = (answer: Promise<unknown>, holds: () => boolean): Promise<boolean> => answer.then(holds);

describe.each(everyWay)("copy, by %s", (way) => {
  test("copies a file, small or large, and makes what is missing on the way", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      for (const [name, content] of [
        ["empty", ""],
        ["small", "text"],
        ["large", `${large}!`],
      ] as const) {
        disk.writeFileSync(join(directory, name), content);
        expect(await copy(files, name, `sub/${name}`)).toEqual({ files: 1, bytes: content.length, leftOut: 0 });
        expect(at(disk, directory, `sub/${name}`) === content).toBe(true);
        expect(await copy(files, name, `sub/${name}`)).toBe(`exists sub/${name}`);
        expect(await copy(files, name, "same", { ifExists: "replace" })).toMatchObject({ files: 1 });
        expect(at(disk, directory, "same") === content).toBe(true);
      }
      expect(await copy(files, "small", "x/y", { parents: false })).toBe("not-found x/y");
      expect(await copy(files, "none", "x/y")).toBe("not-found none");
      expect(disk.existsSync(join(directory, "x"))).toBe(false);
      expect(staged(disk, directory)).toEqual([]);
    }));

  test("copies a directory with what is in it, and counts what it leaves out", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "tree/a", "tree/sub/b", "tree/sub/deep/c");
      disk.writeFileSync(join(directory, "tree/large"), large);
      disk.mkdirSync(join(directory, "tree/empty"));
      disk.symlinkSync("/etc/passwd", join(directory, "tree/link"));
      disk.symlinkSync("/etc", join(directory, "tree/sub/link"));
      const bytes = ["tree/a", "tree/sub/b", "tree/sub/deep/c", large].join("").length;
      expect(await copy(files, "tree/", "new/copy/")).toEqual({ files: 4, bytes, leftOut: 2 });
      const names = (path: string) => disk.readdirSync(join(directory, path)).map(String).sort();
      expect(names("new/copy")).toEqual(["a", "empty", "large", "sub"]);
      expect(names("new/copy/sub")).toEqual(["b", "deep"]);
      expect(at(disk, directory, "new/copy/sub/deep/c")).toBe("tree/sub/deep/c");
      expect(at(disk, directory, "new/copy/large") === large).toBe(true);
      expect(at(disk, directory, "tree/a")).toBe("tree/a");
      for (const ifExists of ["fail", "replace"] as const) {
        expect(await copy(files, "tree", "new/copy", { ifExists })).toBe("exists new/copy");
        expect(await copy(files, "tree", "tree", { ifExists })).toBe("exists tree");
      }
      expect(staged(disk, directory)).toEqual([]);
    }));

  test("refuses links, what leads through one, and what would be in itself", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "real/a", "b", "tree/c");
      disk.symlinkSync("real", join(directory, "link"));
      disk.symlinkSync("b", join(directory, "link to b"));
      expect(await copy(files, "tree", "link/")).toBe("denied link/");
      expect(await copy(files, "tree", "b/")).toBe("not-a-directory b/");
      expect(await copy(files, "tree", "b/c")).toBe("not-a-directory b/c");
      for (const ifExists of ["fail", "replace"] as const) {
        const isReplace = ifExists === "replace";
        expect(await copy(files, "link", "x", { ifExists })).toBe("denied link");
        expect(await copy(files, "link to b", "x", { ifExists })).toBe("denied link to b");
        expect(await copy(files, "link/a", "x", { ifExists })).toBe("denied link/a");
        expect(await copy(files, "b", "link/x", { ifExists })).toBe("denied link/x");
        expect(await copy(files, "b", "link to b", { ifExists })).toBe(
          isReplace ? "denied link to b" : "exists link to b",
        );
        expect(await copy(files, "b", "tree", { ifExists })).toBe(isReplace ? "is-directory tree" : "exists tree");
        expect(await copy(files, "tree", "tree/x", { ifExists })).toBe("invalid-path tree/x");
        expect(await copy(files, "", "x", { ifExists })).toBe("denied ");
        expect(await copy(files, "b", "", { ifExists })).toBe("exists ");
        expect(await copy(files, "b", "x/", { ifExists })).toBe("is-directory x/");
      }
      expect(disk.existsSync(join(directory, "x"))).toBe(false);
      expect(disk.readdirSync(join(directory, "real")).map(String)).toEqual(["a"]);
      expect(at(disk, directory, "b")).toBe("b");
    }));

  test("copies nothing that is not served, be it by its old name or by its new one", async () => {
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a/b/.env", "c/d", "g/tmp/h");
        expect(await copy(files, "a", "x")).toBe("denied a");
        expect(await copy(files, "a/b/.env", "x")).toBe("denied a/b/.env");
        expect(await copy(files, "c/d", "c/.env")).toBe("denied c/.env");
        expect(await copy(files, "g", "closed")).toBe("denied g");
        expect(await copy(files, "g", "x")).toMatchObject({ files: 1 });
        expect(disk.existsSync(join(directory, "closed"))).toBe(false);
      },
      { deny: ["**/.env", "closed/tmp"] },
    );
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a.ts", "b.md");
        expect(await copy(files, "b.md", "b.ts")).toBe("denied b.md");
        expect(await copy(files, "a.ts", "a.md")).toBe("denied a.md");
        expect(await copy(files, "a.ts", "b.ts")).toMatchObject({ files: 1 });
        put(disk, directory, "tree/a.ts", "mixed/a.ts", "mixed/b.md");
        expect(await copy(files, "tree", "copy")).toMatchObject({ files: 1 });
        expect(await copy(files, "mixed", "copy2")).toBe("denied mixed");
      },
      { allow: ["**/*.ts"] },
    );
    await withFiles(
      way,
      async ({ files, directory, disk }) => {
        put(disk, directory, "a");
        expect(await copy(files, "a", "b")).toBe("read-only b");
      },
      { readOnly: true },
    );
  });

  test("copies no more than the quota has place for, and no more entries than may be", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "large"), large);
        put(disk, directory, "many/a", "many/b", "many/c", "many/d", "many/e", "few/a");
        disk.writeFileSync(join(directory, "few/large"), large);
        expect(await copy(files, "large", "x")).toBe("quota x");
        expect(await copy(files, "few", "x")).toBe("quota x");
        expect(await copy(files, "many", "x")).toBe("too-large many");
        expect(disk.existsSync(join(directory, "x"))).toBe(false);
        expect(staged(disk, directory)).toEqual([]);
        const used = async () => resultOf(await files.ask("inspect"))._unsafeUnwrap().usedBytes ?? 0;
        const before = await used();
        disk.rmSync(join(directory, "few/large"));
        expect(await copy(files, "few", "x")).toEqual({ files: 1, bytes: 5, leftOut: 0 });
        expect(await copy(files, "few/a", "y")).toEqual({ files: 1, bytes: 5, leftOut: 0 });
        expect(await used()).toBe(before + 10);
      },
      { quotaBytes: large.length * 2 + 100, maxEntries: 5 },
    ));
});

describe.each(ways)("copy on a disk, by %s", (way) => {
  test("keeps permission bits, gives no rights that the old ones had not, and none beyond them", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a", "b", "tree/sub/c");
      const modeOf = (path: string) => statSync(join(directory, path)).mode & 0o7777;
      chmodSync(join(directory, "a"), 0o4751);
      chmodSync(join(directory, "b"), 0o600);
      chmodSync(join(directory, "tree/sub/c"), 0o640);
      chmodSync(join(directory, "tree/sub"), 0o500);
      chmodSync(join(directory, "tree"), 0o700);
      await copy(files, "a", "a2");
      expect(modeOf("a2")).toBe(0o751);
      await copy(files, "a", "b", { ifExists: "replace" });
      expect(modeOf("b")).toBe(0o600);
      await copy(files, "tree", "tree2");
      expect([modeOf("tree2"), modeOf("tree2/sub"), modeOf("tree2/sub/c")]).toEqual([0o700, 0o700, 0o640]);
      chmodSync(join(directory, "tree/sub"), 0o700); // Or nobody but root could remove it.
    }));

  test("leaves out hard links and FIFOs, and copies names that no path can say", async () => {
    for (const hardLinks of [false, true]) {
      await withFiles(
        way,
        async ({ files, directory, disk }) => {
          put(disk, directory, "a", "tree/b");
          disk.linkSync(join(directory, "a"), join(directory, "tree/hard"));
          expect(Bun.spawnSync(["mkfifo", join(directory, "tree/fifo")]).exitCode).toBe(0);
          const odd = (tree: string) =>
            Buffer.concat([Buffer.from(`${directory}/${tree}/`), Buffer.from([0xff]), Buffer.from("/x")]);
          disk.mkdirSync(odd("tree").subarray(0, -2));
          disk.writeFileSync(odd("tree"), "odd");
          const done = await copy(files, "tree", "copy");
          expect(done).toMatchObject(hardLinks ? { files: 3, leftOut: 1 } : { files: 2, leftOut: 2 });
          expect(disk.readFileSync(odd("copy"), "utf8")).toBe("odd");
          expect(disk.existsSync(join(directory, "copy/hard"))).toBe(hardLinks);
          expect(await copy(files, "a", "x")).toEqual(hardLinks ? expect.anything() : "denied a");
        },
        { hardLinks },
      );
    }
  });

  test("leaves nothing behind when its asker gives up", () =>
    withFiles(way, async ({ directory, disk }) => {
      put(disk, directory, ...Array.from({ length: 50 }, (_, i) => `tree/${i}/${i}`));
      disk.writeFileSync(join(directory, "large"), large);
      let time = 0;
      let asker = new AbortController();
      let end = 0;
      const clock = {
        ...systemClock,
        // Each look at the clock ends a turn.
        monotonicTime() {
          if (++time === end) asker.abort();
          return time;
        },
      };
      await using system = createSystem({ clock });
      // A way of this list is one over the machine's disk.
      const files = spawnFileSystem(system, { root: directory, resolution: way as "openat2", name: "slow" });
      const hasStaged: boolean[] = [];
      for (const from of ["tree", "large"]) {
        for (const looks of [4, 7, 300, 400, 500]) {
          asker = new AbortController();
          end = time + looks;
          const answer = files.ask("copy", { from, to: "copy" }, { signal: asker.signal, timeout: 1e9 });
          hasStaged.push(await settled(answer, () => staged(disk, directory).length > 0));
          if ((await answer).isOk()) disk.rmSync(join(directory, "copy"), { recursive: true });
          for (let i = 0; i < 2_000; i++) await new Promise<void>((resolve) => setImmediate(resolve));
          expect(staged(disk, directory)).toEqual([]);
          expect(disk.existsSync(join(directory, "copy"))).toBe(false);
        }
      }
      expect(hasStaged).toContain(true); // Otherwise there was nothing to be left behind.
    }));

  test("what is not served and comes into a directory while it is copied is not copied", () =>
    withFiles(way, async ({ directory, disk }) => {
      put(disk, directory, ...Array.from({ length: 50 }, (_, i) => `tree/${i}/${i}`));
      let time = 0;
      // Each look at the clock ends a turn.
      await using system = createSystem({ clock: { ...systemClock, monotonicTime: () => ++time } });
      const deny = ["tree/*/secret"];
      const files = spawnFileSystem(system, { root: directory, resolution: way as never, name: "slow", deny });
      const answer = files.ask("copy", { from: "tree", to: "copy" }, { timeout: 60_000 });
      while (staged(disk, directory).length === 0) await new Promise<void>((resolve) => setImmediate(resolve));
      put(disk, directory, ...Array.from({ length: 50 }, (_, i) => `tree/${i}/secret`));
      expect(resultOf(await answer)._unsafeUnwrapErr().kind).toBe("denied");
      expect(disk.existsSync(join(directory, "copy"))).toBe(false);
      expect(staged(disk, directory)).toEqual([]);
    }));

  test("what a killed process leaves of a directory is swept", () =>
    withFiles(way, async ({ directory, disk }) => {
      const gone = "00000000-0000-4000-8000-000000000000.7";
      put(disk, directory, `.envoi/${gone}/sub/a`, `.envoi/${gone}/b`, "kept");
      disk.symlinkSync("../../kept", join(directory, ".envoi", gone, "link"));
      await using system = createSystem();
      spawnFileSystem(system, { root: directory, name: "next" });
      expect(staged(disk, directory)).toEqual([]);
      expect(at(disk, directory, "kept")).toBe("kept");
    }));
});
