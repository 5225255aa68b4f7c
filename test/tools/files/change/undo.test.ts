import { describe, expect, test } from "bun:test";
import { constants } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src";
import { change } from "../../../../src/tools/files/change/change";
import { etagOf } from "../../../../src/tools/files/etag";
import { FileRefusal } from "../../../../src/tools/files/file-error";
import { limitsOf } from "../../../../src/tools/files/options";
import type { Change, ChangeRequest } from "../../../../src/tools/files/requests/several";
import type { Root } from "../../../../src/tools/files/root/root";
import { Rules } from "../../../../src/tools/files/rules";
import { Workspace } from "../../../../src/tools/files/workspace";
import { Quota } from "../../../../src/tools/files/write/quota";
import { STAGING, Staging } from "../../../../src/tools/files/write/staging";
import type { Amount } from "../../../../src/tools/files/write/usage";
import { WriteLock } from "../../../../src/tools/files/write/write-lock";
import { intercept, lasting } from "../over-root";
import { type Disk, rootWays, stagedIn, withRoot } from "../ways";

const { EIO, EINVAL, EXDEV } = constants.errno;

function workspaceOf(root: Root, deny: string[] = [], clock = systemClock): Workspace {
  const staging = new Staging(root);
  return new Workspace({
    root,
    staging,
    rules: new Rules({ deny }),
    limits: limitsOf({ root: "any" }),
    lock: new WriteLock(staging, systemClock),
    quota: null,
    clock,
  });
}

const REQUEST: ChangeRequest = {
  changes: [
    { kind: "write", path: "a", content: "A" },
    { kind: "delete", path: "b" },
    { kind: "write", path: "new", content: "N" },
    { kind: "move", from: "c", to: "moved" },
    { kind: "edit", path: "sub/d", edits: [{ oldText: "d", newText: "D" }] },
    { kind: "delete", path: "e" },
  ],
};
const BEFORE = { a: "a", b: "b", c: "c", "sub/d": "d", e: "e" };
const AFTER = { a: "A", moved: "c", new: "N", "sub/d": "D" };

function prepare(disk: Disk, directory: string): void {
  disk.mkdirSync(join(directory, "sub"));
  for (const [name, text] of Object.entries(BEFORE)) disk.writeFileSync(join(directory, name), text);
}

function filesIn(disk: Disk, directory: string): Record<string, unknown> {
  const names = ["a", "b", "c", "sub/d", "e", "new", "moved"];
  return Object.fromEntries(
    names
      .filter((name) => disk.existsSync(join(directory, name)))
      .map((name) => [name, disk.readFileSync(join(directory, name), "utf8")]),
  );
}

/** Makes the change, and gives what it was refused for, or null. */
async function make(workspace: Workspace, request = REQUEST): Promise<FileRefusal["error"] | null> {
  try {
    await change(workspace, request, lasting);
    return null;
  } catch (thrown) {
    if (thrown instanceof FileRefusal) return thrown.error;
    throw thrown;
  } finally {
    workspace.staging.dispose();
  }
}

/** A root whose `nth` change of a name fails, and those for `others` after it. */
function failing(root: Root, nth: number, code: number, others = 0): Root {
  let count = 0;
  const next = (work: () => number): number => {
    count++;
    return count >= nth && count <= nth + others ? code : work();
  };
  return intercept(root, {
    rename: (from, name, to, newName, replace) => next(() => root.rename(from, name, to, newName, replace)),
    exchange: (from, name, to, newName, spare) => next(() => root.exchange(from, name, to, newName, spare)),
  });
}

