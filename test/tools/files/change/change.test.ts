import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { applyPatch } from "diff";
import {
  type Change,
  type ChangeReply,
  type ChangeRequest,
  type FileError,
  type FileSystemRef,
  resultOf,
} from "../../../../src/tools";
import { type Disk, everyWay, openBelow, stagedIn, withFiles } from "../ways";

const BEFORE = { "a.txt": "alpha\n", "b.txt": "beta\n", "c.txt": "gamma\n", "d.txt": "delta\n" };

function prepare(disk: Disk, directory: string): void {
  for (const [name, text] of Object.entries(BEFORE)) disk.writeFileSync(join(directory, name), text);
}

/** All files below a directory, but for those of the actor. */
function filesIn(disk: Disk, directory: string, below = ""): Record<string, string> {
  const names = disk.readdirSync(join(directory, below)) as string[]; // Names come as text where no encoding is asked for.
  return Object.assign(
    {},
    ...names
      .filter((name) => name !== ".envoi")
      .map((name) => {
        const path = join(below, name);
        const at = join(directory, path);
        if (disk.lstatSync(at).isDirectory()) return filesIn(disk, directory, path);
        return { [path]: disk.readFileSync(at, "utf8") };
      }),
  );
}

const ask = async (files: FileSystemRef, changes: Change[], more: Omit<ChangeRequest, "changes"> = {}) =>
  resultOf(await files.ask("change", { changes, ...more }));
const errorOf = async (asked: ReturnType<typeof ask>): Promise<FileError> =>
  // An error of the actor's own has no path: the expectations that follow fail on it.
  (await asked)._unsafeUnwrapErr() as FileError;

const ALL: Change[] = [
  { kind: "write", path: "a.txt", content: "ALPHA\n" },
  { kind: "edit", path: "b.txt", edits: [{ oldText: "beta", newText: "BETA" }] },
  { kind: "move", from: "c.txt", to: "sub/c.txt" },
  { kind: "delete", path: "d.txt" },
  { kind: "write", path: "new/e.txt", content: "epsilon\n" },
];
const AFTER = { "a.txt": "ALPHA\n", "b.txt": "BETA\n", "sub/c.txt": "gamma\n", "new/e.txt": "epsilon\n" };
const LARGE = "x".repeat(300_000);

