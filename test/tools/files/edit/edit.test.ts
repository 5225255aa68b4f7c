import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createSystem } from "../../../../src/index";
import { type FileError, type FileSystemOptions, resultOf, spawnFileSystem } from "../../../../src/tools/index";
import { runs } from "../../../property/runs";
import { tmpdir } from "../tmpdir";
import { countTurns } from "../turns";
import { everyWay, openBelow, stagedIn, withFiles } from "../ways";

const root = mkdtempSync(join(tmpdir(), "envoi-edit-"));
const system = createSystem({ name: "edit" });
let count = 0;
const spawn = (options: Partial<FileSystemOptions> = {}) =>
  spawnFileSystem(system, { root, name: `files-${count++}`, ...options });
const files = spawn();

afterAll(async () => {
  await system.shutdown();
  const open = openBelow(root);
  rmSync(root, { recursive: true, force: true });
  expect(open).toEqual([]);
});

type Edits = { oldText: string; newText: string }[];
const at = (name: string): string => join(root, name);
const put = (name: string, content: string | Uint8Array): void => writeFileSync(at(name), content);
const textOf = (name: string): string => readFileSync(at(name), "utf8");

async function edit(path: string, edits: Edits, more: { ifMatch?: string; durable?: boolean } = {}, by = files) {
  return resultOf(await by.ask("edit", { path, edits, ...more }));
}

async function refusal(path: string, edits: Edits, more: { ifMatch?: string } = {}, by = files): Promise<FileError> {
  const result = await edit(path, edits, more, by);
  // An error of the actor's own has no path: the expectations that follow fail on it.
  return result._unsafeUnwrapErr() as FileError;
}

async function edited(content: string, edits: Edits): Promise<string> {
  put("edited.txt", content);
  (await edit("edited.txt", edits))._unsafeUnwrap();
  return textOf("edited.txt");
}

const numbered = (length: number, text = "the line") => Array.from({ length }, (_, i) => `${text} ${i + 1}`);

describe("an edit", () => {
  test("replaces a text that occurs once, and gives the size and etag of what a read then finds", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    const reply = (await edit("a.txt", [{ oldText: "two", newText: "zwei" }]))._unsafeUnwrap();
    expect(textOf("a.txt")).toBe("one\nzwei\nthree\n");
    const read = resultOf(await files.ask("read", { path: "a.txt" }))._unsafeUnwrap();
    expect(reply).toEqual({ size: 15, etag: read.etag ?? "", created: false });
  });

  test("makes several replacements in their order, each in what those before it made", async () => {
    const text = await edited("a b c", [
      { oldText: "a", newText: "x y" },
      { oldText: "y b", newText: "z" },
      { oldText: "x z c", newText: "all" },
    ]);
    expect(text).toBe("all");
  });

  test("makes all of its replacements or none", async () => {
    put("none.txt", "one two");
    const error = await refusal("none.txt", [
      { oldText: "one", newText: "1" },
      { oldText: "three", newText: "3" },
    ]);
    expect(error.kind).toBe("no-match");
    expect(error.message).toContain("Edit 2 of 2");
    expect(textOf("none.txt")).toBe("one two");
  });

  test("takes the new text as it is: $& and $1 mean nothing", async () => {
    expect(await edited("cost: X", [{ oldText: "X", newText: "$& $1 $$ $` \\n" }])).toBe("cost: $& $1 $$ $` \\n");
  });

  test("keeps a byte order mark, and a missing end of the last line", async () => {
    expect(await edited("\uFEFFone\ntwo", [{ oldText: "one", newText: "1" }])).toBe("\uFEFF1\ntwo");
  });

  test("with nothing as its new text deletes", async () => {
    expect(await edited("keep drop keep", [{ oldText: " drop", newText: "" }])).toBe("keep keep");
  });

  test("finds letters of every script, and never half of one", async () => {
    expect(await edited("naïve 😀 café", [{ oldText: "😀", newText: "🎉" }])).toBe("naïve 🎉 café");
    put("half.txt", "😀");
    expect((await refusal("half.txt", [{ oldText: "\uD83D", newText: "x" }])).kind).toBe("not-text");
    expect((await refusal("half.txt", [{ oldText: "😀", newText: "\uDE00" }])).kind).toBe("not-text");
    expect(textOf("half.txt")).toBe("😀");
  });

  test("that changes nothing writes nothing, but its text must occur once all the same", async () => {
    put("same.txt", "a b a");
    const { inode, mtimeMs } = statusOf("same.txt");
    const reply = (await edit("same.txt", [{ oldText: "b", newText: "b" }]))._unsafeUnwrap();
    expect(reply.size).toBe(5);
    expect(statusOf("same.txt")).toEqual({ inode, mtimeMs });
    expect((await refusal("same.txt", [{ oldText: "a", newText: "a" }])).kind).toBe("ambiguous-match");
    expect((await refusal("same.txt", [{ oldText: "c", newText: "c" }])).kind).toBe("no-match");
  });

  test("keeps the rights of the file", async () => {
    writeFileSync(at("run.sh"), "echo old", { mode: 0o750 });
    (await edit("run.sh", [{ oldText: "old", newText: "new" }]))._unsafeUnwrap();
    expect(textOf("run.sh")).toBe("echo new");
    expect(statSync(at("run.sh")).mode & 0o777).toBe(0o750);
  });

  test("can be durable", async () => {
    put("durable.txt", "old");
    (await edit("durable.txt", [{ oldText: "old", newText: "new" }], { durable: true }))._unsafeUnwrap();
    expect(textOf("durable.txt")).toBe("new");
  });
});

