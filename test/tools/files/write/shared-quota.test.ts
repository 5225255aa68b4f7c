import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createSystem } from "../../../../src";
import { createQuota, type FileSystemRef, resultOf, spawnFileSystem } from "../../../../src/tools";
import { countAll } from "../../../../src/tools/files/tree/tree";
import { runs } from "../../../property/runs";
import { workspaceOver } from "../over-root";
import { tmpdir } from "../tmpdir";
import { everyWay, stagedIn, type Way, withFiles, withRoot } from "../ways";

/** The outcome of an ask: "done", or the kind of its error. */
async function told(answer: ReturnType<FileSystemRef["ask"]>): Promise<string> {
  // Each operation has a reply of its own, of which only the outcome is looked at.
  const done = resultOf(await (answer as ReturnType<typeof write>));
  return done.isOk() ? "done" : (done.error as { kind: string }).kind;
}

const write = (files: FileSystemRef, path: string, size = 0, inPlace = false) =>
  files.ask("write", { path, content: "x".repeat(size), inPlace });

const used = async (files: FileSystemRef) => resultOf(await files.ask("inspect"))._unsafeUnwrap();

describe.each(everyWay)("quotaFiles, by %s", (way) => {
  test("counts what is there, files and directories, and refuses one more by its name", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.mkdirSync(join(directory, "there"));
        disk.writeFileSync(join(directory, "there/a"), "x");
        expect(await told(write(files, "b"))).toBe("done");
        expect(await told(files.ask("mkdir", { path: "c" }))).toBe("done");
        const refused = resultOf(await write(files, "d"))._unsafeUnwrapErr();
        expect(refused).toMatchObject({ kind: "quota", path: "d" });
        expect(refused.message).toContain("more than its 4 files and directories (quotaFiles); delete something first");
        expect(await used(files)).toMatchObject({ limits: { quotaFiles: 4 }, usedFiles: 4, usedBytes: 1 });
        // Every operation that makes an entry is refused, and leaves nothing.
        expect(await told(write(files, "d", 0, true))).toBe("quota");
        expect(await told(files.ask("append", { path: "d", content: "x" }))).toBe("quota");
        expect(await told(files.ask("mkdir", { path: "d" }))).toBe("quota");
        expect(await told(write(files, "d/e"))).toBe("quota");
        expect(await told(files.ask("copy", { from: "b", to: "d" }))).toBe("quota");
        expect(await told(files.ask("copy", { from: "there", to: "d" }))).toBe("quota");
        const { upload } = resultOf(await files.ask("beginWrite", { path: "d" }))._unsafeUnwrap();
        expect(await told(files.ask("finishWrite", { upload }))).toBe("quota");
        expect(disk.existsSync(join(directory, "d"))).toBe(false);
        expect(stagedIn(disk, directory)).toEqual([]);
        // Operations that make no new entry are not refused.
        expect(await told(write(files, "b", 5))).toBe("done");
        expect(await told(write(files, "b", 3, true))).toBe("done");
        expect(await told(files.ask("append", { path: "b", content: "x" }))).toBe("done");
        expect(await told(files.ask("move", { from: "b", to: "c/b" }))).toBe("done");
        expect(await told(files.ask("delete", { path: "c", recursive: true }))).toBe("done");
        expect(await used(files)).toMatchObject({ usedFiles: 2, usedBytes: 1 });
        expect(await told(write(files, "d/e"))).toBe("done");
      },
      { quotaFiles: 4 },
    ));

  test("is counted anew before anything is refused: what others deleted makes room, also for directories on the way", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        for (const name of ["a", "b", "c"]) expect(await told(write(files, name))).toBe("done");
        for (const name of ["a", "b", "c"]) disk.rmSync(join(directory, name));
        expect(await told(write(files, "d/e/f"))).toBe("done");
        expect(await used(files)).toMatchObject({ usedFiles: 3 });
      },
      { quotaFiles: 3 },
    ));

  test("refuses a directory on the way, and leaves none open", () =>
    // It fails for what is left open.
    withFiles(
      way,
      async ({ files }) => {
        expect(await told(files.ask("mkdir", { path: "there/deep" }))).toBe("done");
        expect(await told(write(files, "there/deep/new/a"))).toBe("quota");
        expect(await told(files.ask("mkdir", { path: "there/new/a" }))).toBe("quota");
      },
      { quotaFiles: 2 },
    ));

  test.each<[string, (files: FileSystemRef) => Promise<string>]>([
    ["write in place", (files) => told(write(files, "new/a", 0, true))],
    ["append", (files) => told(files.ask("append", { path: "new/a", content: "" }))],
    ["copy of a directory", (files) => told(files.ask("copy", { from: "there", to: "new/a" }))],
    ["change", (files) => told(files.ask("change", { changes: [{ kind: "write", path: "new/a", content: "" }] }))],
  ])("holds where a %s makes directories on its way, which count too", (_, work) =>
    withFiles(
      way,
      async ({ files }) => {
        expect(await told(files.ask("mkdir", { path: "there" }))).toBe("done");
        expect(await work(files)).toBe("quota");
        expect((await used(files)).usedFiles).toBeLessThanOrEqual(2);
      },
      { quotaFiles: 2 },
    ),
  );
});

