import { describe, expect, test } from "bun:test";
import { chmodSync, statSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type FileSystemRef, resultOf } from "../../../../src/tools";
import { etagOf, PIECE } from "../../../../src/tools/files/etag";
import type { AppendRequest, WriteRequest } from "../../../../src/tools/files/requests/changing";
import type { Root } from "../../../../src/tools/files/root/root";
import { append as appendTo, write as writeFile } from "../../../../src/tools/files/write/write";
import { runs } from "../../../property/runs";
import { intercept, lasting, workspaceOver } from "../over-root";
import { everyWay, rootWays, stagedIn, ways, withFiles, withRoot } from "../ways";

async function write(files: FileSystemRef, request: WriteRequest) {
  return resultOf(await files.ask("write", request))._unsafeUnwrap();
}

async function refusalOf(files: FileSystemRef, request: WriteRequest) {
  const reply = (await files.ask("write", request))._unsafeUnwrap();
  if (reply.ok) throw new Error(`It was written: ${request.path}`);
  return reply.error;
}

async function append(files: FileSystemRef, request: AppendRequest) {
  return resultOf(await files.ask("append", request))._unsafeUnwrap();
}

const large = "läng ".repeat(PIECE); // 6 pieces

describe.each(everyWay)("write, by %s", (way) => {
  for (const inPlace of [false, true]) {
    const how = inPlace ? "in place" : "whole";

    test(`${how}: makes a file, and replaces it by a shorter and a longer one`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        for (const [content, created] of [
          ["first", true],
          ["2", false],
          [large, false],
          ["", false],
          [`${large}!`, false],
        ] as const) {
          const bytes = Buffer.from(content);
          const reply = await write(files, { path: "a", content, inPlace });
          expect(reply).toEqual({ size: bytes.length, etag: etagOf(bytes), created });
          expect(disk.readFileSync(join(directory, "a")).equals(bytes)).toBe(true);
        }
        expect(stagedIn(disk, directory)).toEqual([]);
      }));

    test(`${how}: takes base64 and bytes`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        const bytes = new Uint8Array([0, 255, 10, 13]);
        await write(files, { path: "a", content: Buffer.from(bytes).toString("base64"), encoding: "base64", inPlace });
        await write(files, { path: "b", content: bytes, inPlace });
        expect(new Uint8Array(disk.readFileSync(join(directory, "a")))).toEqual(bytes);
        expect(new Uint8Array(disk.readFileSync(join(directory, "b")))).toEqual(bytes);
      }));

    test(`${how}: refuses what is no text, no base64 and no content, and leaves what was there`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "a"), "old");
        for (const request of [
          { content: "half a pair: \uD83D" },
          { content: `${large}\uDE00` },
          { content: "!!!", encoding: "base64" },
        ] as const) {
          expect((await refusalOf(files, { path: "a", inPlace, ...request })).kind).toBe("not-text");
        }
        const url = await refusalOf(files, { path: "a", content: "-_-_", encoding: "base64", inPlace });
        expect(url.message).toContain("with + and /");
        for (const content of [7, undefined, null, ["text"], { 0: 1 }]) {
          // A caller within the process can ignore the types.
          const asked = { path: "a", inPlace, content } as unknown as WriteRequest;
          const { kind, message } = (await files.ask("write", asked))._unsafeUnwrapErr();
          expect(kind).toBe("invalid-payload");
          expect(message).toContain("/content must be a string or a Uint8Array");
        }
        expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("old");
        expect(stagedIn(disk, directory)).toEqual([]);
      }));

    test(`${how}: makes the directories on the way, unless it is not to`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        await write(files, { path: "x/y/z/a", content: "tea", inPlace });
        expect(disk.readFileSync(join(directory, "x/y/z/a"), "utf8")).toBe("tea");
        expect((await refusalOf(files, { path: "u/a", content: "", inPlace, parents: false })).kind).toBe("not-found");
        expect(disk.existsSync(join(directory, "u"))).toBe(false);
        expect((await refusalOf(files, { path: "x/y/z/a/b", content: "", inPlace })).kind).toBe("not-a-directory");
      }));

    test(`${how}: fails on a file that exists where it is to`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        expect((await write(files, { path: "a", content: "1", ifExists: "fail", inPlace })).created).toBe(true);
        const refusal = await refusalOf(files, { path: "a", content: "2", ifExists: "fail", inPlace });
        expect(refusal).toMatchObject({ kind: "exists", path: "a" });
        expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("1");
        expect(stagedIn(disk, directory)).toEqual([]);
      }));

    test(`${how}: replaces only the file of an etag, small or large, and tells the etag of the one that is there`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        for (const [before, after] of [
          ["one", "two"],
          [large, `${large.slice(0, -1)}?`], // of the same size
          [large, "short"],
          ["short", large],
        ] as const) {
          const { etag } = await write(files, { path: "a", content: before });
          disk.writeFileSync(join(directory, "a"), after);
          const refusal = await refusalOf(files, { path: "a", content: "lost?", ifMatch: etag, inPlace });
          expect(refusal.kind).toBe("changed");
          expect(disk.readFileSync(join(directory, "a"), "utf8") === after).toBe(true);
          const now = etagOf(Buffer.from(after));
          if (refusal.etag !== undefined) expect(refusal.etag).toBe(now);
          expect((await write(files, { path: "a", content: "mine", ifMatch: now, inPlace })).created).toBe(false);
        }
        disk.rmSync(join(directory, "a"));
        const etag = etagOf(Buffer.from("mine"));
        expect((await refusalOf(files, { path: "a", content: "", ifMatch: etag, inPlace })).kind).toBe("changed");
        expect((await refusalOf(files, { path: "a", content: "", ifMatch: "no etag", inPlace })).kind).toBe("changed");
        expect(stagedIn(disk, directory)).toEqual([]);
      }));

    test(`${how}: writes no more than maxWriteBytes`, () =>
      withFiles(
        way,
        async ({ files, directory, disk }) => {
          await write(files, { path: "a", content: "äääää", inPlace });
          expect((await refusalOf(files, { path: "a", content: "äääääx", inPlace })).kind).toBe("too-large");
          expect(await refusalOf(files, { path: "a", content: large, inPlace })).toMatchObject({
            kind: "too-large",
            message: expect.stringContaining("maxWriteBytes"),
          });
          expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("äääää");
        },
        { maxWriteBytes: 10 },
      ));

    test(`${how}: a directory is no file, and stays`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        disk.mkdirSync(join(directory, "d"));
        for (const path of ["d", "d/", "", "."]) {
          expect((await refusalOf(files, { path, content: "", inPlace })).kind).toBe("is-directory");
        }
        expect(disk.readdirSync(join(directory, "d"))).toEqual([]);
      }));

    test(`${how}: what is durable is there too, with new directories`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        for (const content of ["tea", large]) {
          await write(files, { path: "x/y/a", content, durable: true, inPlace });
          expect(disk.readFileSync(join(directory, "x/y/a"), "utf8") === content).toBe(true);
        }
      }));

    test(`${how}: writes to one path end in their order, however long each takes, and a read waits for them`, () =>
      withFiles(way, async ({ files, directory, disk }) => {
        files.tell("write", { path: "a", content: large, inPlace });
        files.tell("write", { path: "b", content: "overtakes", inPlace });
        files.tell("write", { path: "a", content: "last", inPlace });
        const read = resultOf(await files.ask("read", { path: "a" }))._unsafeUnwrap();
        expect(read.content).toBe("last");
        expect(disk.readFileSync(join(directory, "b"), "utf8")).toBe("overtakes");
      }));
  }

  test("a look at the directory waits for a write in it; a write to a path that begins with the same letters does not", () =>
    withFiles(way, async ({ files }) => {
      const ended: string[] = [];
      const note = (what: string) => () => ended.push(what);
      const all = [
        files.ask("write", { path: "a", content: large }).then(note("a")),
        files.ask("list", {}).then((reply) => {
          note("list")();
          expect(
            resultOf(reply)
              ._unsafeUnwrap()
              .entries.map(({ path }) => path),
          ).toContain("a");
        }),
        files.ask("write", { path: "ab", content: "overtakes" }).then(note("ab")),
      ];
      await Promise.all(all);
      expect(ended[0]).toBe("ab");
    }));

  test("a write whose asker gives up leaves the old file, and nothing staged", () =>
    withFiles(way, async ({ files, directory, disk, system }) => {
      disk.writeFileSync(join(directory, "a"), "old");
      const controller = new AbortController();
      const writing = files.ask("write", { path: "a", content: large }, { signal: controller.signal });
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect((await writing)._unsafeUnwrapErr().kind).toBe("cancelled");
      await system.stop(files, { drain: true });
      expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("old");
      expect(stagedIn(disk, directory)).toEqual([]);
    }));

  test("a write that is given up while it waits for another one of its path is not made", () =>
    withFiles(way, async ({ files, directory, disk, system }) => {
      const first = files.ask("write", { path: "a", content: large });
      const controller = new AbortController();
      const second = files.ask("write", { path: "a", content: "second" }, { signal: controller.signal });
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect((await second)._unsafeUnwrapErr().kind).toBe("cancelled");
      await first;
      await system.stop(files, { drain: true });
      expect(disk.readFileSync(join(directory, "a"), "utf8") === large).toBe(true);
    }));

  test("append adds to the end, makes the file where it is missing, and tells the new size", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      expect(await append(files, { path: "log/a", content: "one\n" })).toEqual({ size: 4 });
      expect(await append(files, { path: "log/a", content: "zwö\n" })).toEqual({ size: 9 });
      expect(await append(files, { path: "log/a", content: large, durable: true })).toEqual({
        size: 9 + Buffer.byteLength(large),
      });
      expect(disk.readFileSync(join(directory, "log/a"), "utf8") === `one\nzwö\n${large}`).toBe(true);
    }));

  test("appends end in their order, and none is cut by another one", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const contents = Array.from({ length: 20 }, (_, i) => `${i}:${"x".repeat(i % 3 === 0 ? PIECE + i : i)}\n`);
      await Promise.all(contents.map((content) => append(files, { path: "a", content })));
      expect(disk.readFileSync(join(directory, "a"), "utf8") === contents.join("")).toBe(true);
    }));

  test("a sequence of writes and appends leaves what a model says", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const content = fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.nat(3 * PIECE).map((n) => "ö".repeat(n / 2)),
      );
      const step = fc.record({ isAppend: fc.boolean(), inPlace: fc.boolean(), content });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          const path = `round-${round++}`;
          let expected = "";
          const asked = steps.map(({ isAppend, inPlace, content }) => {
            expected = isAppend ? expected + content : content;
            return isAppend ? files.ask("append", { path, content }) : files.ask("write", { path, content, inPlace });
          });
          for (const answer of asked) resultOf<unknown, unknown>(await answer)._unsafeUnwrap();
          expect(disk.readFileSync(join(directory, path), "utf8") === expected).toBe(true);
        }),
        runs(40),
      );
    }));

  test("a read-only actor changes nothing, and makes nothing", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "a"), "old");
        for (const path of ["a", "b"]) {
          expect((await refusalOf(files, { path, content: "new" })).kind).toBe("read-only");
          expect(resultOf(await files.ask("append", { path, content: "new" }))._unsafeUnwrapErr().kind).toBe(
            "read-only",
          );
        }
        expect(disk.readdirSync(directory)).toEqual(["a"]);
        expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("old");
      },
      { readOnly: true },
    ));
});

