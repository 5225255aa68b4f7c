import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createTestSystem } from "../../../../src/testing";
import { type FileSystemRef, resultOf, spawnFileSystem, writeStream } from "../../../../src/tools";
import { etagOf } from "../../../../src/tools/files/etag";
import type { BeginWriteRequest } from "../../../../src/tools/files/requests/changing";
import { runs } from "../../../property/runs";
import { tmpdir } from "../tmpdir";
import { type Disk, everyWay, stagedIn, ways, withFiles } from "../ways";

const MB = 1024 * 1024;

async function begin(files: FileSystemRef, request: Partial<BeginWriteRequest> = {}): Promise<string> {
  return resultOf(await files.ask("beginWrite", { path: "a", ...request }))._unsafeUnwrap().upload;
}

const chunk = async (files: FileSystemRef, upload: string, content: string | Uint8Array) =>
  resultOf(await files.ask("writeChunk", { upload, content }));
const finish = async (files: FileSystemRef, upload: string) => resultOf(await files.ask("finishWrite", { upload }));
const abort = async (files: FileSystemRef, upload: string) => resultOf(await files.ask("abortWrite", { upload }));

/** The number of the actor's uploads. */
const countOf = async (files: FileSystemRef) => resultOf(await files.ask("inspect"))._unsafeUnwrap().uploads;

const kindOf = (result: { isErr(): boolean; _unsafeUnwrapErr(): { kind: string } }): string =>
  result.isErr() ? result._unsafeUnwrapErr().kind : "ok";

