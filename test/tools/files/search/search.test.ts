import { afterAll, describe, expect, test } from "bun:test";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { createSystem } from "../../../../src/index";
import type { SearchItem, SearchRequest } from "../../../../src/tools/files/requests/searching";
import { Automaton } from "../../../../src/tools/files/search/automaton";
import { Program } from "../../../../src/tools/files/search/program";
import { parsePattern } from "../../../../src/tools/files/search/syntax";
import { Effort, type Steps } from "../../../../src/tools/files/steps";
import {
  type FileError,
  type FileSystemOptions,
  type FileSystemRef,
  spawnFileSystem,
} from "../../../../src/tools/index";
import { runs } from "../../../property/runs";
import { tmpdir } from "../tmpdir";
import { countTurns } from "../turns";
import { everyWay, openBelow, withFiles } from "../ways";

const root = mkdtempSync(join(tmpdir(), "envoi-search-"));
const system = createSystem({ name: "search" });
let count = 0;

afterAll(async () => {
  await system.shutdown();
  const open = openBelow(root);
  rmSync(root, { recursive: true, force: true });
  expect(open).toEqual([]);
});

type Match = Extract<SearchItem, { kind: "match" }>;
type End = Extract<SearchItem, { kind: "end" }>;
type Tree = Record<string, string | Uint8Array>;

/** A file actor over a directory with these files. */
function over(tree: Tree, options: Partial<FileSystemOptions> = {}): FileSystemRef & { readonly directory: string } {
  const directory = join(root, `tree-${count++}`);
  mkdirSync(directory);
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  const files = spawnFileSystem(system, { root: directory, name: `files-${count}`, ...options });
  return Object.assign(files, { directory });
}

/** All that a search gives: its matches, and its end or why there was none. */
async function search(files: FileSystemRef, request: SearchRequest) {
  const matches: Match[] = [];
  let end: End | undefined;
  let error: FileError | undefined;
  for await (const answer of files.stream("search", request)) {
    const told = answer;
    expect(end ?? error).toBeUndefined();
    if (!told.ok) error = told.error;
    else if (told.value.kind === "end") end = told.value;
    else if (told.value.kind === "match") matches.push(told.value);
  }
  return { matches, end, error };
}

const placesOf = (matches: readonly Match[]): string[] =>
  matches.map(({ path, line, column }) => `${path}:${line}:${column}`);