describe.each(rootWays)("by way of %s", (way) => {
  test.each([1, 2, 3, 4, 5, 6])("a failure at the %dth of six changes takes back those before it", async (nth) => {
    await withRoot(way, async (root, directory, disk) => {
      prepare(disk, directory);
      const inode = disk.lstatSync(join(directory, "a")).ino;
      const error = await make(workspaceOf(failing(root, nth, -EIO)));
      expect(error).toMatchObject({ kind: "io" });
      expect(error?.message).toStartWith(`Change ${nth} of 6 cannot be made, and none was: `);
      expect(filesIn(disk, directory)).toEqual(BEFORE);
      expect(stagedIn(disk, directory)).toEqual([]);
      // It is the file itself that came back.
      expect(disk.lstatSync(join(directory, "a")).ino).toBe(inode);
    });
  });

  test("without a failure all of them are made, and nothing is left behind", async () => {
    await withRoot(way, async (root, directory, disk) => {
      prepare(disk, directory);
      expect(await make(workspaceOf(failing(root, 7, -EIO)))).toBeNull();
      expect(filesIn(disk, directory)).toEqual(AFTER);
      expect(stagedIn(disk, directory)).toEqual([]);
    });
  });

  test("P5: what takes long is not done in one turn: neither the looks at the files before it, nor their removal after it", async () => {
    await withRoot(way, async (root, directory, disk) => {
      const names = Array.from({ length: 20 }, (_, i) => `${i}`);
      for (const name of names) disk.writeFileSync(join(directory, name), name);
      let time = 0;
      const counts = new Map<string, number>();
      const note = (what: string): void => {
        const key = `${what} in turn ${workspace.turn}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      };
      const noting = intercept(root, {
        read(file, bytes, length, position) {
          note("reads");
          return root.read(file, bytes, length, position);
        },
        unlink(at, name) {
          note("removals");
          return root.unlink(at, name);
        },
      });
      // Each look at this clock is a millisecond later.
      const workspace = workspaceOf(noting, [], { ...systemClock, monotonicTime: () => time++ });
      const changes = names.map(
        (path, i): Change =>
          i % 2 === 0
            ? { kind: "delete", path, ifMatch: etagOf(Buffer.from(path)) }
            : { kind: "edit", path, edits: [{ oldText: path, newText: "new" }] },
      );
      expect(await make(workspace, { changes })).toBeNull();
      const several = [...counts].filter(([, count]) => count > 2);
      expect(several).toEqual([]);
      expect(counts.size).toBeGreaterThan(40);
    });
  });

  test("waits for a count of the quota that is under way, which could miss what is moved", async () => {
    await withRoot(way, async (root, directory, disk) => {
      prepare(disk, directory);
      const most = { bytes: 50, files: 10 };
      const count = Promise.withResolvers<Amount>();
      let asked = 0;
      const quota = new Quota({ bytes: 100 }, async () => (asked++ === 0 ? most : count.promise));
      const workspace = new Workspace({ ...workspaceOf(root), quota });
      await quota.countFor(1);
      const counted = quota.countFor(60);
      const made = make(workspace, { changes: [{ kind: "move", from: "c", to: "moved" }] });
      for (let i = 0; i < 5; i++) await workspace.pause();
      expect(filesIn(disk, directory)).toEqual(BEFORE);
      count.resolve(most);
      await counted;
      expect(await made).toBeNull();
      expect(filesIn(disk, directory)["moved"]).toBe("c");
    });
  });

  test("a dry run is told that a move leads to another file system, as the move is", async () => {
    await withRoot(way, async (root, directory, disk) => {
      prepare(disk, directory);
      const changes: Change[] = [{ kind: "move", from: "c", to: "moved" }];
      expect(await make(workspaceOf(root), { changes, dryRun: true })).toBeNull();
      const mounted = intercept(root, {
        stat(file, status) {
          const code = root.stat(file, status);
          if (file === root.top) status.device++;
          return code;
        },
      });
      const error = await make(workspaceOf(mounted), { changes, dryRun: true });
      expect(error?.message).toContain("is on another file system");
    });
  });

  test("what cannot be taken back is told by its name, and is whole", async () => {
    await withRoot(way, async (root, directory, disk) => {
      prepare(disk, directory);
      // The third fails, and so does the way back of the second.
      const error = await make(workspaceOf(failing(root, 3, -EIO, 1)));
      expect(error).toMatchObject({ kind: "io", path: "b" });
      expect(error?.message).toContain('that of "b" was made and could not be taken back');
      const { b, ...rest } = BEFORE;
      expect(filesIn(disk, directory)).toEqual(rest);
      expect(b).toBe("b");
    });
  });

  test("a file system that cannot exchange two files is told, with nothing changed", async () => {
    await withRoot(way, async (root, directory, disk) => {
      prepare(disk, directory);
      const error = await make(workspaceOf(intercept(root, { exchange: () => -EINVAL })));
      expect(error?.message).toContain("cannot exchange two files");
      expect(filesIn(disk, directory)).toEqual(BEFORE);
    });
  });

  test("P5: many files on another file system than .envoi are changed together, and none is placed for each of the others", async () => {
    await withRoot(way, async (root, directory, disk) => {
      const names = Array.from({ length: 20 }, (_, i) => `${i}`);
      for (const name of names) disk.writeFileSync(join(directory, name), "old");
      const staging = new Set<number>();
      let placed = 0;
      const within = (from: number, to: number, work: () => number): number => {
        if (staging.has(from) !== staging.has(to)) return -EXDEV;
        placed++;
        return work();
      };
      const mounted = intercept(root, {
        openAt(at, name, opening) {
          const opened = root.openAt(at, name, opening);
          if (name === STAGING && opened >= 0) staging.add(opened);
          return opened;
        },
        rename: (from, name, to, newName, replace) =>
          within(from, to, () => root.rename(from, name, to, newName, replace)),
        exchange: (from, name, to, newName, spare) =>
          within(from, to, () => root.exchange(from, name, to, newName, spare)),
      });
      const changes = names.map((path, i): Change => {
        if (i % 4 === 0) return { kind: "delete", path, ifMatch: etagOf(Buffer.from("old")) };
        if (i % 4 === 1) return { kind: "move", from: path, to: `${path} moved` };
        if (i % 4 === 2) return { kind: "write", path: `${path} new`, content: "new" };
        return { kind: "edit", path, edits: [{ oldText: "old", newText: "new" }] };
      });
      expect(await make(workspaceOf(mounted), { changes })).toBeNull();
      const expected = names.flatMap((name, i) => {
        if (i % 4 === 2) return [`${name} old`, `${name} new new`];
        return i % 4 === 0 ? [] : [i % 4 === 1 ? `${name} moved old` : `${name} new`];
      });
      const found = (disk.readdirSync(directory) as string[]).filter((name) => name !== STAGING);
      expect(found.map((name) => `${name} ${disk.readFileSync(join(directory, name), "utf8")}`).sort()).toEqual(
        expected.sort(),
      );
      expect(stagedIn(disk, directory)).toEqual([]);
      // Each at most twice, and once back.
      expect(placed).toBeLessThanOrEqual(3 * names.length);
    });
  });

  test("P5: a path is not resolved again in the turn that places its file, nor twice in a turn before", async () => {
    await withRoot(way, async (root, directory, disk) => {
      const names = Array.from({ length: 20 }, (_, i) => `sub/${i}`);
      disk.mkdirSync(join(directory, "sub"));
      for (const name of names) disk.writeFileSync(join(directory, name), "old");
      const counts = new Map<number, number>();
      const counting = intercept(root, {
        open(path, opening) {
          counts.set(workspace.turn, (counts.get(workspace.turn) ?? 0) + 1);
          return root.open(path, opening);
        },
      });
      let time = 0;
      const workspace = workspaceOf(counting, [], { ...systemClock, monotonicTime: () => time++ });
      const changes = names.map(
        (path, i): Change =>
          i % 3 === 0
            ? { kind: "move", from: path, to: `${path} moved` }
            : i % 3 === 1
              ? { kind: "delete", path }
              : { kind: "write", path, content: "" },
      );
      expect(await make(workspace, { changes })).toBeNull();
      expect(Math.max(...counts.values())).toBe(1);
    });
  });

  test("a directory that is moved in any pause, to where it is denied, gets nothing there, and loses nothing", async () => {
    await withRoot(way, async (root, directory, disk) => {
      const names = Array.from({ length: 10 }, (_, i) => `${i}`);
      const changes = names.map(
        (name, i): Change =>
          i % 2 === 0
            ? { kind: "delete", path: `sub/${name}` }
            : { kind: "write", path: `sub/${name}`, content: "new", parents: false },
      );
      let turns = 0;
      for (let nth = 0; nth <= turns; nth++) {
        disk.rmSync(join(directory, "sub"), { recursive: true, force: true });
        disk.rmSync(join(directory, "closed"), { recursive: true, force: true });
        disk.mkdirSync(join(directory, "sub"));
        for (const name of names) disk.writeFileSync(join(directory, "sub", name), "old");
        let time = 0;
        const workspace = workspaceOf(root, ["closed/**"], { ...systemClock, monotonicTime: () => time++ });
        const pause = workspace.pause.bind(workspace);
        const textsIn = (name: string): string[] =>
          (disk.readdirSync(join(directory, name)) as string[]).map((each) =>
            disk.readFileSync(join(directory, name, each), "utf8"),
          );
        let moved = null as string[] | null; // Assigned in a pause.
        workspace.pause = async () => {
          if (workspace.turn + 1 === nth && root.rename(root.top, "sub", root.top, "closed", false) === 0) {
            moved = textsIn("closed");
          }
          await pause();
        };
        const refused = await make(workspace, { changes });
        if (nth === 0) turns = workspace.turn; // None was moved.
        expect([nth, textsIn(moved === null ? "sub" : "closed")]).toEqual([nth, moved ?? Array(5).fill("new")]);
        // Either all were made before the move, or none is.
        expect([nth, refused === null]).toEqual([nth, moved === null || moved.length === 5]);
        const isMoved = moved !== null;
        expect(disk.existsSync(join(directory, "sub"))).toBe(!isMoved);
      }
      expect(turns).toBeGreaterThan(20);
    });
  });

  test("a directory that is moved while it is staged is looked up again: the rules hold where the change is made", async () => {
    await withRoot(way, async (root, directory, disk) => {
      prepare(disk, directory);
      const workspace = workspaceOf(root, ["closed/**"]);
      const asked = make(workspace, {
        changes: [
          { kind: "write", path: "a", content: "A" },
          { kind: "write", path: "sub/new", content: "N" },
          { kind: "delete", path: "sub/d" },
        ],
      });
      await workspace.pause();
      // As another request of the same caller would.
      expect(root.rename(root.top, "sub", root.top, "closed", false)).toBe(0);
      expect(await asked).toMatchObject({ kind: "not-found" });
      expect(disk.readdirSync(join(directory, "closed")) as string[]).toEqual(["d"]);
      expect(filesIn(disk, directory)).toMatchObject({ a: "a" });
    });
  });
});