function statusOf(name: string) {
  const { ino, mtimeMs } = statSync(at(name));
  return { inode: ino, mtimeMs };
}

test.each(everyWay)("an edit is made, or refused, alike by way of %s", async (way) => {
  await withFiles(way, async ({ files, disk, directory }) => {
    const large = `${"x".repeat(99)}\n`.repeat(3_000);
    disk.writeFileSync(join(directory, "small.txt"), "one two");
    disk.writeFileSync(join(directory, "large.txt"), `${large}two`);
    for (const path of ["small.txt", "large.txt"]) {
      (await edit(path, [{ oldText: "two", newText: "2" }], {}, files))._unsafeUnwrap();
      expect((await refusal(path, [{ oldText: "two", newText: "2" }], {}, files)).kind).toBe("no-match");
    }
    expect(disk.readFileSync(join(directory, "small.txt"), "utf8")).toBe("one 2");
    expect(disk.readFileSync(join(directory, "large.txt"), "utf8") === `${large}2`).toBe(true);
  });
});

describe("line ends", () => {
  test("of a file with \\r\\n are found by a text with \\n, and stay \\r\\n", async () => {
    const text = await edited("a\r\nb\r\nc\r\n", [{ oldText: "a\nb\n", newText: "1\n2\n3\n" }]);
    expect(text).toBe("1\r\n2\r\n3\r\nc\r\n");
  });

  test("of a file with \\n are found by a text with \\r\\n, and stay \\n", async () => {
    expect(await edited("a\nb\nc\n", [{ oldText: "a\r\nb", newText: "1\r\n2" }])).toBe("1\n2\nc\n");
  });

  test("of a new text within one line are those of the file", async () => {
    expect(await edited("a\r\nb\r\n", [{ oldText: "b", newText: "1\n2" }])).toBe("a\r\n1\r\n2\r\n");
    expect(await edited("a\r\nb", [{ oldText: "b", newText: "1\n2" }])).toBe("a\r\n1\r\n2");
  });

  test("of a file that has both stay where they are, one for one", async () => {
    const text = await edited("a\r\nb\nc\r\nd\n", [{ oldText: "a\nb\nc\nd", newText: "1\n2\n3\n4\n5" }]);
    expect(text).toBe("1\r\n2\n3\r\n4\r\n5\n");
  });

  test("of a new text are as they are written where the file has one line", async () => {
    expect(await edited("a", [{ oldText: "a", newText: "1\r\n2\n" }])).toBe("1\r\n2\n");
  });

  test("are whole: a text that ends in \\r is not half of one", async () => {
    put("cr.txt", "a\r\nb");
    expect((await refusal("cr.txt", [{ oldText: "a\r", newText: "x" }])).kind).toBe("no-match");
    expect(await edited("a\rb\r\n", [{ oldText: "a\r", newText: "x" }])).toBe("xb\r\n");
  });
});