describe.each(everyWay)("a change of several files, by way of %s", (way) => {
  test("a dry run that is refused leaves no directory open", async () => {
    await withFiles(way, async ({ files, disk, directory }) => {
      prepare(disk, directory);
      disk.mkdirSync(join(directory, "sub"));
      disk.writeFileSync(join(directory, "sub/e.txt"), "epsilon\n");
      const refused: [Change, FileError["kind"]][] = [
        [{ kind: "move", from: "sub/e.txt", to: "a.txt" }, "exists"],
        [{ kind: "move", from: "sub/e.txt", to: "none/e.txt", parents: false }, "not-found"],
        [{ kind: "move", from: "sub/none.txt", to: "z.txt" }, "not-found"],
        [{ kind: "delete", path: "sub/e.txt", ifMatch: "1-1" }, "changed"],
        [{ kind: "delete", path: "sub/none.txt" }, "not-found"],
      ];
      for (const [each, kind] of refused) {
        expect((await errorOf(ask(files, [each], { dryRun: true, diff: true }))).kind).toBe(kind);
        expect((await errorOf(ask(files, [each], { diff: true }))).kind).toBe(kind);
      }
      expect(openBelow(join(directory, "sub"))).toEqual([]);
    });
  });

  test.each([{}, { durable: true }])("writes, edits, moves and deletes all of them: %j", async (more) => {
    await withFiles(way, async ({ files, disk, directory }) => {
      prepare(disk, directory);
      const { changes } = (await ask(files, ALL, more))._unsafeUnwrap();
      expect(filesIn(disk, directory)).toEqual(AFTER);
      expect(stagedIn(disk, directory)).toEqual([]);
      expect(changes.map(({ kind, path, created }) => [kind, path, created])).toEqual([
        ["write", "a.txt", false],
        ["edit", "b.txt", false],
        ["move", "sub/c.txt", undefined],
        ["delete", "d.txt", undefined],
        ["write", "new/e.txt", true],
      ]);
      for (const { path, etag, size } of changes.filter((each) => each.etag !== undefined)) {
        const read = resultOf(await files.ask("read", { path }))._unsafeUnwrap();
        expect([read.etag, read.size]).toEqual([etag, size ?? -1]);
      }
    });
  });

  test.each<[string, Change, FileError["kind"]]>([
    ["an etag that is another one", { kind: "write", path: "c.txt", content: "", ifMatch: "1-1" }, "changed"],
    ["an etag of a large file that is another one", { kind: "delete", path: "l.txt", ifMatch: "493e0-1" }, "changed"],
    ["a text that does not occur", { kind: "edit", path: "c.txt", edits: [{ oldText: "z", newText: "" }] }, "no-match"],
    ["a file that is there", { kind: "write", path: "c.txt", content: "", ifExists: "fail" }, "exists"],
    ["a new name that is taken", { kind: "move", from: "c.txt", to: "d.txt" }, "exists"],
    ["a file that is missing", { kind: "delete", path: "z.txt" }, "not-found"],
    ["a directory", { kind: "delete", path: "directory" }, "is-directory"],
    ["what is closed", { kind: "write", path: "x.key", content: "" }, "denied"],
    ["a name that is closed", { kind: "move", from: "c.txt", to: "x.key" }, "denied"],
    ["a path of another change", { kind: "write", path: "a.txt/", content: "" }, "is-directory"],
    ["a path within another one", { kind: "write", path: "b.txt/c", content: "" }, "invalid-path"],
    ["a path outside of the root", { kind: "write", path: "../x", content: "" }, "outside-root"],
  ])("changes nothing where one has %s", async (_, refused, kind) => {
    await withFiles(
      way,
      async ({ files, disk, directory }) => {
        prepare(disk, directory);
        disk.writeFileSync(join(directory, "l.txt"), LARGE);
        disk.mkdirSync(join(directory, "directory"));
        const before = filesIn(disk, directory);
        const error = await errorOf(ask(files, [...ALL.slice(0, 2), refused]));
        expect(error.kind).toBe(kind);
        // Of paths that are none, or are not distinct, it is told before any is looked at.
        if (kind !== "invalid-path" && kind !== "outside-root")
          expect(error.message).toStartWith("Change 3 of 3 cannot be made, and none was: ");
        expect(filesIn(disk, directory)).toEqual(before);
        expect(stagedIn(disk, directory)).toEqual([]);
      },
      { deny: ["*.key"] },
    );
  });

  test("is made with the etags of large files", async () => {
    await withFiles(way, async ({ files, disk, directory }) => {
      for (const name of ["1", "2", "3"]) disk.writeFileSync(join(directory, name), LARGE);
      const { etag = "" } = resultOf(await files.ask("read", { path: "1" }))._unsafeUnwrap();
      const changes: Change[] = [
        { kind: "write", path: "1", content: "one", ifMatch: etag },
        { kind: "delete", path: "2", ifMatch: etag },
        { kind: "move", from: "3", to: "4", ifMatch: etag },
      ];
      const dry = (await ask(files, changes, { dryRun: true }))._unsafeUnwrap();
      expect((await ask(files, changes))._unsafeUnwrap()).toEqual(dry);
      expect(filesIn(disk, directory)).toEqual({ "1": "one", "4": LARGE });
    });
  });

  test("in a dry run changes nothing, and replies what the change does, its diffs included", async () => {
    await withFiles(way, async ({ files, disk, directory }) => {
      prepare(disk, directory);
      const dry = (await ask(files, ALL, { dryRun: true, diff: true }))._unsafeUnwrap();
      expect(filesIn(disk, directory)).toEqual(BEFORE);
      expect((disk.readdirSync(directory) as string[]).sort()).toEqual(Object.keys(BEFORE));
      expect((await ask(files, ALL, { diff: true }))._unsafeUnwrap()).toEqual(dry);
      expect(filesIn(disk, directory)).toEqual(AFTER);
      const [a, b, c, d, e] = dry.changes.map(({ diff }) => diff?.text ?? "");
      expect(applyPatch("alpha\n", a ?? "")).toBe("ALPHA\n");
      expect(applyPatch("beta\n", b ?? "")).toBe("BETA\n");
      expect(c).toBe("");
      expect(d).toBe("--- a/d.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-delta\n");
      expect(e).toBe("--- /dev/null\n+++ b/new/e.txt\n@@ -0,0 +1,1 @@\n+epsilon\n");
      for (const [path, kind] of [
        ["a.txt", "changed"],
        ["z.txt", "changed"],
      ] as const) {
        const stale: Change = { kind: "write", path, content: "", ifMatch: "1-1" };
        expect((await errorOf(ask(files, [stale], { dryRun: true }))).kind).toBe(kind);
      }
      expect((await errorOf(ask(files, [{ kind: "delete", path: "z.txt" }], { dryRun: true }))).kind).toBe("not-found");
    });
  });

  test("of two that overlap, asked for at once, each is made whole, in their order", async () => {
    await withFiles(way, async ({ files, disk, directory }) => {
      prepare(disk, directory);
      const large = (name: string): Change[] => [
        { kind: "write", path: "a.txt", content: name },
        { kind: "write", path: "b.txt", content: name.repeat(300_000) },
      ];
      const reversed = large("2").toReversed();
      const done = await Promise.all([ask(files, large("1")), ask(files, reversed), ask(files, large("3"))]);
      expect(done.map((each) => each.isOk())).toEqual([true, true, true]);
      const { "a.txt": a, "b.txt": b } = filesIn(disk, directory);
      expect(a).toBe("3");
      expect(b === "3".repeat(300_000)).toBe(true);
    });
  });

  test("of two actors over one root, each is made whole or refused", async () => {
    await withFiles(way, async ({ files, disk, directory }) => {
      prepare(disk, directory);
      const add = async (name: string): Promise<boolean> => {
        const changes: Change[] = ["a.txt", "b.txt"].map((path) => ({
          kind: "edit",
          path,
          edits: [{ lines: { from: 1, to: 1 }, oldText: path === "a.txt" ? "alpha" : "beta", newText: name }],
        }));
        return (await ask(files, changes)).isOk();
      };
      const made = await Promise.all(["1", "2", "3"].map(add));
      expect(made.filter(Boolean)).toHaveLength(1);
      const { "a.txt": a, "b.txt": b } = filesIn(disk, directory);
      expect(a).toBe(b ?? "");
    });
  });

  test("is told to who watches as what it is", async () => {
    await withFiles(way, async ({ files, disk, directory }) => {
      prepare(disk, directory);
      const told: string[] = [];
      for await (const item of files.stream("watch", {})) {
        if (!item.ok) break;
        told.push(`${item.value.kind} ${item.value.path}`);
        if (item.value.kind === "ready") (await ask(files, ALL.slice(0, 2)))._unsafeUnwrap();
        if (told.some((each) => each.endsWith("a.txt")) && told.some((each) => each.endsWith("b.txt"))) break;
      }
      expect(told.slice(1).sort()).toEqual(["changed a.txt", "changed b.txt"]);
    });
  });
});

