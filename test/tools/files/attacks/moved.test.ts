import { describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { FileRefusal } from "../../../../src/tools/files/file-error";
import { parsePath } from "../../../../src/tools/files/path";
import { read } from "../../../../src/tools/files/read";
import { readStream } from "../../../../src/tools/files/read-stream";
import type { Root } from "../../../../src/tools/files/root/root";
import { search } from "../../../../src/tools/files/search/search";
import { copyTree } from "../../../../src/tools/files/tree/copy-tree";
import { remove } from "../../../../src/tools/files/tree/delete";
import { list } from "../../../../src/tools/files/tree/list";
import { move } from "../../../../src/tools/files/tree/move";
import type { Workspace } from "../../../../src/tools/files/workspace";
import { append, write } from "../../../../src/tools/files/write/write";
import { lasting, workspaceOver } from "../over-root";
import { withWatched } from "../watch/watched";
import { type Disk, everyWay, rootWays, stagedIn, withFiles, withRoot } from "../ways";

const KB = 1024;
const WORKFLOWS = ".github/workflows";
/** Only files of this name are closed there, so a directory may be moved to it. */
const deny = [`${WORKFLOWS}/*.yml`];

function put(disk: Disk, directory: string, path: string, content: string | Uint8Array = path): void {
  disk.mkdirSync(dirname(join(directory, path)), { recursive: true });
  disk.writeFileSync(join(directory, path), content);
}

const namesIn = (disk: Disk, directory: string): string[] =>
  disk.existsSync(directory) ? (disk.readdirSync(directory) as string[]).sort() : [];

async function upload(files: FileSystemRef, path: string, parents = true): Promise<string> {
  const { upload } = resultOf(await files.ask("beginWrite", { path, parents }))._unsafeUnwrap();
  resultOf(await files.ask("writeChunk", { upload, content: "on: push" }))._unsafeUnwrap();
  return upload;
}

describe.each(everyWay)("a directory that is moved while it is worked in, by %s", (way) => {
  test("an upload whose directory was moved gets its own name, and none in the place where it is denied", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        const begun = await upload(files, "scratch/ci.yml");
        expect(resultOf(await files.ask("move", { from: "scratch", to: WORKFLOWS })).isOk()).toBe(true);
        expect(resultOf(await files.ask("finishWrite", { upload: begun })).isOk()).toBe(true);
        expect(namesIn(disk, join(directory, WORKFLOWS))).toEqual([]);
        expect(disk.readFileSync(join(directory, "scratch/ci.yml"), "utf8")).toBe("on: push");
      },
      { deny },
    ));

  test("an upload that makes no directories is refused where its own is gone, and leaves nothing", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        await files.ask("mkdir", { path: "scratch" });
        const begun = await upload(files, "scratch/ci.yml", false);
        await files.ask("move", { from: "scratch", to: WORKFLOWS });
        const refused = resultOf(await files.ask("finishWrite", { upload: begun }));
        expect(refused._unsafeUnwrapErr()).toMatchObject({ kind: "not-found", path: "scratch/ci.yml" });
        expect([namesIn(disk, join(directory, WORKFLOWS)), stagedIn(disk, directory)]).toEqual([[], []]);
      },
      { deny },
    ));

  test("an upload that was begun in a parent of it, and one whose directory another one replaced, go where they say", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        const deep = await upload(files, "scratch/workflows/ci.yml");
        await files.ask("move", { from: "scratch", to: ".github" });
        await files.ask("mkdir", { path: "scratch/workflows" });
        expect(resultOf(await files.ask("finishWrite", { upload: deep })).isOk()).toBe(true);
        expect(namesIn(disk, join(directory, WORKFLOWS))).toEqual([]);
        expect(namesIn(disk, join(directory, "scratch/workflows"))).toEqual(["ci.yml"]);
      },
      { deny },
    ));

  test("what is asked for at once with a move ends in no place where it is denied", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        const large = Buffer.alloc(700 * KB, "x");
        for (let i = 0; i < 40; i++) put(disk, directory, `scratch/tree/${i}/a`);
        put(
          disk,
          directory,
          "edited/ci.yml",
          Buffer.alloc(300 * KB, "x")
            .toString()
            .concat("one"),
        );
        await Promise.all([
          files.ask("write", { path: "scratch/ci.yml", content: large }),
          files.ask("append", { path: "scratch/b.yml", content: large }),
          files.ask("write", { path: "scratch/c.yml", content: large, inPlace: true }),
          files.ask("copy", { from: "scratch/tree", to: "scratch/d.yml" }),
          files.ask("move", { from: "scratch", to: WORKFLOWS }),
          files.ask("write", { path: "scratch/e.yml", content: large }),
          files.ask("edit", { path: "edited/ci.yml", edits: [{ oldText: "one", newText: "two" }] }),
          files.ask("move", { from: "edited", to: WORKFLOWS }),
          files.ask("mkdir", { path: "scratch/f.yml" }),
        ]);
        expect(namesIn(disk, join(directory, WORKFLOWS)).filter((name) => name.endsWith(".yml"))).toEqual([]);
      },
      { deny },
    ));
});

