import { describe, expect, test } from "bun:test";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resultOf } from "../../../../src/tools";
import { runs } from "../../../property/runs";
import { operations, perform } from "./operations";
import { attack, createYard, ways } from "./yard";

const TERA = 2 ** 40;
describe.each(ways)("sizes, by %s", (resolution) => {
  test("a sparse file of 1 TB is not read, and not searched", async () => {
    using yard = createYard();
    truncateSync(yard.put("huge", ""), TERA);
    await attack(yard, { resolution }, async ({ files }) => {
      for (const operation of operations) {
        if (!["read", "read bytes", "read lines", "edit", "search text"].includes(operation.name)) continue;
        const told = await perform(files, operation, "huge");
        if (operation.operation === "search" && told.ok) {
          expect(JSON.stringify(told.value)).toContain('"skipped":1');
          continue;
        }
        expect({ name: operation.name, kind: told.ok ? "served" : told.error.kind }).toEqual({
          name: operation.name,
          kind: "too-large",
        });
      }
      const part = resultOf(
        await files.ask("read", { path: "huge", offset: TERA - 3, length: 10, encoding: "base64" }),
      );
      expect(part._unsafeUnwrap()).toMatchObject({ content: "AAAA", size: TERA });
      const tail = resultOf(await files.ask("read", { path: "huge", tail: { bytes: 3 }, encoding: "base64" }));
      expect(tail._unsafeUnwrap()).toMatchObject({ content: "AAAA", size: TERA, offset: TERA - 3 });
      const many = resultOf(
        await files.ask("readMany", { reads: [{ path: "huge", tail: { lines: 1 } }, { path: "file.txt" }] }),
      );
      expect(many._unsafeUnwrap()).toMatchObject([{ error: { kind: "too-large" } }, { ok: true }]);
      expect(
        resultOf(await files.ask("read", { path: "huge", offset: TERA + 7, length: 10 }))._unsafeUnwrap(),
      ).toMatchObject({ content: "" });
      expect(resultOf(await files.ask("append", { path: "huge", content: "end" }))._unsafeUnwrap().size).toBe(TERA + 3);
    });
  });

  test.each([
    ["read", { path: "huge", lines: { from: 2, to: 3 } }],
    ["copy", { from: "huge", to: "copied" }],
    ["write", { path: "huge", content: "it", ifMatch: `${TERA.toString(16)}-0` }],
    ["write", { path: "huge", content: "it", ifMatch: `${TERA.toString(16)}-0`, inPlace: true }],
  ] as const)("work on a sparse file that would take hours ends with its asker: %s", async (operation, payload) => {
    using yard = createYard();
    truncateSync(yard.put("huge", ""), TERA);
    await attack(yard, { resolution }, async ({ files, system }) => {
      // One of the operations that are listed above, with its own payload.
      const told = await files.ask(operation as "read", payload as { path: string }, { timeout: 50 });
      if (told.isOk()) expect(told.value.ok ? "served" : told.value.error.kind).toBe("too-large");
      else expect(told.error.kind).toBe("timeout");
      // The next request is served, and no work goes on in the background.
      const next = await files.ask("write", { path: "other", content: "it" }, { timeout: 5_000 });
      expect(resultOf(next).isOk()).toBe(true);
      for (let turns = 0; system.router.audit().running > 0 && turns < 10_000; turns++) await Bun.sleep(0);
      expect(system.router.audit().running).toBe(0);
    });
    expect(new Set([...new Bun.Glob("**/*").scanSync({ cwd: yard.root, dot: true })])).toEqual(
      new Set(["file.txt", "a/b/deep.txt", "c/inner.txt", "huge", "other", ".envoi/lock", ".envoi/.gitignore"]),
    );
  });

  test("a sparse file is streamed as long as its reader likes, and no longer", async () => {
    using yard = createYard();
    truncateSync(yard.put("huge", ""), TERA);
    await attack(yard, { resolution }, async ({ files }) => {
      let chunks = 0;
      for await (const item of files.stream("readStream", { path: "huge" })) {
        expect(item.ok).toBe(true);
        if (++chunks === 20) break;
      }
      expect(chunks).toBe(20);
    });
  });

  test("a file of as many bytes as may be read is served; one more, and it is too large, whatever part is named", async () => {
    using yard = createYard();
    yard.put("fits", "x".repeat(1_000));
    yard.put("more", "x".repeat(1_001));
    await attack(yard, { resolution, maxReadBytes: 1_000 }, async ({ files }) => {
      for (const encoding of ["utf8", "base64", "bytes"] as const) {
        for (const [path, kind] of [
          ["fits", "served"],
          ["more", "too-large"],
        ] as const) {
          for (const part of [{}, { offset: 0 }, { length: 5_000 }, { lines: {} }, { lines: { from: 1, to: 1 } }]) {
            const told = (await files.ask("read", { path, encoding, ...part }))._unsafeUnwrap();
            expect({ path, part, kind: told.ok ? "served" : told.error.kind }).toEqual({ path, part, kind });
          }
        }
      }
    });
  });

  test("more than may be written at once is refused, and nothing of it is written", async () => {
    using yard = createYard();
    await attack(yard, { resolution, maxWriteBytes: 1_000 }, async ({ files }) => {
      const content = "x".repeat(1_001);
      for (const inPlace of [false, true]) {
        const told = (await files.ask("write", { path: "file.txt", content, inPlace }))._unsafeUnwrap();
        expect(told.ok ? "served" : told.error.kind).toBe("too-large");
      }
      const told = (await files.ask("append", { path: "file.txt", content }))._unsafeUnwrap();
      expect(told.ok ? "served" : told.error.kind).toBe("too-large");
      expect(resultOf(await files.ask("read", { path: "file.txt" }))._unsafeUnwrap().content).toBe("inside");
    });
  });

  test.each(["grow", "truncate"])(
    "a file that others %s while it is read: each read ends, and is of one size",
    async (how) => {
      using yard = createYard();
      const path = join(yard.root, "moving");
      writeFileSync(path, "x");
      const changer = Bun.spawn([process.execPath, join(import.meta.dir, "programs/changer.ts"), path, how], {
        stdin: "pipe",
        stdout: "pipe",
      });
      try {
        const { value } = await changer.stdout.getReader().read();
        expect(new TextDecoder().decode(value)).toContain("ready");
        await attack(yard, { resolution }, async ({ files }) => {
          for (let i = 0; i < runs(100).numRuns; i++) {
            const read = resultOf(await files.ask("read", { path: "moving" }))._unsafeUnwrap();
            expect(read.content.length).toBe(read.size);
            const lines = resultOf(await files.ask("read", { path: "moving", lines: { from: 1 } }))._unsafeUnwrap();
            expect(lines.content.length).toBeLessThanOrEqual(lines.size);
            for await (const item of files.stream("readStream", { path: "moving", encoding: "utf8" })) {
              if (!item.ok) expect(item.error.kind).toBe("changed"); // It was cut meanwhile.
            }
          }
        });
        expect(changer.exitCode).toBeNull(); // It changed the file until the end.
      } finally {
        changer.kill("SIGKILL");
        await changer.exited;
      }
    },
    240_000,
  );

  test("a file that is cut while it is read, and stays so: the read ends, with what there was", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      for (const part of [{}, { lines: { from: 1 } }, { offset: 1_000 }]) {
        const path = yard.put("cut", "x".repeat(5_000_000));
        const going = files.ask("read", { path: "cut", ...part }, { timeout: 5_000 });
        await new Promise((resolve) => setImmediate(resolve)); // The first pieces are read by now.
        truncateSync(path, 300_000);
        const told = (await going)._unsafeUnwrap();
        if (told.ok) expect(told.value.content.length).toBeLessThanOrEqual(5_000_000);
        else expect(told.error.kind).toBe("changed");
      }
    });
  });
});
