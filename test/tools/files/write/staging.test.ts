import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { FileRefusal } from "../../../../src/tools/files/file-error";
import { Staging } from "../../../../src/tools/files/write/staging";
import { program } from "../programs/run";
import { everyWay, rootWays, withFiles, withRoot } from "../ways";

const onDisk = rootWays.filter((way) => way !== "memory");

/** The files in the staging directory, without what is always there. */
const stagedIn = (directory: string): string[] =>
  readdirSync(join(directory, ".envoi")).filter((name) => /\.\d+$/.test(name));
const marksIn = (directory: string): string[] =>
  readdirSync(join(directory, ".envoi")).filter((name) => name.endsWith(".owner"));

function refusalOf(work: () => unknown): FileRefusal["error"] {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof FileRefusal) return thrown.error;
    throw thrown;
  }
  throw new Error("It was not refused.");
}

describe.each([...onDisk])("files on their way by %s", (way) => {
  test("what a killed process leaves is swept at the next start, and its mark with it", () =>
    withRoot(way, async (root, directory) => {
      const writer = await program("begin-write", [directory, way], "begun");
      const next = new Staging(root);
      next.sweep();
      expect(stagedIn(directory)).toHaveLength(1); // It lives.
      expect(marksIn(directory)).toHaveLength(1);
      await writer.kill();
      next.sweep();
      expect(stagedIn(directory)).toEqual([]);
      expect(marksIn(directory)).toEqual([]);
    }));

  test("another way sweeps it too", () =>
    withRoot(way, async (root, directory) => {
      const writers = await Promise.all(onDisk.map((other) => program("begin-write", [directory, other], "begun")));
      await Promise.all(writers.map((writer) => writer.kill()));
      expect(stagedIn(directory)).toHaveLength(onDisk.length);
      new Staging(root).sweep();
      expect(stagedIn(directory)).toEqual([]);
    }));

  test("files of another actor of this process stay", () =>
    withRoot(way, (root, directory) => {
      const [first, second] = [new Staging(root), new Staging(root)];
      const staged = first.create("a");
      second.sweep();
      expect(stagedIn(directory)).toHaveLength(1);
      expect(first.place(staged, root.top, "a", false)).toBe(0);
      first.end(staged, true);
      first.dispose();
      expect(marksIn(directory)).toEqual([]);
      second.dispose();
    }));

  test("files without a mark are swept, and files that are no actor's stay", () =>
    withRoot(way, (root, directory) => {
      mkdirSync(join(directory, ".envoi"));
      const orphan = `${crypto.randomUUID()}.0`;
      for (const name of [orphan, "notes.txt", "a.owner", "1.2.3.4"])
        writeFileSync(join(directory, ".envoi", name), "");
      new Staging(root).sweep();
      expect(readdirSync(join(directory, ".envoi")).sort()).toEqual(["1.2.3.4", "a.owner", "notes.txt"]);
    }));

  test("sweeping makes nothing, and follows no link", () =>
    withRoot(way, (root, directory) => {
      new Staging(root).sweep();
      expect(readdirSync(directory)).toEqual([]);
      const names = [`${crypto.randomUUID()}.0`, "keep"];
      mkdirSync(join(directory, "elsewhere"));
      for (const name of names) writeFileSync(join(directory, "elsewhere", name), "");
      symlinkSync("elsewhere", join(directory, ".envoi"));
      new Staging(root).sweep();
      expect(readdirSync(join(directory, "elsewhere")).sort()).toEqual(names.sort());
      rmSync(join(directory, ".envoi"));
      // A mark that is a link: what it leads to stays, whatever is locked.
      mkdirSync(join(directory, ".envoi"));
      const id = crypto.randomUUID();
      writeFileSync(join(directory, ".envoi", `${id}.7`), "");
      symlinkSync(join(directory, "elsewhere", "keep"), join(directory, ".envoi", `${id}.owner`));
      new Staging(root).sweep();
      expect(stagedIn(directory)).toEqual([`${id}.7`]);
      expect(existsSync(join(directory, "elsewhere", "keep"))).toBe(true);
    }));

  test("a staging directory that is a link or a file refuses the first write, and says so", () =>
    withRoot(way, (root, directory) => {
      const path = join(directory, ".envoi");
      mkdirSync(join(directory, "elsewhere"));
      const makers = [
        [() => symlinkSync("elsewhere", path), "symbolic link"],
        [() => symlinkSync("nowhere", path), "symbolic link"],
        [() => writeFileSync(path, ""), "no directory"],
      ] as const;
      for (const [make, words] of makers) {
        make();
        for (const ask of [(staging: Staging) => staging.create("a"), (staging: Staging) => staging.lock("a")]) {
          const staging = new Staging(root);
          const error = refusalOf(() => ask(staging));
          expect(error).toMatchObject({ kind: "denied", path: "a" });
          expect(error.message).toContain(".envoi");
          expect(error.message).toContain(words);
          expect(error.message).not.toContain(directory);
          staging.dispose();
        }
        rmSync(path);
      }
      expect(readdirSync(join(directory, "elsewhere"))).toEqual([]);
    }));

  test("the staging directory is made anew where it was deleted, and the lock is one for all again", () =>
    withRoot(way, (root, directory) => {
      const [first, second] = [new Staging(root), new Staging(root)];
      expect(first.lock("a")).toBe(true);
      first.unlock();
      first.end(first.create("a"), false);
      rmSync(join(directory, ".envoi"), { recursive: true });
      expect(second.lock("a")).toBe(true);
      expect(first.lock("a")).toBe(false);
      second.unlock();
      expect(first.lock("a")).toBe(true);
      first.unlock();
      rmSync(join(directory, ".envoi"), { recursive: true });
      const staged = first.create("a");
      expect(stagedIn(directory)).toHaveLength(1);
      expect(marksIn(directory)).toHaveLength(1);
      first.end(staged, false);
      expect(stagedIn(directory)).toEqual([]);
      first.dispose();
      second.dispose();
    }));

  test("a staged directory whose name somebody has taken gets another one", () =>
    withRoot(way, (root, directory) => {
      const staging = new Staging(root);
      staging.end(staging.create("a"), false);
      const id = marksIn(directory)[0]?.split(".")[0];
      mkdirSync(join(directory, ".envoi", `${id}.1`));
      expect(staging.createDirectory(0o700, "a").name).toBe(`${id}.2`);
      staging.endDirectory();
      staging.dispose();
    }));

  test("a new staging directory is only its owner's, and git does not see it", () =>
    withRoot(way, (root, directory) => {
      const staging = new Staging(root);
      staging.end(staging.create("a"), false);
      const { mode } = statSync(join(directory, ".envoi"));
      expect(mode & 0o777).toBe(0o700);
      expect(readFileSync(join(directory, ".envoi", ".gitignore"), "utf8")).toBe("*\n");
      staging.dispose();
    }));
});

test.each([...everyWay])("a file actor leaves no file on its way behind, by %s", (way) =>
  withFiles(way, async ({ files, directory, disk }) => {
    await files.ask("write", { path: "a/b", content: "x" });
    await files.ask("write", { path: "a/b", content: "x", ifExists: "fail" });
    await files.ask("write", { path: "c", content: "x", ifMatch: "nothing" });
    await files.ask("append", { path: "d", content: "x" });
    const names = disk.existsSync(join(directory, ".envoi")) ? disk.readdirSync(join(directory, ".envoi")) : [];
    expect(names.map(String).filter((name) => /\.\d+$/.test(name))).toEqual([]);
    if (way === "memory") expect(disk.readdirSync(directory).map(String).sort()).toEqual(["a", "d"]);
  }),
);