describe.each(ways)("write, by %s, on the machine", (way) => {
  test("a file that is replaced keeps its permissions, and a new one gets those of the process", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "plain"), "");
      await write(files, { path: "new", content: "" });
      disk.writeFileSync(join(directory, "script"), "");
      chmodSync(join(directory, "script"), 0o751);
      await write(files, { path: "script", content: "#!/bin/sh" });
      const modeOf = (name: string) => statSync(join(directory, name)).mode & 0o7777;
      expect(modeOf("script")).toBe(0o751);
      expect(modeOf("new")).toBe(modeOf("plain"));
    }));

  test("whole: who has the old file open goes on reading it, and never sees a part of the new one", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "old");
      const before = statSync(join(directory, "a")).ino;
      await write(files, { path: "a", content: "new", inPlace: true });
      expect(statSync(join(directory, "a")).ino).toBe(before);
      await write(files, { path: "a", content: "newer" });
      expect(statSync(join(directory, "a")).ino).not.toBe(before);
    }));

  test("files are staged where only their owner looks, and git does not", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      await write(files, { path: "a", content: "" });
      expect(statSync(join(directory, ".envoi")).mode & 0o7777).toBe(0o700);
      expect(disk.readFileSync(join(directory, ".envoi/.gitignore"), "utf8")).toBe("*\n");
      for (const path of [".envoi", ".envoi/", ".envoi/a", "./.envoi/lock"]) {
        expect(resultOf(await files.ask("read", { path }))._unsafeUnwrapErr().kind).toBe("denied");
        expect((await refusalOf(files, { path, content: "" })).kind).toBe("denied");
      }
      await write(files, { path: ".envoi-too", content: "" });
    }));

  test("the staging directory is made again when somebody has removed it", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      await write(files, { path: "a", content: "1" });
      disk.rmSync(join(directory, ".envoi"), { recursive: true });
      await write(files, { path: "a", content: "2" });
      await write(files, { path: "b/c", content: "3" });
      expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("2");
    }));
});

