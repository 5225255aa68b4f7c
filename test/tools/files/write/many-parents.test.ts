import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Volume } from "memfs";
import { createSystem } from "../../../../src";
import { type FileSystemRef, resultOf, spawnFileSystem } from "../../../../src/tools";
import { FileRefusal } from "../../../../src/tools/files/file-error";
import { parsePath } from "../../../../src/tools/files/path";
import { makeManyParents } from "../../../../src/tools/files/write/many-parents";
import { intercept, lasting, workspaceOver } from "../over-root";
import { everyWay, rootWays, withFiles, withRoot } from "../ways";

const below = (name: string, depth: number): string => [name, ...Array.from({ length: depth }, () => "d")].join("/");

/** Each operation that makes directories; `old` is a file. */
const operations: Record<string, (files: FileSystemRef, path: string) => Promise<unknown>> = {
  write: (files, path) => files.ask("write", { path, content: "new" }),
  "write in place": (files, path) => files.ask("write", { path, content: "new", inPlace: true }),
  append: (files, path) => files.ask("append", { path, content: "new" }),
  mkdir: (files, path) => files.ask("mkdir", { path }),
  move: (files, path) => files.ask("move", { from: "old", to: path }),
  copy: (files, path) => files.ask("copy", { from: "old", to: path }),
  beginWrite: (files, path) => files.ask("beginWrite", { path }),
  "change, a write": (files, path) => files.ask("change", { changes: [{ kind: "write", path, content: "new" }] }),
  "change, a move": (files, path) => files.ask("change", { changes: [{ kind: "move", from: "old", to: path }] }),
};

test.each(Object.keys(operations))(
  "P5: %s makes 300 missing directories with pauses, not in one turn",
  async (name) => {
    const work = operations[name] as (typeof operations)[string]; // It is one of its keys.
    const volume = Volume.fromJSON({ "/old": "old" });
    let made = 0;
    let most = 0;
    const { mkdirSync } = volume;
    volume.mkdirSync = ((...args: Parameters<typeof mkdirSync>) => {
      most = Math.max(most, ++made);
      return mkdirSync.apply(volume, args);
    }) as typeof mkdirSync; // It takes and gives the same.
    await using system = createSystem();
    const files = spawnFileSystem(system, { root: "/", volume });
    let turn = setImmediate(function next() {
      made = 0;
      turn = setImmediate(next);
    });
    const done = resultOf((await work(files, below("a", 300))) as Parameters<typeof resultOf>[0]);
    clearImmediate(turn);
    expect(done.isOk()).toBeTrue();
    expect(volume.existsSync(`/${below("a", 299)}`)).toBeTrue();
    // Some 20 are made between two pauses.
    expect(most).toBeLessThan(150);
  },
);

describe.each(everyWay)("by %s", (way) => {
  const nothing = async (parts: { files: FileSystemRef; names: () => string[] }, path: string): Promise<string> => {
    for (const [name, work] of Object.entries(operations)) {
      const refused = resultOf((await work(parts.files, path)) as Parameters<typeof resultOf>[0]);
      expect([name, refused.isErr()]).toEqual([name, true]);
    }
    return parts.names().join();
  };

  test("what is refused by its path makes none of many directories", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "old"), "old");
        const names = (): string[] => (disk.readdirSync(directory) as string[]).filter((name) => name[0] !== ".");
        expect(await nothing({ files, names }, below("closed", 100))).toBe("old");
        expect(await nothing({ files, names }, below("old", 100))).toBe("old");
        expect(await nothing({ files, names }, `${below("a", 100)}/../b`)).toBe("old");
        const dry = { dryRun: true, changes: [{ kind: "move" as const, from: "old", to: below("a", 100) }] };
        expect(resultOf(await files.ask("change", dry)).isOk()).toBeTrue();
        const write = { path: below("a", 100), content: "", parents: false };
        expect(resultOf(await files.ask("write", write)).isErr()).toBeTrue();
        expect(names()).toEqual(["old"]);
      },
      { deny: ["closed"] },
    ));
});

describe.each(rootWays)("by way of %s", (way) => {
  test("many directories are not made where one of them was moved to meanwhile", () =>
    withRoot(way, async (root, directory, disk) => {
      let time = 0;
      const workspace = workspaceOver(root, {}, () => time++); // Each look at the clock ends a piece of work.
      const pause = workspace.pause.bind(workspace);
      let pauses = 0;
      workspace.pause = async () => {
        await pause();
        if (++pauses === 70) expect(root.rename(root.top, "a", root.top, "moved", false)).toBe(0);
      };
      const made = makeManyParents(workspace, parsePath(below("a", 100)), lasting);
      const refused: unknown = await Promise.resolve(made).catch((thrown: unknown) => thrown);
      expect(refused instanceof FileRefusal && refused.error.kind).toBe("changed");
      expect(disk.readdirSync(directory) as string[]).toEqual(["moved"]);
      const deepest = join(directory, below("moved", pauses));
      expect(disk.existsSync(deepest)).toBeFalse();
    }));

  test("none of many directories is left open, however it ends", () =>
    withRoot(way, async (root) => {
      const open = new Set<number>();
      let others = 40;
      const counting = intercept(root, {
        openAt(at, name, opening) {
          const opened = root.openAt(at, name, opening);
          if (opened >= 0) open.add(opened);
          return opened;
        },
        close(descriptor) {
          open.delete(descriptor);
          root.close(descriptor);
        },
      });
      let time = 0;
      const workspace = workspaceOver(counting, {}, () => time++);
      const controller = new AbortController();
      const pause = workspace.pause.bind(workspace);
      workspace.pause = async () => {
        await pause();
        if (others-- === 0) controller.abort();
      };
      const given = Promise.resolve(makeManyParents(workspace, parsePath(below("a", 100)), controller));
      expect(await given.catch((thrown: unknown) => thrown)).toBe(controller.signal.reason);
      expect(open.size).toBe(0);
      await makeManyParents(workspace, parsePath(below("a", 100)), lasting);
      expect(open.size).toBe(0);
    }));
});