describe.each(everyWay)("uploads, by %s", (way) => {
  test("a file appears with all its pieces once it is finished, and not before", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const upload = await begin(files, { path: "new/a" });
      expect((await chunk(files, upload, "one "))._unsafeUnwrap()).toEqual({ size: 4 });
      expect((await chunk(files, upload, Buffer.from("two")))._unsafeUnwrap()).toEqual({ size: 7 });
      expect(disk.existsSync(join(directory, "new/a"))).toBe(false);
      expect(await countOf(files)).toBe(1);
      const etag = etagOf(Buffer.from("one two"));
      expect((await finish(files, upload))._unsafeUnwrap()).toEqual({ size: 7, etag, created: true });
      expect(disk.readFileSync(join(directory, "new/a"), "utf8")).toBe("one two");
      expect([stagedIn(disk, directory), await countOf(files)]).toEqual([[], 0]);
    }));

  test("one without pieces makes an empty file", () =>
    withFiles(way, async ({ files }) => {
      expect((await finish(files, await begin(files)))._unsafeUnwrap()).toMatchObject({ size: 0, created: true });
    }));

  test("base64 pieces are bytes", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const upload = await begin(files);
      await files.ask("writeChunk", { upload, content: "AP8=", encoding: "base64" });
      await finish(files, upload);
      expect([...(disk.readFileSync(join(directory, "a")) as Buffer)]).toEqual([0, 255]);
    }));

  test("a long text has its pairs of surrogates whole, wherever it is cut into parts", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const text = `${"x".repeat(64 * 1024 - 1)}🦊${"y".repeat(64 * 1024 - 1)}🦊${"z".repeat(100_000)}`;
      const upload = await begin(files);
      expect((await chunk(files, upload, text)).isOk()).toBe(true);
      expect((await finish(files, upload)).isOk()).toBe(true);
      expect(disk.readFileSync(join(directory, "a"), "utf8") === text).toBe(true);
    }));

  test("pieces are written in the order in which they were asked for, however many are on their way", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        const sizes = fc.array(fc.oneof(fc.nat({ max: 50 }), fc.integer({ min: 150_000, max: 700_000 })), {
          maxLength: 8,
        });
        await fc.assert(
          fc.asyncProperty(sizes, async (lengths) => {
            const pieces = lengths.map((length, i) => Buffer.alloc(length, i + 1));
            const upload = await begin(files);
            const answers = pieces.map((piece) => chunk(files, upload, piece));
            const finished = finish(files, upload);
            let sum = 0;
            for (const [i, answer] of answers.entries()) {
              sum += pieces[i]?.length ?? 0;
              expect((await answer)._unsafeUnwrap()).toEqual({ size: sum });
            }
            const all = Buffer.concat(pieces);
            expect((await finished)._unsafeUnwrap()).toMatchObject({ size: sum, etag: etagOf(all) });
            expect((disk.readFileSync(join(directory, "a")) as Buffer).equals(all)).toBe(true);
          }),
          runs(15),
        );
      },
      { maxWriteBytes: 100 * MB },
    ));

  test("a read that is asked for after finishing sees the file, also behind other changes", () =>
    withFiles(way, async ({ files }) => {
      const upload = await begin(files);
      const answers = [
        files.ask("write", { path: "a", content: Buffer.alloc(2 * MB, "x") }),
        files.ask("writeChunk", { upload, content: Buffer.alloc(MB, "y") }),
        files.ask("writeChunk", { upload, content: "the end" }),
        files.ask("finishWrite", { upload }),
      ];
      const late = chunk(files, upload, "too late");
      const seen = resultOf(await files.ask("read", { path: "a", encoding: "utf8", offset: MB }))._unsafeUnwrap();
      expect([seen.content, seen.size]).toEqual(["the end", MB + 7]);
      expect(kindOf(await late)).toBe("not-found");
      for (const answer of answers) expect((await answer)._unsafeUnwrap().ok).toBe(true);
    }));

  test("a read that is asked for after finishing waits for the pieces that are on their way", () =>
    withFiles(way, async ({ files }) => {
      const upload = await begin(files);
      const written = chunk(files, upload, Buffer.alloc(2 * MB));
      const finished = finish(files, upload);
      expect(resultOf(await files.ask("read", { path: "./a", offset: 0, length: 1 }))._unsafeUnwrap().size).toBe(
        2 * MB,
      );
      expect([kindOf(await written), kindOf(await finished)]).toEqual(["ok", "ok"]);
    }));

  test("conditions hold for the file that is there in the end", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const failing = await begin(files, { ifExists: "fail" });
      disk.writeFileSync(join(directory, "a"), "of another one");
      expect(kindOf(await finish(files, failing))).toBe("exists");
      const changed = await begin(files, { ifMatch: etagOf(Buffer.from("of another one")) });
      disk.writeFileSync(join(directory, "a"), "of a third one");
      expect(kindOf(await finish(files, changed))).toBe("changed");
      const matching = await begin(files, { ifMatch: etagOf(Buffer.from("of a third one")), durable: true });
      await chunk(files, matching, "mine");
      expect((await finish(files, matching))._unsafeUnwrap()).toMatchObject({ size: 4, created: false });
      expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("mine");
      expect([stagedIn(disk, directory), await countOf(files)]).toEqual([[], 0]);
    }));

  test("an aborted one leaves nothing, and can be asked for no more", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const upload = await begin(files);
      await chunk(files, upload, "x");
      expect(kindOf(await abort(files, upload))).toBe("ok");
      expect(stagedIn(disk, directory)).toEqual([]);
      expect(disk.existsSync(join(directory, "a"))).toBe(false);
      expect(await chunk(files, upload, "x").then(kindOf)).toBe("not-found");
      const refused = (await finish(files, upload))._unsafeUnwrapErr();
      expect(refused).toMatchObject({ kind: "not-found", path: upload });
      expect(await abort(files, upload).then(kindOf)).toBe("not-found");
    }));

  test("one that is aborted while a large piece is written stops there", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const upload = await begin(files);
      const answers = [chunk(files, upload, Buffer.alloc(5 * MB)), chunk(files, upload, "behind it")];
      expect(kindOf(await abort(files, upload))).toBe("ok");
      expect(await Promise.all(answers.map((answer) => answer.then(kindOf)))).toEqual(["io", "io"]);
      expect([stagedIn(disk, directory), await countOf(files)]).toEqual([[], 0]);
    }));

  test("more bytes than one upload may write are refused, and with them the upload", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        const upload = await begin(files);
        expect(await chunk(files, upload, "12345678").then(kindOf)).toBe("ok");
        expect(await chunk(files, upload, "9ab").then(kindOf)).toBe("too-large");
        expect(stagedIn(disk, directory)).toEqual([]);
        // A shorter piece would fit, and come after a gap.
        expect(await chunk(files, upload, "9").then(kindOf)).toBe("too-large");
        expect(await finish(files, upload).then(kindOf)).toBe("too-large");
        expect(disk.existsSync(join(directory, "a"))).toBe(false);
        expect(await countOf(files)).toBe(0);
      },
      { maxWriteBytes: 10 },
    ));

  test("a piece that the quota has no room for is refused at once, but for what the file replaces", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        disk.writeFileSync(join(directory, "a"), Buffer.alloc(600));
        disk.writeFileSync(join(directory, "b"), Buffer.alloc(300));
        const full = await begin(files, { path: "c" });
        expect(await chunk(files, full, Buffer.alloc(100)).then(kindOf)).toBe("ok");
        expect(await chunk(files, full, "1").then(kindOf)).toBe("quota");
        expect(await finish(files, full).then(kindOf)).toBe("quota");
        const replacing = await begin(files);
        expect(await chunk(files, replacing, Buffer.alloc(600)).then(kindOf)).toBe("ok");
        expect(await chunk(files, replacing, Buffer.alloc(100)).then(kindOf)).toBe("ok");
        disk.writeFileSync(join(directory, "b"), Buffer.alloc(200)); // By somebody else: what is refused is counted anew.
        expect(await chunk(files, replacing, Buffer.alloc(100)).then(kindOf)).toBe("ok");
        expect(await finish(files, replacing).then(kindOf)).toBe("ok");
        expect(await files.ask("inspect").then((answer) => resultOf(answer)._unsafeUnwrap().usedBytes)).toBe(1_000);
      },
      { quotaBytes: 1_000 },
    ));

  test("of two uploads that fit one by one, the second one to finish is refused by the quota", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        const [one, other] = [await begin(files), await begin(files, { path: "b" })];
        await chunk(files, one, Buffer.alloc(600));
        await chunk(files, other, Buffer.alloc(600));
        expect(await finish(files, one).then(kindOf)).toBe("ok");
        expect(await finish(files, other).then(kindOf)).toBe("quota");
        expect([disk.existsSync(join(directory, "b")), stagedIn(disk, directory)]).toEqual([false, []]);
      },
      { quotaBytes: 1_000 },
    ));

  test("a piece that is no text breaks the upload", () =>
    withFiles(way, async ({ files }) => {
      const upload = await begin(files);
      expect(await chunk(files, upload, "\ud800").then(kindOf)).toBe("not-text");
      expect(await finish(files, upload).then(kindOf)).toBe("not-text");
    }));

  test("what a piece's asker gives up within is not finished", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const upload = await begin(files);
      const leaving = new AbortController();
      const asked = files.ask("writeChunk", { upload, content: Buffer.alloc(5 * MB) }, { signal: leaving.signal });
      await new Promise((resolve) => setImmediate(resolve));
      leaving.abort();
      expect((await asked)._unsafeUnwrapErr().kind).toBe("cancelled");
      expect(await finish(files, upload).then(kindOf)).toBe("io");
      expect(stagedIn(disk, directory)).toEqual([]);
    }));

  test("at most 64 are open, and one that ends makes room", () =>
    withFiles(way, async ({ files }) => {
      const uploads: string[] = [];
      for (let i = 0; i < 64; i++) uploads.push(await begin(files, { path: `f${i}` }));
      expect(new Set(uploads).size).toBe(64);
      expect(kindOf(resultOf(await files.ask("beginWrite", { path: "more" })))).toBe("too-large");
      await abort(files, uploads[7] ?? "");
      expect(kindOf(resultOf(await files.ask("beginWrite", { path: "more" })))).toBe("ok");
    }));

  test("what cannot be written is refused at the beginning", () =>
    withFiles(
      way,
      async ({ files }) => {
        const kindOfPath = async (path: string) =>
          kindOf(resultOf(await files.ask("beginWrite", { path, parents: false })));
        expect(await kindOfPath("../a")).toBe("outside-root");
        expect(await kindOfPath("b.secret")).toBe("denied");
        expect(await kindOfPath(".envoi/a")).toBe("denied");
        expect(await kindOfPath("missing/a")).toBe("not-found");
        expect(await kindOfPath("d/")).toBe("is-directory");
        expect(await countOf(files)).toBe(0);
      },
      { deny: ["*.secret"] },
    ));

  test("a read-only actor begins none", () =>
    withFiles(
      way,
      async ({ files }) => expect(kindOf(resultOf(await files.ask("beginWrite", { path: "a" })))).toBe("read-only"),
      {
        readOnly: true,
      },
    ));
});

