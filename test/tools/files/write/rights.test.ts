import { describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { ways, withFiles } from "../ways";

const isRoot = process.getuid?.() === 0;
/** A group that this process is not in. */
const GROUP = 54_321;

/** Each way to give a file a new content. */
const rewrites: readonly [name: string, rewrite: (files: FileSystemRef, path: string) => Promise<unknown>][] = [
  ["write", async (files, path) => done(await files.ask("write", { path, content: "new" }))],
  ["edit", async (files, path) => done(await files.ask("edit", { path, edits: [{ oldText: "o", newText: "new" }] }))],
  [
    "copy",
    async (files, path) => {
      done(await files.ask("write", { path: "source", content: "new" }));
      done(await files.ask("copy", { from: "source", to: path, ifExists: "replace" }));
    },
  ],
  [
    "upload",
    async (files, path) => {
      const { upload } = done(await files.ask("beginWrite", { path })) as { upload: string };
      done(await files.ask("writeChunk", { upload, content: "new" }));
      done(await files.ask("finishWrite", { upload }));
    },
  ],
  ["append", async (files, path) => done(await files.ask("append", { path, content: "new" }))],
  ["write in place", async (files, path) => done(await files.ask("write", { path, content: "new", inPlace: true }))],
];

const done = (reply: Parameters<typeof resultOf>[0]): unknown => resultOf(reply)._unsafeUnwrap();
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe.each(ways)("rights, by %s", (way) => {
  test.each(rewrites)("%s keeps the mode of the file that is there, whatever the umask was and is", (_name, rewrite) =>
    withFiles(way, async ({ files, directory }) => {
      const before = process.umask();
      try {
        for (const [first, then, mode] of [
          [0o077, 0o022, 0o600],
          [0o022, 0o077, 0o644],
          [0o022, 0o022, 0o666],
        ] as const) {
          process.umask(first);
          await rewrite(files, await put(directory, "seen"));
          process.umask(then);
          const path = await put(directory, "kept");
          chmodSync(join(directory, path), mode);
          await rewrite(files, path);
          expect(modeOf(join(directory, path))).toBe(mode.toString(8));
        }
      } finally {
        process.umask(before);
      }
    }),
  );

  test("a new file has the mode of the moment", () =>
    withFiles(way, async ({ files, directory }) => {
      const before = process.umask();
      try {
        for (const umask of [0o077, 0o022, 0o027]) {
          process.umask(umask);
          done(await files.ask("write", { path: `${umask}`, content: "" }));
          expect(modeOf(join(directory, `${umask}`))).toBe((0o666 & ~umask).toString(8));
        }
      } finally {
        process.umask(before);
      }
    }));

  test.skipIf(!isRoot)("what is made in a setgid directory has its group, as all that is made there", () =>
    withFiles(way, async ({ files, directory }) => {
      mkdirSync(join(directory, "shared"));
      chownSync(join(directory, "shared"), 0, GROUP);
      chmodSync(join(directory, "shared"), 0o2775);
      done(await files.ask("mkdir", { path: "tree/inner" }));
      done(await files.ask("write", { path: "tree/inner/a", content: "a" }));
      done(await files.ask("write", { path: "shared/new/a", content: "a" }));
      done(await files.ask("append", { path: "shared/b", content: "b" }));
      done(await files.ask("copy", { from: "tree/inner/a", to: "shared/c" }));
      done(await files.ask("copy", { from: "tree", to: "shared/d/tree" }));
      const { upload } = done(await files.ask("beginWrite", { path: "shared/e" })) as { upload: string };
      done(await files.ask("finishWrite", { upload }));
      for (const name of ["new", "new/a", "b", "c", "d", "d/tree", "d/tree/inner", "d/tree/inner/a", "e"]) {
        const { gid, mode } = statSync(join(directory, "shared", name));
        const isDirectory = /^(new|d|d\/tree|d\/tree\/inner)$/.test(name);
        expect([name, gid, (mode & 0o2000) !== 0]).toEqual([name, GROUP, isDirectory]);
      }
    }),
  );

  test.skipIf(!isRoot).each(rewrites)(
    "%s keeps the group, and takes away the right to run as the owner",
    (_name, rewrite) =>
      withFiles(way, async ({ files, directory }) => {
        const path = join(directory, await put(directory, "a"));
        chownSync(path, 0, GROUP);
        chmodSync(path, 0o6755);
        await rewrite(files, "a");
        expect([modeOf(path), statSync(path).gid]).toEqual(["755", GROUP]);
      }),
  );
});

async function put(directory: string, name: string): Promise<string> {
  writeFileSync(join(directory, name), "old");
  return name;
}