/** A workspace that pauses wherever it may; `then` is called within the pause of that number. */
function pausing(
  root: Root,
  options: Parameters<typeof workspaceOver>[1],
  number: number,
  then: () => void,
): Workspace {
  let time = 0;
  const workspace = workspaceOver(root, options, () => ++time);
  const pause = workspace.pause.bind(workspace);
  let pauses = 0;
  workspace.pause = async () => {
    if (++pauses === number) then();
    await pause();
  };
  return workspace;
}

/** The kind of the refusal; "done" if there is none. */
async function kindOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return "done";
  } catch (thrown) {
    if (thrown instanceof FileRefusal) return thrown.error.kind;
    throw thrown;
  }
}

const SECRET = "the secret";

describe.each([...rootWays])("what somebody else moves while it is worked on, by %s", (way) => {
  const closing = { deny: ["private/**"] };

  test("a recursive delete ends where the tree is moved to where it is denied, at whichever pause", () =>
    withRoot(way, async (root, directory, disk) => {
      for (let number = 1; number < 60; number += 3) {
        disk.rmSync(join(directory, "private"), { recursive: true, force: true });
        for (const name of ["a/1", "a/2", "b/c/3", "4"]) put(disk, directory, `top/tree/${name}`);
        let isMoved = false;
        let before: string[] = [];
        const all = (): string[] =>
          (disk.readdirSync(join(directory, "private"), { recursive: true } as never) as string[]).sort();
        const workspace = pausing(root, closing, number, () => {
          if (!disk.existsSync(join(directory, "top/tree"))) return;
          disk.renameSync(join(directory, "top"), join(directory, "private"));
          isMoved = true;
          before = all();
        });
        const kind = await kindOf(() => remove(workspace, { path: "top/tree", recursive: true }, lasting));
        if (way !== "memory")
          expect([number, kind]).toEqual([number, isMoved ? expect.stringMatching(/changed|not-found/) : "done"]);
        if (isMoved) expect(all()).toEqual(before);
      }
    }));

  test("a copy gives nothing of a tree that is moved to where it is denied, and then gets other contents", () =>
    withRoot(way, async (root, directory, disk) => {
      const names = ["a/1", "b/2", "c/3"];
      const kinds = new Set<string>();
      for (let number = 1; number < 60; number += 2) {
        for (const place of ["private", "copied", ".staged"])
          disk.rmSync(join(directory, place), { recursive: true, force: true });
        for (const name of names) put(disk, directory, `tree/${name}`);
        disk.mkdirSync(join(directory, ".staged"));
        let isMoved = false;
        const workspace = pausing(root, closing, number, () => {
          if (disk.existsSync(join(directory, "copied"))) return;
          disk.renameSync(join(directory, "tree"), join(directory, "private"));
          for (const name of names) put(disk, directory, `private/${name}`, SECRET);
          isMoved = true;
        });
        let open = -1;
        const staging = {
          createDirectory() {
            open = root.open(".staged", "directory");
            root.makeDirectory(open, "copy", 0o777);
            return { at: open, name: "copy" };
          },
          endDirectory: () => root.close(open),
        };
        Object.assign(workspace, { staging }); // An actor's has a mark and a lock, which nobody asks for here.
        const request = { from: "tree", to: "copied" };
        kinds.add(await kindOf(() => copyTree(workspace, parsePath("tree"), parsePath("copied"), request, lasting)));
        for (const name of names) {
          const copied = join(directory, "copied", name);
          if (disk.existsSync(copied)) expect(disk.readFileSync(copied, "utf8")).toBe(`tree/${name}`);
        }
        if (!isMoved) break;
      }
      expect([...kinds]).toContain(way === "memory" ? "done" : "changed");
    }));

  test("a move is refused of a tree that another one took the place of while it was looked at", () =>
    withRoot(way, async (root, directory, disk) => {
      for (const name of ["a/1", "b/2", "c/3"]) put(disk, directory, `tree/${name}`);
      put(disk, directory, "other/key.pem");
      const workspace = pausing(root, { deny: ["**/*.pem"] }, 3, () => {
        disk.renameSync(join(directory, "tree"), join(directory, "away"));
        disk.renameSync(join(directory, "other"), join(directory, "tree"));
      });
      expect(await kindOf(() => move(workspace, { from: "tree", to: "new" }, lasting))).toBe("changed");
      expect(disk.existsSync(join(directory, "tree/key.pem"))).toBe(true);
    }));

  test("a list tells no name of a directory that is moved to where it is denied", () =>
    withRoot(way, async (root, directory, disk) => {
      for (let i = 0; i < 3; i++) put(disk, directory, `top/tree/${i}/a`);
      for (let number = 1; number < 8; number++) {
        const workspace = pausing(root, closing, number, () => {
          disk.renameSync(join(directory, "top"), join(directory, "private"));
          for (let i = 0; i < 3; i++) put(disk, directory, `private/tree/${i}/${SECRET}`);
        });
        const listed = await Promise.resolve(
          list(workspace, { path: "top/tree", recursive: true, details: true }, lasting),
        ).catch((thrown) => thrown);
        expect(JSON.stringify(listed)).not.toContain(SECRET);
        if (disk.existsSync(join(directory, "private")))
          disk.renameSync(join(directory, "private"), join(directory, "top"));
        for (let i = 0; i < 3; i++) disk.rmSync(join(directory, `top/tree/${i}/${SECRET}`), { force: true });
      }
    }));

  test("a search, a stream and a read give nothing that was written after the file was moved to where it is denied", () =>
    withRoot(way, async (root, directory, disk) => {
      const line = `${"x".repeat(99)}\n`;
      const before = `needle\n${line.repeat(8 * KB)}`;
      const hide = (): void => {
        disk.renameSync(join(directory, "tree"), join(directory, "private"));
        put(disk, directory, "private/a", `needle\n${`${SECRET} needle ${"y".repeat(80)}\n`.repeat(8 * KB)}`);
        put(disk, directory, "private/b", `${SECRET} needle`);
      };
      const begin = (): void => {
        disk.rmSync(join(directory, "private"), { recursive: true, force: true });
        put(disk, directory, "tree/a", before);
        put(disk, directory, "tree/b", "needle");
      };

      begin();
      const found: unknown[] = [];
      for await (const item of search(workspaceOver(root, closing), { path: "tree", text: "needle" }, lasting)) {
        found.push(item);
        if (found.length === 1) hide();
      }
      expect(found.length).toBeGreaterThan(1);
      expect(JSON.stringify(found)).not.toContain(SECRET);

      begin();
      const read1: string[] = [];
      const streaming = async (): Promise<void> => {
        const stream = readStream(workspaceOver(root, closing), { path: "tree/a", encoding: "utf8", chunkBytes: KB });
        for await (const item of stream) {
          read1.push(item as string);
          if (read1.length === 1) hide();
        }
      };
      expect([await kindOf(streaming), read1.join("").includes(SECRET)]).toEqual(["changed", false]);

      begin();
      const workspace = pausing(root, closing, 1, hide);
      expect(await kindOf(() => read(workspace, { path: "tree/a" }, lasting))).toBe("changed");
    }));

  test("a file that is replaced while it is read is read on as it was", () =>
    withRoot(way, async (root, directory, disk) => {
      if (way === "memory") return; // memfs keeps no content of a file that was replaced.
      put(disk, directory, "a", "x".repeat(400 * KB));
      const workspace = pausing(root, closing, 1, () => {
        put(disk, directory, "b", "y");
        disk.renameSync(join(directory, "b"), join(directory, "a"));
      });
      expect((await read(workspace, { path: "a" }, lasting)).content).toBe("x".repeat(400 * KB));
    }));

  test("an append and a write in place end where the file is moved to where it is denied", () =>
    withRoot(way, async (root, directory, disk) => {
      const content = Buffer.alloc(900 * KB, "y");
      for (const work of [append, write]) {
        disk.rmSync(join(directory, "private"), { recursive: true, force: true });
        put(disk, directory, "tree/a", "x".repeat(KB));
        const workspace = pausing(root, closing, 1, () =>
          disk.renameSync(join(directory, "tree"), join(directory, "private")),
        );
        workspace.exclusively = (_given, _more, _task, doWork) => doWork();
        const kind = await kindOf(() => work(workspace, { path: "tree/a", content, inPlace: true }, lasting));
        const { size } = disk.lstatSync(join(directory, "private/a"));
        expect([kind, size < 400 * KB]).toEqual(["changed", true]);
      }
    }));
});

test.each(everyWay)("a watch tells nothing of its directory once that was moved to where it is denied, by %s", (way) =>
  withWatched(
    way,
    async ({ directory, disk, watch }) => {
      disk.mkdirSync(join(directory, "top/tree/inner"), { recursive: true });
      const watching = await watch({ path: "top/tree" });
      await watching.look();
      disk.renameSync(join(directory, "top"), join(directory, "private"));
      disk.writeFileSync(join(directory, "private/tree", SECRET), "");
      disk.writeFileSync(join(directory, "private/tree/inner", SECRET), "");
      const told = [...(await watching.look()), ...(await watching.look())].join("\n");
      expect(told).not.toContain(SECRET);
      expect([told.includes("not-found"), watching.hasEnded]).toEqual([true, true]);
    },
    { deny: ["private/**"] },
  ),
);