const name = fc.constantFrom("a", "b", "d/a", "d/e/b", "d", "e");
const request = fc.oneof(
  fc.record({
    operation: fc.constant("write"),
    path: name,
    content: fc.nat(40).map((size) => "x".repeat(size)),
    inPlace: fc.boolean(),
  }),
  fc.record({ operation: fc.constant("append"), path: name, content: fc.nat(20).map((size) => "x".repeat(size)) }),
  fc.record({ operation: fc.constant("mkdir"), path: name }),
  fc.record({
    operation: fc.constantFrom("move", "copy"),
    from: name,
    to: name,
    ifExists: fc.constantFrom("fail", "replace"),
  }),
  fc.record({ operation: fc.constant("delete"), path: name, recursive: fc.boolean() }),
  fc.record({ operation: fc.constant("edit"), path: name, edits: fc.constant([{ oldText: "x", newText: "xxxx" }]) }),
  fc.record({ operation: fc.constant("upload"), path: name, content: fc.nat(40).map((size) => "x".repeat(size)) }),
);

/** Asks as the compiler cannot check it: the operation is one of several. */
async function ask(
  files: FileSystemRef,
  { operation, ...payload }: { operation: string; path?: string; content?: string },
) {
  if (operation !== "upload") return void (await files.ask(operation as "write", payload as never));
  const begun = resultOf(await files.ask("beginWrite", { path: payload.path ?? "" }));
  if (begun.isErr()) return;
  const { upload } = begun.value;
  await files.ask("writeChunk", { upload, content: payload.content ?? "" });
  await files.ask("finishWrite", { upload });
}

test.each(everyWay)("a quota is right after any requests, those that failed included, by %s", async (way) => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 25 }), async (requests) => {
      await withFiles(
        way,
        async ({ files, directory, disk }) => {
          expect(await told(write(files, "first", 1))).toBe("done"); // Which counts; later counts are as right as this one.
          for (const each of requests) await ask(files, each);
          const { usedBytes, usedFiles } = await used(files);
          const names = (disk.readdirSync(directory, { recursive: true }) as string[]).filter(
            (path) => !path.startsWith(".envoi"),
          );
          const sizes = names
            .map((path) => disk.lstatSync(join(directory, path)))
            .map((status) => (status.isFile() ? status.size : 0));
          const bytes = sizes.reduce((sum, size) => sum + size, 0);
          expect({ usedBytes, usedFiles }).toEqual({ usedBytes: bytes, usedFiles: names.length });
          expect(bytes <= 100 && names.length <= 6).toBe(true);
        },
        { quotaBytes: 100, quotaFiles: 6 },
      );
    }),
    runs(40),
  );
});

