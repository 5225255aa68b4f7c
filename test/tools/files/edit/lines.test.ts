import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { applyPatch } from "diff";
import fc from "fast-check";
import { type EditRequest, type FileError, resultOf } from "../../../../src/tools";
import { everyWay, type FilesForTest, withFiles } from "../ways";

type Fields = Omit<EditRequest, "path">;

/** A file of a fresh actor, and what edits make of it. */
function fileOf({ files, disk, directory }: FilesForTest) {
  const at = join(directory, "a.txt");
  return {
    put: (text: string) => disk.writeFileSync(at, text),
    text: () => disk.readFileSync(at, "utf8") as string, // Read as text, it is one.
    edit: async (fields: Fields) => resultOf(await files.ask("edit", { path: "a.txt", ...fields })),
    etag: async () => resultOf(await files.ask("read", { path: "a.txt" }))._unsafeUnwrap().etag ?? "",
  };
}

const errorOf = async (asked: ReturnType<ReturnType<typeof fileOf>["edit"]>): Promise<FileError> =>
  // An error of the actor's own has no path: the expectations that follow fail on it.
  (await asked)._unsafeUnwrapErr() as FileError;

async function edited(text: string, fields: Fields): Promise<string> {
  return withFiles("memory", async (parts) => {
    const file = fileOf(parts);
    file.put(text);
    (await file.edit({ ifMatch: await file.etag(), ...fields }))._unsafeUnwrap();
    return file.text();
  });
}

const lines = (from: number, to: number, newText: string) => ({ lines: { from, to }, newText });