describe.each(ways)("uploads that nobody ends, by %s", (way) => {
  /** A file actor on a clock that stands still. */
  async function onManualClock(
    run: (parts: ReturnType<typeof createTestSystem> & { files: FileSystemRef; directory: string }) => Promise<void>,
  ) {
    const directory = mkdtempSync(join(realpathSync(tmpdir()), "envoi-uploads-"));
    try {
      await using parts = createTestSystem();
      await run({
        ...parts,
        directory,
        files: spawnFileSystem(parts.system, { root: directory, resolution: way as "openat2" }),
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  const disk = { existsSync: (path: string) => readdirSync(join(path, "..")).includes(".envoi"), readdirSync } as Disk;

  test("five minutes after the last piece the upload is gone, with what was written", () =>
    onManualClock(async ({ files, directory, advance, settle }) => {
      const idle = await begin(files);
      const used = await begin(files, { path: "b" });
      expect(stagedIn(disk, directory)).toHaveLength(2);
      await advance(299_000);
      expect(await chunk(files, used, "x").then(kindOf)).toBe("ok");
      await advance(1_001);
      expect(stagedIn(disk, directory)).toHaveLength(1);
      expect(await chunk(files, idle, "x").then(kindOf)).toBe("not-found");
      await advance(298_000);
      expect(await countOf(files)).toBe(1);
      await advance(1_001);
      expect([await countOf(files), stagedIn(disk, directory)]).toEqual([0, []]);
      await settle();
    }));

  test("a stop ends them, and leaves neither files nor timers", () =>
    onManualClock(async ({ files, directory, system, clock, settle }) => {
      await begin(files);
      await chunk(files, await begin(files, { path: "b" }), "x");
      expect(stagedIn(disk, directory)).toHaveLength(2);
      await system.shutdown();
      expect(stagedIn(disk, directory)).toEqual([]);
      await settle();
      expect(clock.heldTimers).toBe(0);
    }));

  test("a finished one leaves no timer", () =>
    onManualClock(async ({ files, clock, settle }) => {
      const upload = await begin(files);
      expect(clock.heldTimers).toBe(1);
      await finish(files, upload);
      await abort(files, await begin(files, { path: "b" }));
      await settle();
      expect(clock.heldTimers).toBe(0);
    }));
});

describe.each(everyWay)("writeStream, by %s", (way) => {
  async function* lines(): AsyncGenerator<string> {
    for (let i = 0; i < 100; i++) yield `line ${i}\n`;
  }
  const all = Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join("");

  test("writes what an iterable, an async one or a ReadableStream gives", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const sources = {
        generator: lines(),
        array: all.match(/.*\n/g) ?? [],
        body: new Response(all).body ?? [],
        text: all,
        bytes: Buffer.from(all),
      };
      for (const [path, source] of Object.entries(sources)) {
        const written = await writeStream(files, { path }, source);
        expect(written._unsafeUnwrap()).toEqual({ size: all.length, etag: etagOf(Buffer.from(all)), created: true });
        expect(disk.readFileSync(join(directory, path), "utf8")).toBe(all);
      }
    }));

  test("asks for the next piece once the last one is written", () =>
    withFiles(way, async ({ files }) => {
      let written = 0;
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 5; i++) {
          expect(await countOf(files)).toBe(1);
          yield Buffer.alloc(MB);
          written++;
        }
      }
      expect((await writeStream(files, { path: "a" }, pieces()))._unsafeUnwrap().size).toBe(5 * MB);
      expect(written).toBe(5);
    }));

  test("puts together what is cut within a character, and refuses half of one at the end", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      await writeStream(files, { path: "a" }, ["x\ud83d", "\ude00\ud83d", "\ude00", ""]);
      expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("x😀😀");
      expect(kindOf(await writeStream(files, { path: "b" }, ["x\ud83d"]))).toBe("not-text");
      expect(kindOf(await writeStream(files, { path: "b" }, ["x\ud83d", Buffer.from("y")]))).toBe("not-text");
      expect(disk.existsSync(join(directory, "b"))).toBe(false);
      expect([stagedIn(disk, directory), await countOf(files)]).toEqual([[], 0]);
    }));

  test("leaves nothing where the source throws, and throws it", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      async function* failing(): AsyncGenerator<string> {
        yield "some";
        throw new Error("no more");
      }
      const thrown = await writeStream(files, { path: "a" }, failing()).catch((error: unknown) => error);
      expect(thrown).toMatchObject({ message: "no more" });
      expect([disk.existsSync(join(directory, "a")), stagedIn(disk, directory), await countOf(files)]).toEqual([
        false,
        [],
        0,
      ]);
    }));

  test("tells what was refused, and leaves the source", () =>
    withFiles(
      way,
      async ({ files }) => {
        let isLeft = false;
        function* endless(): Generator<string> {
          try {
            for (;;) yield "0123456789";
          } finally {
            isLeft = true;
          }
        }
        expect(kindOf(await writeStream(files, { path: "a" }, endless()))).toBe("too-large");
        expect([isLeft, await countOf(files)]).toEqual([true, 0]);
        expect(kindOf(await writeStream(files, { path: "../a" }, endless()))).toBe("outside-root");
      },
      { maxWriteBytes: 95 },
    ));
});