describe("a text that does not occur", () => {
  test("is told with the place that is the same but for its indentation", async () => {
    const lines = numbered(40);
    lines[20] = "\tif (ready) {";
    lines[21] = "\t\tstart();";
    lines[22] = "\t}";
    put("indent.ts", lines.join("\n"));
    const error = await refusal("indent.ts", [{ oldText: "  if (ready) {\n    start();\n  }\n", newText: "" }]);
    expect(error.lines).toEqual([
      { line: 21, text: "\tif (ready) {" },
      { line: 22, text: "\t\tstart();" },
      { line: 23, text: "\t}" },
    ]);
    expect(error.message).toContain("lines 21 to 23 are the same but for spaces");
  });

  test("is told with the lines that differ, in the window that is most alike", async () => {
    const lines = numbered(1_000, "a common line of text, number");
    const wanted = lines.slice(500, 700);
    wanted[50] = "something that was changed in between";
    put("window.txt", lines.join("\n"));
    const error = await refusal("window.txt", [{ oldText: wanted.join("\n"), newText: "" }]);
    expect(error.lines?.[0]?.line).toBe(501);
    expect(error.lines?.[1]).toEqual({ line: 551, text: "a common line of text, number 551" });
    expect(error.lines?.length).toBeLessThanOrEqual(5);
    expect(error.message).toContain("lines 501 to 700 are the nearest");
  });

  test("is found by a line that is nearly right, where none is quite", async () => {
    put("near.ts", ["const first = 1;", "function compute(total: number) {", "  return total * 2;", "}"].join("\n"));
    const error = await refusal("near.ts", [
      { oldText: "function compute(total) {\n  return total * 3;\n}\n", newText: "" },
    ]);
    expect(error.lines?.map(({ line }) => line)).toEqual([2, 3]);
  });

  test("in one line is told with the lines that are most like it, the best first", async () => {
    put("one-line.ts", "let a;\nconst total = sum(items, tax);\nconst total = sum(item);\nexport {};\n");
    const error = await refusal("one-line.ts", [{ oldText: "const total = sum(item, tax);", newText: "" }]);
    expect(error.lines?.[0]).toEqual({ line: 2, text: "const total = sum(items, tax);" });
    expect(error.message).toContain("line 2 is the nearest");
  });

  test("and is like nothing is told without lines", async () => {
    put("alien.txt", "abc\ndef\n");
    const error = await refusal("alien.txt", [{ oldText: "zzzzzz yyyyyy", newText: "" }]);
    expect(error.lines).toBeUndefined();
    expect(error.message).toContain("no line is like it");
  });

  test("is told with at most 200 letters of a line", async () => {
    put("long.txt", `start ${"é".repeat(10_000)} end\n`);
    const error = await refusal("long.txt", [{ oldText: "start éééééééééééééééééé é", newText: "" }]);
    expect(error.lines?.[0]?.text.length).toBe(200);
  });

  test("is found among 100,000 lines with pauses, however long it is", async () => {
    const lines = numbered(100_000, "some line of a large file");
    const wanted = lines.slice(60_000, 60_400).map((line) => `  ${line}`);
    put("large.txt", lines.join("\n"));
    const turns = countTurns();
    const error = await refusal("large.txt", [{ oldText: wanted.join("\n"), newText: "" }]);
    expect(turns.end()).toBeGreaterThan(50);
    expect(error.lines?.map(({ line }) => line)).toEqual([60_001, 60_002, 60_003, 60_004, 60_005]);
    expect(error.message).toContain("lines 60001 to 60400 are the same but for spaces");
  });
});