describe("createQuota", () => {
  const places = (work: (roots: readonly string[]) => Promise<void>) => async (): Promise<void> => {
    const roots = ["one", "two"].map((name) => mkdtempSync(join(tmpdir(), `envoi-quota-${name}-`)));
    try {
      await work(roots);
    } finally {
      for (const root of roots) rmSync(root, { recursive: true });
    }
  };

  test(
    "bounds what several roots hold together, counted with what was there, and says so",
    places(async ([one = "", two = ""]) => {
      await using system = createSystem();
      writeFileSync(join(two, "there"), "x".repeat(40));
      const quota = createQuota({ bytes: 100, files: 4 });
      const a = spawnFileSystem(system, { name: "a", root: one, quota });
      const b = spawnFileSystem(system, { name: "b", root: two, quota, quotaBytes: 90 });
      expect(quota.used).toBeNull();
      expect(await told(write(a, "a", 60))).toBe("done");
      expect(quota.used).toEqual({ bytes: 100, files: 2 });
      for (const files of [a, b]) {
        const refused = resultOf(await write(files, "more", 1))._unsafeUnwrapErr();
        expect(refused).toMatchObject({ kind: "quota" });
        expect(refused.message).toContain("the roots of one quota would hold more than its 100 bytes (bytes)");
      }
      expect(await told(b.ask("delete", { path: "there" }))).toBe("done");
      expect(await told(write(a, "b", 40))).toBe("done");
      expect(await told(a.ask("delete", { path: "a" }))).toBe("done");
      // An actor's own bound holds beside it.
      const own = resultOf(await write(b, "c", 91))._unsafeUnwrapErr();
      expect(own.message).toContain("the root would hold more than its 90 bytes (quotaBytes)");
      expect(await told(write(b, "c"))).toBe("done");
      expect(await told(b.ask("mkdir", { path: "d/e" }))).toBe("done");
      const refused = resultOf(await write(a, "f"))._unsafeUnwrapErr();
      expect(refused.message).toContain(
        "the roots of one quota would hold more than its 4 files and directories (files)",
      );
    }),
  );

  test(
    "counts anew before it refuses, and by recount: other programs write in every root",
    places(async ([one = "", two = ""]) => {
      await using system = createSystem();
      const quota = createQuota({ bytes: 100 });
      const a = spawnFileSystem(system, { name: "a", root: one, quota });
      const b = spawnFileSystem(system, { name: "b", root: two, quota });
      expect(await told(write(b, "b", 100))).toBe("done");
      rmSync(join(two, "b"));
      expect(quota.used?.bytes).toBe(100);
      expect(await told(write(a, "a", 100))).toBe("done");
      writeFileSync(join(two, "c"), "x");
      expect(quota.used?.bytes).toBe(100);
      await quota.recount();
      expect(quota.used).toEqual({ bytes: 101, files: 2 });
    }),
  );

  test(
    "counts a root once that several actors serve, as long as one does",
    places(async ([one = "", two = ""]) => {
      await using system = createSystem();
      const quota = createQuota({ bytes: 100 });
      const a = spawnFileSystem(system, { name: "a", root: one, quota });
      const again = spawnFileSystem(system, { name: "again", root: one, quota });
      const b = spawnFileSystem(system, { name: "b", root: two, quota });
      expect(await told(write(a, "a", 60))).toBe("done");
      expect(await told(write(again, "b", 40))).toBe("done");
      expect(quota.used?.bytes).toBe(100);
      await system.stop(again);
      expect(await told(write(b, "b", 1))).toBe("quota"); // Counted anew, by the actor that is left.
      expect(quota.used?.bytes).toBe(100);
      await system.stop(a);
      expect(await told(write(b, "b", 100))).toBe("done");
    }),
  );

  test(
    "is never passed by actors of several roots that write at once, in place too",
    places(async (roots) => {
      await using system = createSystem();
      const most = 4_000_000;
      const quota = createQuota({ bytes: most, files: 100 });
      const actors = roots.map((root, i) => spawnFileSystem(system, { name: `files-${i}`, root, quota }));
      const content = new Uint8Array(500_000);
      const done = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const files = actors[i % 2] as FileSystemRef; // There are two.
          const path = `f${i}`;
          if (i % 3 === 0) return told(files.ask("append", { path, content }));
          return told(files.ask("write", { path, content, inPlace: i % 3 === 1 }));
        }),
      );
      expect(done.filter((each) => each === "done")).toHaveLength(8);
      await quota.recount();
      expect(quota.used?.bytes).toBe(most);
    }),
  );

  test("refuses bounds that cannot be ones, and an actor what is no quota", () => {
    for (const wrong of [null, {}, { byte: 1 }, { bytes: 0 }, { files: 1.5 }]) {
      expect(() => createQuota(wrong as never)).toThrow(/quota/);
    }
    const limits = { root: "any", quota: { limits: { bytes: 1 } } as never };
    expect(() => spawnFileSystem(createSystem(), limits)).toThrow("createQuota");
  });
});

test.each(everyWay)("all that is below a root is counted, but for what is on its way, by %s", (way: Way) =>
  withRoot(way, async (root, directory, disk) => {
    disk.mkdirSync(join(directory, "a/b"), { recursive: true });
    disk.mkdirSync(join(directory, ".envoi"));
    disk.writeFileSync(join(directory, ".envoi/1.1"), "12345");
    disk.writeFileSync(join(directory, "a/b/c"), "123");
    disk.symlinkSync("a", join(directory, "link"));
    expect(await countAll(workspaceOver(root), null)).toEqual({ bytes: 3, files: 3 });
  }),
);