test.each([...ways])("in place: a file that is replaced while its etag is looked at is not written, by %s", (way) =>
  withRoot(way, async (root, directory, disk) => {
    disk.writeFileSync(join(directory, "a"), "old");
    const open: Root["open"] = (path, opening) => {
      if (opening === "read") {
        disk.writeFileSync(join(directory, "b"), "seen");
        disk.renameSync(join(directory, "b"), join(directory, "a"));
      }
      return root.open(path, opening);
    };
    const request = { path: "a", content: "new", inPlace: true, ifMatch: etagOf(Buffer.from("seen")) };
    const done = Promise.resolve(writeFile(workspaceOver(intercept(root, { open })), request, lasting));
    expect(await done.catch(({ error }) => error.kind)).toBe("changed");
    expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("seen");
  }),
);

describe.each([...rootWays])("a disk that is full, by %s", (way) => {
  test.each([
    ["append", appendTo],
    ["write in place", writeFile],
  ] as const)("%s leaves no empty file, and what was there as it was", (_name, work) =>
    withRoot(way, async (root, directory, disk) => {
      disk.writeFileSync(join(directory, "old"), "old");
      const full = intercept(root, { write: () => -constants.errno.ENOSPC });
      for (const size of [10, 700_000]) {
        for (const path of ["new", "old"]) {
          const workspace = workspaceOver(full);
          workspace.exclusively = (_given, _more, _task, write) => write(); // Nobody else is there.
          const request = { path, content: Buffer.alloc(size), inPlace: true };
          const done = Promise.resolve().then(() => work(workspace, request, lasting));
          expect(await done.catch((thrown) => thrown.error.kind)).toBe("io");
        }
      }
      expect(disk.readdirSync(directory)).toEqual(["old"]);
      expect(disk.readFileSync(join(directory, "old"), "utf8")).toBe("old");
    }),
  );
});