describe("a text that occurs more than once", () => {
  test("is told with the lines where it does", async () => {
    put("twice.txt", "x = 1\ny = 2\nx = 1\n");
    const error = await refusal("twice.txt", [{ oldText: "x = 1", newText: "x = 2" }]);
    expect(error.kind).toBe("ambiguous-match");
    expect(error.lines).toEqual([
      { line: 1, text: "x = 1" },
      { line: 3, text: "x = 1" },
    ]);
    expect(error.message).toContain("occurs 2 times");
    expect(textOf("twice.txt")).toBe("x = 1\ny = 2\nx = 1\n");
  });

  test("may overlap itself", async () => {
    put("overlap.txt", "aaaa");
    const error = await refusal("overlap.txt", [{ oldText: "aaa", newText: "b" }]);
    expect(error.kind).toBe("ambiguous-match");
    expect(error.lines).toEqual([{ line: 1, text: "aaaa" }]);
  });

  test("is told with at most 20 lines", async () => {
    put("often.txt", "again\n".repeat(500));
    const error = await refusal("often.txt", [{ oldText: "again", newText: "" }]);
    expect(error.lines?.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(error.message).toContain("20 times or more");
  });

  test("occurs also where line ends differ", async () => {
    put("ends.txt", "a\r\nb\n-\na\nb\n");
    const error = await refusal("ends.txt", [{ oldText: "a\nb", newText: "" }]);
    expect(error.kind).toBe("ambiguous-match");
    expect(error.lines?.map(({ line }) => line)).toEqual([1, 4]);
  });
});

describe("what cannot be edited", () => {
  const change = [{ oldText: "a", newText: "b" }];

  test("is told: nothing there, a directory, bytes, a link, a file with another name", async () => {
    put("bytes.bin", Uint8Array.of(0x61, 0xff));
    put("target.txt", "a");
    symlinkSync("target.txt", at("link.txt"));
    put("hard.txt", "a");
    linkSync(at("hard.txt"), at("hard-too.txt"));
    expect((await refusal("missing.txt", change)).kind).toBe("not-found");
    expect((await refusal("bytes.bin", change)).kind).toBe("not-text");
    expect((await refusal("link.txt", change)).kind).toBe("denied");
    expect((await refusal("hard.txt", change)).kind).toBe("denied");
    expect((await refusal("", change)).kind).toBe("is-directory");
    expect(textOf("target.txt") + textOf("hard.txt")).toBe("aa");
  });

  test("is a file larger than is read, or that would be larger than is written", async () => {
    const small = spawn({ maxReadBytes: 10, maxWriteBytes: 8 });
    put("limit.txt", "a2345678901");
    expect((await refusal("limit.txt", change, {}, small)).kind).toBe("too-large");
    put("limit.txt", "a2345678");
    expect((await refusal("limit.txt", [{ oldText: "a", newText: "bb" }], {}, small)).kind).toBe("too-large");
    expect(textOf("limit.txt")).toBe("a2345678");
    (await edit("limit.txt", change, {}, small))._unsafeUnwrap();
  });

  test("is any file of an actor that is read-only, and one that its globs close", async () => {
    put("closed.txt", "a");
    expect((await refusal("closed.txt", change, {}, spawn({ readOnly: true }))).kind).toBe("read-only");
    expect((await refusal("closed.txt", change, {}, spawn({ deny: ["closed.*"] }))).kind).toBe("denied");
    expect(textOf("closed.txt")).toBe("a");
  });

  test("is a file with an empty old text, or with no edits at all", async () => {
    put("empty.txt", "a");
    for (const edits of [[{ oldText: "", newText: "b" }], [], [null as never], 7 as never]) {
      expect((await edit("empty.txt", edits))._unsafeUnwrapErr().kind).toBe("invalid-payload");
    }
  });

  test("is a file that is not the one of the etag, and the etag of what is there comes with it", async () => {
    put("etag.txt", "a");
    const { etag } = resultOf(await files.ask("read", { path: "etag.txt" }))._unsafeUnwrap();
    const reply = (await edit("etag.txt", change, { ifMatch: etag ?? "" }))._unsafeUnwrap();
    const error = await refusal("etag.txt", [{ oldText: "b", newText: "c" }], { ifMatch: etag ?? "" });
    expect(error.kind).toBe("changed");
    expect(error.etag).toBe(reply.etag);
    expect(textOf("etag.txt")).toBe("b");
  });

  test("leaves no file behind where new ones are written", async () => {
    expect(stagedIn({ existsSync, readdirSync }, at("."))).toEqual([]);
  });
});

test("an edit of a large file pauses, and changes only its place", async () => {
  const line = `${"0123456789".repeat(10)}\r\n`;
  const before = `${line.repeat(40_000)}the place\r\n${line.repeat(40_000)}`;
  put("large-edit.txt", before);
  const turns = countTurns();
  (await edit("large-edit.txt", [{ oldText: "the place\n", newText: "another\nplace\n" }]))._unsafeUnwrap();
  expect(turns.end()).toBeGreaterThan(50);
  expect(textOf("large-edit.txt") === before.replace("the place\r\n", "another\r\nplace\r\n")).toBe(true);
});

test("fifty editors of one file lose no edit, in one process", async () => {
  put("fifty.txt", "end\n");
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      edit("fifty.txt", [{ oldText: "end\n", newText: `editor ${i}\nend\n` }], { durable: i % 2 === 0 }),
    ),
  );
  expect(replies.every((reply) => reply.isOk())).toBe(true);
  const lines = textOf("fifty.txt").trimEnd().split("\n");
  expect(lines.length).toBe(51);
  expect(new Set(lines).size).toBe(51);
});