test("a change of several files has a bound of bytes for all of them, and of a quota", async () => {
  const write = (path: string): Change => ({ kind: "write", path, content: "x".repeat(400) });
  const three = [write("1"), write("2"), write("3")];
  await withFiles(
    "memory",
    async ({ files, disk, directory }) => {
      for (const more of [{}, { dryRun: true }])
        expect((await errorOf(ask(files, three, more))).kind).toBe("too-large");
      disk.writeFileSync(join(directory, "1"), "x".repeat(900));
      const grow: Change = { kind: "edit", path: "1", edits: [{ oldText: "x", newText: "xx", replaceAll: true }] };
      expect((await errorOf(ask(files, [grow]))).kind).toBe("too-large");
      expect(filesIn(disk, directory)).toEqual({ "1": "x".repeat(900) });
    },
    { maxWriteBytes: 1_000 },
  );
  await withFiles(
    "memory",
    async ({ files, disk, directory }) => {
      expect((await errorOf(ask(files, three))).kind).toBe("quota");
      expect(filesIn(disk, directory)).toEqual({});
      (await ask(files, three.slice(0, 2)))._unsafeUnwrap();
      // A deletion makes room for a new file.
      (await ask(files, [{ kind: "delete", path: "1" }, write("3")]))._unsafeUnwrap();
      expect(Object.keys(filesIn(disk, directory))).toEqual(["2", "3"]);
    },
    { quotaBytes: 1_000 },
  );
  // A dry run is told what the change is: of all of them together, with what goes and with the directories that are made.
  await withFiles(
    "memory",
    async ({ files }) => {
      const dryRun = true;
      expect((await errorOf(ask(files, three, { dryRun }))).kind).toBe("quota");
      (await ask(files, three.slice(0, 2)))._unsafeUnwrap();
      (await ask(files, [{ kind: "delete", path: "1" }, write("3")], { dryRun }))._unsafeUnwrap();
      const below: Change = { kind: "write", path: "a/b/c", content: "" };
      expect((await errorOf(ask(files, [below], { dryRun }))).kind).toBe("quota");
      const into: Change = { kind: "move", from: "1", to: "a/b/c/d" };
      expect((await errorOf(ask(files, [into], { dryRun }))).kind).toBe("quota");
      (await ask(files, [{ ...into, to: "a/b/c" }], { dryRun }))._unsafeUnwrap();
    },
    { quotaBytes: 1_000, quotaFiles: 4 },
  );
  await withFiles("memory", async ({ files }) => expect((await errorOf(ask(files, three))).kind).toBe("read-only"), {
    readOnly: true,
  });
});

test("a change with a diff is refused where the file is another one than the diff is of", async () => {
  await withFiles("memory", async ({ files, disk, directory }) => {
    prepare(disk, directory);
    const asked = ask(
      files,
      [
        { kind: "write", path: "a.txt", content: "1" },
        { kind: "delete", path: "b.txt" },
      ],
      { diff: true },
    );
    disk.writeFileSync(join(directory, "b.txt"), "another\n");
    // It began with a.txt, and reads b.txt after a pause.
    const reply: ChangeReply = (await asked)._unsafeUnwrap();
    expect(reply.changes[1]?.diff?.text).toContain("-another");
  });
});