describe("an edit with replaceAll", () => {
  const all = (text: string, oldText: string, newText: string) =>
    edited(text, { edits: [{ oldText, newText, replaceAll: true }] });

  test("replaces each occurrence, from the first one on, and none within another", async () => {
    expect(await all("tea, milk, tea\ntea", "tea", "coffee")).toBe("coffee, milk, coffee\ncoffee");
    expect(await all("aaaaa", "aa", "b")).toBe("bba");
    expect(await all("a-a", "a", "aa")).toBe("aa-aa");
    expect(await all("a\r\nb\r\na\r\nb\r\n", "a\nb\n", "1\n2\n3\n")).toBe("1\r\n2\r\n3\r\n1\r\n2\r\n3\r\n");
    expect(await all("one;two;\r\n", ";", ";\n")).toBe("one;\r\ntwo;\r\n\r\n");
  });

  test("agrees with String.replaceAll, whatever the texts are", async () => {
    const letter = fc.constantFrom("a", "b", "é", "\n");
    const text = fc.array(letter, { maxLength: 60 }).map((letters) => letters.join(""));
    await withFiles("memory", async (parts) => {
      const file = fileOf(parts);
      await fc.assert(
        fc.asyncProperty(
          text,
          text.filter((old) => old !== ""),
          text,
          async (before, oldText, newText) => {
            file.put(before);
            const done = await file.edit({ edits: [{ oldText, newText, replaceAll: true }] });
            if (before.includes(oldText)) expect(file.text()).toBe(before.replaceAll(oldText, () => newText));
            else expect(done._unsafeUnwrapErr()).toMatchObject({ kind: "no-match" });
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  test("P5: that would make more than may be written is refused before it is made", async () => {
    await withFiles(
      "memory",
      async (parts) => {
        const file = fileOf(parts);
        file.put("x".repeat(900));
        const error = await errorOf(
          file.edit({ edits: [{ oldText: "x", newText: "y\n".repeat(450), replaceAll: true }] }),
        );
        expect(error).toMatchObject({ kind: "too-large" });
        expect(error.message).toContain("810000 bytes");
      },
      { maxWriteBytes: 1_000 },
    );
  });
});

describe("an edit of lines", () => {
  test("replaces lines, inserts before and after one, and deletes, by the numbers that a read gives", async () => {
    const text = "1\n2\n3\n4\n";
    expect(await edited(text, { edits: [lines(2, 3, "two\nthree\nmore")] })).toBe("1\ntwo\nthree\nmore\n4\n");
    expect(await edited(text, { edits: [lines(1, 0, "0")] })).toBe("0\n1\n2\n3\n4\n");
    expect(await edited(text, { edits: [lines(5, 4, "5")] })).toBe("1\n2\n3\n4\n5\n");
    expect(await edited(text, { edits: [lines(2, 4, "")] })).toBe("1\n");
    expect(await edited("", { edits: [lines(1, 0, "first")] })).toBe("first");
    expect(await edited("1\n2", { edits: [lines(3, 2, "3")] })).toBe("1\n2\n3");
    expect(await edited("1\r\n2\r\n", { edits: [lines(2, 2, "two\nthree")] })).toBe("1\r\ntwo\r\nthree\r\n");
  });

  test("counts the lines of the file as it was, whatever the other edits are, and makes texts after them", async () => {
    const edits = [
      lines(4, 4, "four"),
      { oldText: "one\nmore", newText: "1\n1½" },
      lines(1, 1, "one\nmore"),
      lines(3, 2, "2½"),
    ];
    expect(await edited("1\n2\n3\n4\n", { edits })).toBe("1\n1½\n2\n2½\n3\nfour\n");
  });

  test("agrees with a plain model, whatever the lines are", async () => {
    const word = fc.constantFrom("a", "b", "", "long é");
    const model = fc.tuple(fc.array(word, { maxLength: 12 }), fc.nat(12), fc.nat(4), fc.array(word, { maxLength: 3 }));
    await withFiles("memory", async (parts) => {
      const file = fileOf(parts);
      await fc.assert(
        fc.asyncProperty(model, async ([before, start, length, fresh]) => {
          const text = before.map((line) => `${line}\n`).join("");
          file.put(text);
          const edit = lines(start + 1, start + length, fresh.map((line) => `${line}\n`).join(""));
          const done = await file.edit({ edits: [edit], ifMatch: await file.etag() });
          if (start + length > before.length) {
            expect(done._unsafeUnwrapErr()).toMatchObject({ kind: "no-match" });
            expect(file.text()).toBe(text);
          } else {
            const after = before.toSpliced(start, length, ...fresh);
            expect(file.text()).toBe(after.map((line) => `${line}\n`).join(""));
          }
        }),
        { numRuns: 300 },
      );
    });
  });

  test("is refused where the file, or the lines, are not what they were; the lines that are there are told", async () => {
    await withFiles("memory", async (parts) => {
      const file = fileOf(parts);
      file.put("1\n2\n3\n");
      const etag = await file.etag();
      file.put("0\n1\n2\n3\n");
      expect(await errorOf(file.edit({ edits: [lines(2, 2, "two")], ifMatch: etag }))).toMatchObject({
        kind: "changed",
      });
      const error = await errorOf(file.edit({ edits: [{ ...lines(2, 3, "two"), oldText: "2\n3\n" }] }));
      expect(error).toMatchObject({
        kind: "no-match",
        lines: [
          { line: 2, text: "1" },
          { line: 3, text: "2" },
        ],
      });
      expect(file.text()).toBe("0\n1\n2\n3\n");
      (await file.edit({ edits: [{ ...lines(3, 4, "two"), oldText: "2\r\n3" }] }))._unsafeUnwrap();
      expect(file.text()).toBe("0\n1\ntwo\n");
    });
  });

  test("is refused where ranges overlap, and where the file has no such lines", async () => {
    await withFiles("memory", async (parts) => {
      const file = fileOf(parts);
      file.put("1\n2\n3\n");
      const ifMatch = await file.etag();
      const overlapping = await errorOf(file.edit({ edits: [lines(2, 3, "b"), lines(1, 2, "a")], ifMatch }));
      expect(overlapping).toMatchObject({ kind: "ambiguous-match" });
      const beyond = await errorOf(file.edit({ edits: [lines(2, 4, "b")], ifMatch }));
      expect(beyond.message).toBe('"a.txt" has 3 lines, and no line 4; read it again. No edit was made.');
      expect(file.text()).toBe("1\n2\n3\n");
    });
  });

  test.each([
    ["neither a text nor lines", { edits: [{ newText: "" }] }, '"oldText" or "lines"'],
    ["lines with nothing that tells a stale edit", { edits: [lines(1, 1, "")] }, '"ifMatch"'],
    ["replaceAll for lines", { edits: [{ ...lines(1, 1, ""), oldText: "1", replaceAll: true }] }, '"replaceAll"'],
    ["an empty range with a text", { edits: [{ ...lines(2, 1, ""), oldText: "1" }] }, "empty range"],
    ["a range that ends before it begins", { edits: [lines(3, 1, "")], ifMatch: "1-1" }, "lines from 3 to 2"],
  ] as const)("has no %s", async (_, fields, told) => {
    await withFiles("memory", async ({ files }) => {
      // The literals are readonly; the type of a request is not.
      const asked = await files.ask("edit", { path: "a.txt", ...(fields as unknown as Fields) });
      const error = asked._unsafeUnwrapErr();
      expect(error.kind).toBe("invalid-payload");
      expect(error.message).toContain(told);
    });
  });
});

const SAMPLE = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join("");

describe.each(everyWay)("by way of %s", (way) => {
  test("a dry run replies as the edit does, its diff included, and changes nothing", async () => {
    await withFiles(way, async (parts) => {
      const { disk, directory } = parts;
      const file = fileOf(parts);
      file.put(SAMPLE);
      const before = disk.lstatSync(join(directory, "a.txt"));
      const fields = { edits: [{ oldText: "line 2\n", newText: "two\n" }], diff: true };
      const dry = (await file.edit({ ...fields, dryRun: true }))._unsafeUnwrap();
      expect(file.text()).toBe(SAMPLE);
      expect(disk.readdirSync(directory)).toEqual(["a.txt"]);
      expect(disk.lstatSync(join(directory, "a.txt")).mtimeMs).toBe(before.mtimeMs);
      expect(dry.diff).toMatchObject({ removed: 1, added: 1 });
      expect(applyPatch(SAMPLE, dry.diff?.text ?? "")).toBe(SAMPLE.replace("line 2\n", "two\n"));

      expect((await file.edit(fields))._unsafeUnwrap()).toEqual(dry);
      expect(await file.etag()).toBe(dry.etag);
      expect((await file.edit({ ...fields, dryRun: true }))._unsafeUnwrapErr()).toMatchObject({ kind: "no-match" });
    });
  });
});

test("a dry run is refused for what the edit would be: rules, limits, quota, a stale etag", async () => {
  const grow = { edits: [{ oldText: "1", newText: "1".repeat(600) }], dryRun: true };
  const kinds = async (options: Parameters<typeof withFiles>[2], fields: Fields = grow) =>
    withFiles(
      "memory",
      async (parts) => {
        fileOf(parts).put("1");
        return (await errorOf(fileOf(parts).edit(fields))).kind;
      },
      options,
    );
  expect(await kinds({ readOnly: true })).toBe("read-only");
  expect(await kinds({ deny: ["a.*"] })).toBe("denied");
  expect(await kinds({ maxWriteBytes: 500 })).toBe("too-large");
  expect(await kinds({ quotaBytes: 500 })).toBe("quota");
  expect(await kinds({}, { ...grow, ifMatch: "1-1" })).toBe("changed");
});

test("an edit whose diff would be too long is made, and tells how many lines it changed", async () => {
  await withFiles("memory", async (parts) => {
    const file = fileOf(parts);
    file.put("the same line\n".repeat(30_000));
    const edits = [{ oldText: "same", newText: "other", replaceAll: true }];
    const { diff } = (await file.edit({ edits, diff: true }))._unsafeUnwrap();
    expect(diff).toEqual({ removed: 30_000, added: 30_000 });
    expect(file.text()).toBe("the other line\n".repeat(30_000));
  });
});