test("fifty editors of one file lose no edit, in five processes", async () => {
  put("five.txt", "end\n");
  const program = join(import.meta.dir, "../programs/editor.ts");
  const editors = Array.from({ length: 5 }, (_, i) =>
    Bun.spawn([process.execPath, program, root, "five.txt", `process ${i}`], { stdout: "pipe", stderr: "inherit" }),
  );
  const told = await Promise.all(editors.map(async (editor) => (await new Response(editor.stdout).text()).trim()));
  expect(told).toEqual(Array(5).fill("10 made"));
  const lines = textOf("five.txt").trimEnd().split("\n");
  expect(lines.length).toBe(51);
  expect(new Set(lines).size).toBe(51);
}, 240_000);

test("with an etag, of two that edit at once one is told of the other", async () => {
  put("race.txt", "0");
  const { etag = "" } = resultOf(await files.ask("read", { path: "race.txt" }))._unsafeUnwrap();
  const replies = await Promise.all(
    ["1", "2"].map((newText) => edit("race.txt", [{ oldText: "0", newText }], { ifMatch: etag, durable: true })),
  );
  expect(replies.map((reply) => (reply.isOk() ? "made" : reply.error.kind)).sort()).toEqual(["changed", "made"]);
});

/** The same in plain steps: a text is letters, and `\r\n` is one of them. */
function model(text: string, edits: Edits): string | "no-match" | "ambiguous-match" {
  let present = text;
  for (const { oldText, newText } of edits) {
    const letters = lettersOf(present);
    const wanted = lettersOf(oldText).map(plain);
    const starts = letters
      .map((_, i) => i)
      .filter(
        (i) =>
          i + wanted.length <= letters.length && wanted.every((letter, j) => letter === plain(letters[i + j] ?? "")),
      );
    const [start] = starts;
    if (start === undefined) return "no-match";
    if (starts.length > 1) return "ambiguous-match";
    const ends = letters.slice(start, start + wanted.length).filter(isLineEnd);
    const rest =
      ends.at(-1) ??
      letters.slice(start + wanted.length).find(isLineEnd) ??
      letters.slice(0, start).findLast(isLineEnd);
    let i = 0;
    const made = lettersOf(newText).map((letter) => (isLineEnd(letter) ? (ends[i++] ?? rest ?? letter) : letter));
    present = [...letters.slice(0, start), ...made, ...letters.slice(start + wanted.length)].join("");
  }
  return present;
}
const lettersOf = (text: string): string[] => text.match(/\r\n|[\s\S]/gu) ?? [];
const isLineEnd = (letter: string): boolean => letter === "\n" || letter === "\r\n";
const plain = (letter: string): string => (letter === "\r\n" ? "\n" : letter);

test("edits of any text agree with a plain model, and one that fails leaves the bytes as they were", async () => {
  const letters = fc.constantFrom("a", "b", "\n", "\r\n", "\r", "é", "😀", " ");
  const textOfLength = (minLength: number, maxLength: number) => fc.string({ unit: letters, minLength, maxLength });
  const request = textOfLength(0, 30).chain((text) =>
    fc.record({
      text: fc.constant(text),
      edits: fc.array(
        fc.record({
          oldText: fc.oneof(
            textOfLength(1, 4),
            fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 8 })).map(([from, length]) => {
              const part = lettersOf(text)
                .slice(from, from + length)
                .join("");
              return part === "" ? "a" : part;
            }),
          ),
          newText: textOfLength(0, 5),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  );
  await fc.assert(
    fc.asyncProperty(request, async ({ text, edits }) => {
      put("model.txt", text);
      const expected = model(text, edits);
      const result = await edit("model.txt", edits);
      const got = result.isOk() ? textOf("model.txt") : result.error.kind;
      expect(got).toBe(expected);
      if (result.isErr()) expect(textOf("model.txt")).toBe(text);
    }),
    runs(200),
  );
});