describe("a search", () => {
  test("gives each line that matches, with its place and itself, and then says what it looked at", async () => {
    const files = over({ "a.txt": "one\ntwo one\n", "b/c.txt": "no\r\nan one\r\n", "d.txt": "none at all" });
    const { matches, end } = await search(files, { text: "one" });
    expect(matches).toEqual([
      { kind: "match", path: "a.txt", line: 1, column: 1, excerpt: "one" },
      { kind: "match", path: "a.txt", line: 2, column: 5, excerpt: "two one" },
      { kind: "match", path: "b/c.txt", line: 2, column: 4, excerpt: "an one" },
      { kind: "match", path: "d.txt", line: 1, column: 2, excerpt: "none at all" },
    ]);
    expect(end).toEqual({ kind: "end", files: 3, skipped: 0, isCut: false });
  });

  test("goes through directories in the order of names, depth first", async () => {
    const files = over({ "b.txt": "x", "a/z.txt": "x", "a/b/c.txt": "x", "c.txt": "x", "a.txt": "x" });
    const { matches } = await search(files, { text: "x" });
    expect(matches.map(({ path }) => path)).toEqual(["a/b/c.txt", "a/z.txt", "a.txt", "b.txt", "c.txt"]);
  });

  test("looks into one directory, or one file", async () => {
    const files = over({ "src/a.ts": "x", "src/in/b.ts": "x", "other/c.ts": "x" });
    expect(placesOf((await search(files, { text: "x", path: "src" })).matches)).toEqual([
      "src/a.ts:1:1",
      "src/in/b.ts:1:1",
    ]);
    expect(placesOf((await search(files, { text: "x", path: "src/a.ts" })).matches)).toEqual(["src/a.ts:1:1"]);
  });

  test("looks only at files whose path below the directory matches a glob", async () => {
    const files = over({ "src/a.ts": "x", "src/b.js": "x", "src/in/c.ts": "x" });
    const found = async (request: SearchRequest) => placesOf((await search(files, request)).matches);
    expect(await found({ text: "x", glob: "**/*.ts" })).toEqual(["src/a.ts:1:1", "src/in/c.ts:1:1"]);
    expect(await found({ text: "x", glob: "*.ts", path: "src" })).toEqual(["src/a.ts:1:1"]);
  });

  test("takes a text as it is, and letters of either case with ignoreCase", async () => {
    const files = over({ "a.txt": "a.c\nabc\nA.C\nÄ.c\nä.C\n" });
    const lines = async (request: SearchRequest) => (await search(files, request)).matches.map(({ line }) => line);
    expect(await lines({ text: "a.c" })).toEqual([1]);
    expect(await lines({ text: "a.c", ignoreCase: true })).toEqual([1, 3]);
    expect(await lines({ text: "ä.c", ignoreCase: true })).toEqual([4, 5]);
    expect(await lines({ pattern: "(?i)a[.]C" })).toEqual([1, 3]);
  });

  test("finds a text of several lines where it begins", async () => {
    const files = over({ "a.txt": "x\ny\nx\nz\nx\ny\n" });
    expect(placesOf((await search(files, { text: "x\ny" })).matches)).toEqual(["a.txt:1:1", "a.txt:5:1"]);
    expect(placesOf((await search(files, { text: "\nz" })).matches)).toEqual(["a.txt:3:2"]);
  });

  test("finds a text wherever it is in a large file", async () => {
    for (const size of [65_536, 131_072, 196_608]) {
      const files = over({ "a.txt": `${"-".repeat(size - 3)}needle` });
      expect(placesOf((await search(files, { text: "needle" })).matches)).toEqual([`a.txt:1:${size - 2}`]);
    }
  });

  test("counts columns as JavaScript counts letters", async () => {
    const files = over({ "a.txt": "😀é x" });
    expect(placesOf((await search(files, { text: "x" })).matches)).toEqual(["a.txt:1:5"]);
    expect(placesOf((await search(files, { pattern: "x$" })).matches)).toEqual(["a.txt:1:5"]);
  });

  test("shows 200 letters of a long line around the match", async () => {
    const long = `${"😀a".repeat(5_000)}here${"b😀".repeat(5_000)}`;
    const files = over({ "a.txt": long, "b.txt": `here${"c".repeat(1_000)}`, "c.txt": `${"d".repeat(1_000)}here` });
    const { matches } = await search(files, { text: "here" });
    expect(matches.map(({ column }) => column)).toEqual([15_001, 1, 1_001]);
    for (const { excerpt, path } of matches) {
      expect(excerpt.isWellFormed()).toBe(true);
      expect(excerpt).toContain("here");
      expect(excerpt.length).toBeGreaterThan(190);
      expect(excerpt.length).toBeLessThanOrEqual(200);
      if (path === "a.txt") expect(long).toContain(excerpt);
    }
  });

  test("skips and counts what is no text, too large, or has another name", async () => {
    const files = over(
      {
        "nul.bin": "x\0",
        "late-nul.txt": `${"x".repeat(9_000)}\0`,
        "latin.txt": Uint8Array.of(0x78, 0xe9),
        "large.txt": "x".repeat(20_001),
        "a.txt": "x",
        "hard.txt": "x",
      },
      { maxReadBytes: 20_000 },
    );
    linkSync(join(files.directory, "hard.txt"), join(root, `hard-${count}`));
    const { matches, end } = await search(files, { text: "x" });
    expect(matches.map(({ path }) => path)).toEqual(["a.txt", "late-nul.txt"]);
    expect(end).toEqual({ kind: "end", files: 2, skipped: 4, isCut: false });
  });

  test("searches files with another name where the actor serves them", async () => {
    const files = over({ "hard.txt": "x" }, { hardLinks: true });
    linkSync(join(files.directory, "hard.txt"), join(root, `hard-${count}`));
    expect((await search(files, { text: "x" })).matches.length).toBe(1);
  });

  test("follows no link, and does not wait for a FIFO", async () => {
    const files = over({ "a.txt": "x", "../outside/secret.txt": "x" });
    symlinkSync("../outside", join(files.directory, "link"));
    symlinkSync("a.txt", join(files.directory, "link.txt"));
    Bun.spawnSync(["mkfifo", join(files.directory, "fifo")]);
    expect((await search(files, { text: "x" })).matches.map(({ path }) => path)).toEqual(["a.txt"]);
    for (const path of ["link", "link.txt", "link/secret.txt"]) {
      expect((await search(files, { text: "x", path })).error?.kind).toMatch(/denied|not-a-directory/);
    }
  });

  test("sees only what the actor's globs leave open, and never where new files are written", async () => {
    const tree = {
      "a.ts": "x",
      "b.js": "x",
      ".env": "x",
      "secret/c.ts": "x",
      ".envoi/d.ts": "x",
      "in/.envoi/e.ts": "x",
    };
    const files = over(tree, { allow: ["**/*.ts", "**/.env"], deny: ["**/.env", "secret"] });
    expect((await search(files, { text: "x" })).matches.map(({ path }) => path)).toEqual(["a.ts", "in/.envoi/e.ts"]);
    for (const path of ["secret", "secret/c.ts", ".env", ".envoi", ".envoi/d.ts", "b.js"]) {
      expect((await search(files, { text: "x", path })).error?.kind).toBe("denied");
    }
  });

  test("ends at its most results, and says so", async () => {
    const files = over({ "a.txt": "x\n".repeat(5), "b.txt": "x\n".repeat(20_000) });
    const { matches, end } = await search(files, { text: "x", maxResults: 7 });
    expect(placesOf(matches).at(-1)).toBe("b.txt:2:1");
    expect(matches.length).toBe(7);
    expect(end).toEqual({ kind: "end", files: 2, skipped: 0, isCut: true });
    expect((await search(files, { text: "x", path: "a.txt", maxResults: 5 })).end?.isCut).toBe(false);
    expect((await search(files, { text: "x" })).matches.length).toBe(1_000);
    expect((await search(files, { text: "x", maxResults: 50_000 })).matches.length).toBe(10_000);
  });

  test("ends at the most names that the actor looks at, and says so", async () => {
    const tree = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`d${i % 3}/f${i}.txt`, "x"]));
    const { matches, end } = await search(over(tree, { maxEntries: 12 }), { text: "x" });
    expect(matches.length).toBe(9);
    expect(end?.isCut).toBe(true);
    expect((await search(over(tree, { maxEntries: 33 }), { text: "x" })).end).toEqual({
      kind: "end",
      files: 30,
      skipped: 0,
      isCut: false,
    });
  });

  test("of what is not there is refused", async () => {
    const files = over({ "a.txt": "x" });
    expect((await search(files, { text: "x", path: "missing" })).error?.kind).toBe("not-found");
    expect((await search(files, { text: "x", path: "a.txt/" })).error?.kind).toBe("not-a-directory");
    expect((await search(files, { text: "x", path: "../a" })).error?.kind).toBe("outside-root");
  });

  test("is for a text or for a pattern: both or neither is refused by its schema", async () => {
    const files = over({ "a.txt": "x" });
    for (const request of [{ text: "x", pattern: "x" }, {}, { text: "" }, { pattern: "" }]) {
      const refused = await search(files, request).catch((thrown) => thrown.error);
      expect(refused).toMatchObject({ kind: "invalid-payload" });
      if (!("text" in request && request.text === "")) expect(refused.message).toMatch(/text|pattern/);
    }
    expect((await search(files, { text: "\ud800" })).error?.kind).toBe("denied");
    expect((await search(files, { text: "a\nb", ignoreCase: true })).error?.message).toContain("one line");
  });

  test("that is broken off closes what it has open", async () => {
    const files = over(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a/b/c/${i}.txt`, "x\n".repeat(50)])));
    for await (const item of files.stream("search", { text: "x" })) {
      expect(item.ok).toBe(true);
      break;
    }
    await files.ask("inspect");
    while (openBelow(join(files.directory, "a")).length > 0) await new Promise(setImmediate);
  });

  test.each(everyWay)("gives the same by way of %s", async (way) => {
    await withFiles(way, async ({ files, disk, directory }) => {
      disk.mkdirSync(join(directory, "in"));
      disk.writeFileSync(join(directory, "in", "a.txt"), "one\ntwo\n");
      disk.writeFileSync(join(directory, "b.txt"), `${"-\n".repeat(200_000)}two\n`);
      const { matches, end } = await search(files, { text: "two" });
      expect(placesOf(matches)).toEqual(["b.txt:200001:1", "in/a.txt:2:1"]);
      expect(end).toEqual({ kind: "end", files: 2, skipped: 0, isCut: false });
    });
  });
});

describe("a pattern", () => {
  test.each([
    ["one|two", ["one", "a two"], ["tw", ""]],
    ["^fn\\s+(\\w+)\\(.*\\)$", ["fn main()", "fn  a(b, c)"], ["fn main() {", " fn main()"]],
    ["\\bcat\\b", ["a cat.", "cat"], ["concatenate", "cats"]],
    ["\\Bcat\\B", ["concatenate"], ["cat", "cats"]],
    ["a{2,3}b", ["aab", "aaaab"], ["ab"]],
    ["^a{2}$", ["aa"], ["a", "aaa"]],
    ["^(a|b)*c{0}$", ["", "abba"], ["abc"]],
    ["colou?r", ["color", "colour"], ["colouur"]],
    ["[^a-z]", ["A", "é"], ["abc"]],
    ["[]-]x?", [], ["]", "-"]],
    ["[\\]\\-]", ["]", "-"], ["a"]],
    ["\\u{1F600}|\\xe9|\\u0041", ["😀", "é", "A"], ["a"]],
    ["\\p{Lu}\\p{Script=Greek}", ["Aλ"], ["aλ", "AA"]],
    ["function foo() {", [], ["function foo() {"]],
    ["foo\\(\\) {", ["foo() {"], ["foo()"]],
    ["(?<name>a)(?:b)", ["ab"], ["a"]],
    ["a.c", ["abc", "a😀c"], ["ac", "abbc"]],
    ["x*", ["", "y", "x"], []],
    ["a+?b*?c??d", ["ad", "aabbcd"], ["d"]],
  ] as [string, string[], string[]][])("%s is what it is in JavaScript", async (pattern, matching, others) => {
    const lines = [...matching, ...others];
    const { matches } = await search(over({ "a.txt": `${lines.join("\n")}\n` }), { pattern });
    expect(matches.map(({ excerpt }) => excerpt)).toEqual(matching);
  });

  test.each([
    ["a(b", "letter 2, this group is not closed"],
    ["a)b", "letter 2, this parenthesis closes nothing"],
    ["[ab", "letter 1, this class is not closed"],
    ["*a", "letter 1, there is nothing to repeat"],
    ["a**", "letter 3, this repeats what is repeated already"],
    ["a{3,2}", "letter 2, the counts are in the wrong order"],
    ["[b-a]", "letter 3, a range goes from the lower letter"],
    ["[\\d-x]", "a range goes from a letter to a letter"],
    ["(a)\\1", "references to groups are not supported"],
    ["a(?=b)", "letter 2, looking ahead or behind is not supported"],
    ["(?<!b)", "looking ahead or behind"],
    ["\\q", "\\q means nothing here"],
    ["\\p{Nope}", "no such property"],
    ["\\u{110000}", "no such letter"],
    ["a\\", "a backslash ends it"],
    ["^*", "a place between letters is not repeated"],
    ["[[:alpha:]]", "no classes by name"],
    ["(?x)a", "no such kind of group"],
    ["a{1000}{1000}", "repeats what is repeated"],
    ["(?:a{1000}){1000}", "too complex"],
    ["((((((){1000}){1000}){1000}){1000}){1000}){1000}", "too complex"],
    ["a{99999999999999}", "too complex"],
    ["a".repeat(2_001), "more than 2000 letters"],
  ])("%s is refused, with the place and the reason", async (pattern, reason) => {
    const { error, matches } = await search(over({ "a.txt": "a" }), { pattern });
    expect(matches).toEqual([]);
    expect(error?.kind).toBe("denied");
    expect(error?.message).toContain(reason);
  });

  test("matches a file of one line of 1 MB, with pauses", async () => {
    const files = over({ "a.txt": `${"ab ".repeat(350_000)}abc` });
    const turns = countTurns();
    const { matches } = await search(files, { pattern: "[a-c]{3}" });
    expect(turns.end()).toBeGreaterThan(20);
    expect(placesOf(matches)).toEqual(["a.txt:1:1050001"]);
  });

  test.each([
    ["(a+)+$", `${"a".repeat(400_000)}!`, 4, 0],
    ["(a|a)*[bB]", "a".repeat(400_000), 4, 0],
    ["(.*a){20}", `${"ab".repeat(20_000)}\n${"b".repeat(400_000)}`, 200, 1],
    ["(a|b)*a(a|b){14}[cd]", randomLetters(400_000), 20, 0],
    ["(x+x+)+[yz]", "x".repeat(400_000), 4, 0],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(400_000), 4, 0],
    // Every letter leads to a state that was not there before: more of them than are kept.
    ["(a|b)*a(a|b){100}[cd]", `${randomLetters(30_000)}a${"b".repeat(100)}c`, 100, 1],
  ] as [string, string, number, number][])(
    "%s hangs nothing, whatever the text",
    async (pattern, text, pauses, found) => {
      const files = over({ "a.txt": text });
      const turns = countTurns();
      const { matches, end } = await search(files, { pattern });
      expect(turns.end()).toBeGreaterThan(pauses);
      expect(matches.length).toBe(found);
      expect(end?.files).toBe(1);
    },
  );

  test("is found where the engine's own gives up, and tells no match", async () => {
    const files = over({ "a.txt": `${"a".repeat(40)}b` });
    const { matches } = await search(files, { pattern: "(a+)+$|b" });
    expect(placesOf(matches)).toEqual(["a.txt:1:41"]);
  });

  test("may tell many letters apart, of every script", async () => {
    const letters = [...Array.from({ length: 26 }, (_, i) => String.fromCharCode(97 + i)), "é", "λ", "字", "😀"];
    const files = over({ "a.txt": letters.map((letter) => `${letter}${letter}\n`).join("") });
    const { matches } = await search(files, { pattern: letters.map((letter) => `${letter}$`).join("|") });
    expect(matches.map(({ line, column, excerpt }) => [line, column, excerpt])).toEqual(
      letters.map((letter, i) => [i + 1, letter.length + 1, letter + letter]),
    );
  });

  test("goes into directories however deep they are, with few of them open", async () => {
    const path = `${"d/".repeat(1_500)}a.txt`;
    const files = over({ [path]: "x", "b.txt": "x" });
    const found: string[] = [];
    for await (const item of files.stream("search", { text: "x" })) {
      if (!item.ok || item.value.kind === "end") continue;
      found.push(item.value.path);
      expect(openBelow(files.directory).length).toBeLessThan(8);
    }
    expect(found).toEqual(["b.txt", path]);
  });

  test("gives up when its asker does", async () => {
    const files = over({ "a.txt": randomLetters(1_000_000) });
    const stop = new AbortController();
    const reading = (async () => {
      for await (const _ of files.stream("search", { pattern: "(a|b)*a(a|b){200}[cd]" }, { signal: stop.signal }));
    })();
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    stop.abort();
    expect(await reading.catch(() => "cancelled")).toBe("cancelled");
    // A file is open, or is read, no more: the search would take minutes.
    await system.stop(files);
  });
});

function randomLetters(length: number): string {
  let seed = 7;
  return Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed & 0x10000 ? "a" : "b";
  }).join("");
}

/** The lines of a text as a search counts them. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, i) => (i < lines.length - 1 || text.endsWith("\n") ? line.replace(/\r$/, "") : line));
}

const letters = fc.constantFrom("a", "b", "A", " ", "\n", "\r\n", "é", "😀", "_", "1", "-", "ſ", "K");

test("a search for a text agrees with a plain model, over any tree", async () => {
  const name = fc.constantFrom("a", "b", "c.txt", "d");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `${names.join("/")}.txt`);
  const tree = fc.dictionary(path, fc.string({ unit: letters, maxLength: 40 }), { maxKeys: 6 });
  const text = fc.string({ unit: letters, minLength: 1, maxLength: 2 }).filter((wanted) => !/[\r\n]/.test(wanted));
  await fc.assert(
    fc.asyncProperty(tree, text, async (tree, text) => {
      const files = over(tree);
      const { matches, end } = await search(files, { text });
      const expected = Object.keys(tree)
        .sort((a, b) => comparePaths(a.split("/"), b.split("/")))
        .flatMap((path) =>
          linesOf(tree[path] ?? "").flatMap((excerpt, i) => {
            const at = excerpt.indexOf(text);
            return at < 0 ? [] : [{ kind: "match" as const, path, line: i + 1, column: at + 1, excerpt }];
          }),
        );
      expect(matches).toEqual(expected);
      expect(end?.files).toBe(Object.keys(tree).length);
      rmSync(files.directory, { recursive: true });
    }),
    { numRuns: 100 },
  );
});

function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; ; i++) {
    const [x, y] = [a[i], b[i]];
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? -1 : 1;
    if (x !== y) return x < y ? -1 : 1;
  }
}

test("a search for a pattern agrees with the native one, over any text", async () => {
  const single = fc.constantFrom(
    "a",
    "b",
    "A",
    "é",
    "😀",
    ".",
    "\\w",
    "\\W",
    "\\s",
    "\\d",
    "[ab]",
    "[^a]",
    "[a-z_]",
    "-",
    "k",
    "s",
  );
  const place = fc.constantFrom("^", "$", "\\b", "\\B");
  const count = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "+?");
  const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
    pattern: fc
      .array(fc.array(tie("part"), { minLength: 0, maxLength: 4 }), { minLength: 1, maxLength: 3 })
      .map((choices) => choices.map((parts) => parts.join("")).join("|")),
    part: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      fc.tuple(single, count).map(([each, times]) => each + times),
      place,
      fc.tuple(tie("pattern"), count).map(([inside, times]) => `(${inside})${times}`),
    ),
  }));
  // Not more: the native one goes back and forth in repeated groups, on eight letters for half a minute, and on a line of a
  // file for ever. With more than two of them in a pattern, five letters have to do.
  const text = fc.string({ unit: letters, maxLength: 8 });
  const isLong = (pattern: string): boolean => (pattern.match(/\)[*+{]/g) ?? []).length > 2;
  const files = over({});
  await fc.assert(
    fc.asyncProperty(pattern, text, fc.boolean(), async (pattern, drawn, ignoreCase) => {
      fc.pre(pattern !== "");
      const text = isLong(pattern) ? [...drawn].slice(0, 5).join("") : drawn;
      writeFileSync(join(files.directory, "a.txt"), text);
      const native = new RegExp(pattern, ignoreCase ? "iu" : "u");
      const expected = linesOf(text).flatMap((excerpt, i) => {
        const at = excerpt.search(native);
        return at < 0 ? [] : [{ kind: "match" as const, path: "a.txt", line: i + 1, column: at + 1, excerpt }];
      });
      const { matches, error } = await search(files, { pattern, ignoreCase });
      fc.pre(error?.message.includes("too complex") !== true);
      expect(error).toBeUndefined();
      expect(matches).toEqual(expected);
      // And the same where hardly a state is kept.
      const automaton = new Automaton(new Program(parsePattern(pattern, ignoreCase)), 64);
      expect(linesFound(automaton, Buffer.from(text))).toEqual(expected.map(({ line }) => line));
    }),
    runs(300),
  );
});

function linesFound(automaton: Automaton, bytes: Buffer): number[] {
  const effort = new Effort();
  const lines: number[] = [];
  for (let from = 0; from < bytes.length; ) {
    const start = finish(automaton.find(bytes, from, bytes.length, effort));
    if (start < 0) break;
    lines.push(bytes.subarray(0, start).filter((byte) => byte === 10).length + 1);
    const end = bytes.indexOf(10, start);
    from = end < 0 ? bytes.length : end + 1;
  }
  return lines;
}

function finish<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
