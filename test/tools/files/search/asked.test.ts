import { describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { type FileSystemOptions, type FileSystemRef, itemsOf, type SearchRequest } from "../../../../src/tools/index";
import { type Disk, everyWay, type Way, withFiles } from "../ways";

type Tree = Record<string, string>;

/** Runs a test with an actor over these files. */
const over = <Value>(
  way: Way,
  tree: Tree,
  work: (files: FileSystemRef, disk: Disk, directory: string) => Promise<Value>,
  options: Partial<Omit<FileSystemOptions, "root" | "volume" | "resolution">> = {},
): Promise<Value> =>
  withFiles(
    way,
    async ({ files, disk, directory }) => {
      for (const [path, content] of Object.entries(tree)) {
        disk.mkdirSync(dirname(join(directory, path)), { recursive: true });
        disk.writeFileSync(join(directory, path), content);
      }
      return await work(files, disk, directory);
    },
    options,
  );

/** The items of a search, without its end. */
async function found(files: FileSystemRef, request: SearchRequest) {
  const items = await Array.fromAsync(itemsOf(files.stream("search", request)));
  return items.filter((item) => item.kind !== "end");
}

/** The files in which a search finds anything. */
const pathsOf = async (files: FileSystemRef, request: SearchRequest): Promise<string[]> =>
  (await found(files, { ...request, output: "files" })).map(({ path }) => path);

describe.each(everyWay)("what a search is asked for, by %s", (way) => {
  test("lines around a match come with it, as many as there are, and cut as excerpts are", () =>
    over(way, { "a.txt": `1\r\n${"y".repeat(300)}\n3 x\n\n5\n6 x` }, async (files) => {
      expect(await found(files, { text: "x", before: 2, after: 1 })).toEqual([
        {
          kind: "match",
          path: "a.txt",
          line: 3,
          column: 3,
          excerpt: "3 x",
          before: ["1", "y".repeat(200)],
          after: [""],
        },
        { kind: "match", path: "a.txt", line: 6, column: 3, excerpt: "6 x", before: ["", "5"], after: [] },
      ]);
      // The same by a pattern, which comes to its lines another way.
      expect(await found(files, { pattern: "[x]$", before: 1 })).toEqual([
        { kind: "match", path: "a.txt", line: 3, column: 3, excerpt: "3 x", before: ["y".repeat(200)] },
        { kind: "match", path: "a.txt", line: 6, column: 3, excerpt: "6 x", before: ["5"] },
      ]);
    }));

  test("more than 20 lines around a match, and more than 20 globs, are no search", () =>
    over(way, {}, async (files) => {
      for (const wrong of [{ before: 21 }, { after: -1 }, { glob: Array(21).fill("*") }, { exclude: [] }]) {
        const thrown = await found(files, { text: "x", ...wrong }).catch((error) => error.error.kind);
        expect(thrown).toBe("invalid-payload");
      }
      const refused = await found(files, { text: "x", exclude: ["ok", "{a"] }).catch((error) => error.kind);
      expect(refused).toBe("invalid-path");
    }));

  test("files alone, and how many lines of each match", () =>
    over(way, { "a.txt": "x\nx x\nno\nx", "b.txt": "no", "c/d.txt": "x" }, async (files) => {
      for (const request of [{ text: "x" }, { pattern: "[x]" }]) {
        expect(await found(files, { ...request, output: "files", maxResults: 2 })).toEqual([
          { kind: "file", path: "a.txt" },
          { kind: "file", path: "c/d.txt" },
        ]);
        expect(await found(files, { ...request, output: "counts", before: 3 })).toEqual([
          { kind: "count", path: "a.txt", lines: 3 },
          { kind: "count", path: "c/d.txt", lines: 1 },
        ]);
      }
      const items = await Array.fromAsync(
        itemsOf(files.stream("search", { text: "x", output: "counts", maxResults: 1 })),
      );
      expect(items).toEqual([
        { kind: "count", path: "a.txt", lines: 3 },
        { kind: "end", files: 3, skipped: 0, isCut: true },
      ]);
    }));

  test("several globs, and what is excluded with all below it", () => {
    const tree = { "src/a.ts": "x", "src/b.js": "x", "src/c.md": "x", "src/dist/d.ts": "x", "dist/e.ts": "x" };
    return over(way, tree, async (files) => {
      expect(await pathsOf(files, { text: "x", glob: ["**/*.ts", "**/*.js"] })).toEqual([
        "dist/e.ts",
        "src/a.ts",
        "src/b.js",
        "src/dist/d.ts",
      ]);
      expect(await pathsOf(files, { text: "x", exclude: "**/dist" })).toEqual(["src/a.ts", "src/b.js", "src/c.md"]);
      const both: SearchRequest = { text: "x", path: "src", glob: ["*.ts", "*.js"], exclude: ["b.*", "dist/**"] };
      expect(await pathsOf(files, both)).toEqual(["src/a.ts"]);
    });
  });

  test("deny and allow hold in every kind of output, with context and globs", () => {
    const tree = { "open.txt": "secret x", ".env": "x\nsecret x", "in/secret.txt": "x\nsecret x", "in/a.txt": "x" };
    const deny = ["**/.env", "in/secret.txt"];
    return over(
      way,
      tree,
      async (files) => {
        for (const output of ["lines", "files", "counts"] as const) {
          const items = await found(files, { text: "x", output, before: 20, after: 20, glob: ["**", ".env", "in/*"] });
          expect(items.map(({ path }) => path)).toEqual(["in/a.txt", "open.txt"]);
        }
      },
      { deny },
    );
  });
});

describe.each(everyWay)("gitignore: true, by %s", (way) => {
  const tree: Tree = {
    ".gitignore": "# built\n*.log\n/build/\nnode_modules\n!keep.log\n",
    ".git/config": "x",
    "a.log": "x",
    "keep.log": "x",
    "build/out.txt": "x",
    "src/build/in": "x",
    "src/node_modules/m.js": "x",
    "src/.gitignore": "!a.log\nbuild/*\n!build/in\ngen\n",
    "src/a.log": "x",
    "src/deep/a.log": "x",
    "src/deep/.gitignore": "a.log\n",
    "src/gen": "x",
  };
  const shown = ["keep.log", "src/a.log", "src/build/in"];

  test("a search leaves out what the files on the way ignore; the nearest one decides", () =>
    over(way, tree, async (files) => {
      expect(await pathsOf(files, { text: "x", gitignore: true })).toEqual(shown);
      expect(await pathsOf(files, { text: "x", gitignore: true, path: "src" })).toEqual(shown.slice(1));
      expect((await pathsOf(files, { text: "x" })).length).toBe(9);
    }));

  test("so does a list, in pages too", () =>
    over(way, tree, async (files) => {
      const listed: string[] = [];
      let cursor: string | undefined;
      do {
        const asked = { recursive: true, gitignore: true, limit: 2, ...(cursor !== undefined && { cursor }) };
        const page = (await files.ask("list", asked))._unsafeUnwrap();
        if (!page.ok) throw new Error(page.error.message);
        listed.push(...page.value.entries.flatMap(({ path, kind }) => (kind === "file" ? [path] : [])));
        cursor = page.value.cursor;
      } while (cursor !== undefined);
      expect(listed).toEqual([
        ".gitignore",
        "keep.log",
        "src/.gitignore",
        "src/a.log",
        "src/build/in",
        "src/deep/.gitignore",
      ]);
    }));

  test("no pattern shows what deny hides, and a file that deny hides ignores nothing", () =>
    over(
      way,
      {
        ".gitignore": "!secret\n!**/secret\nb\n",
        "secret/k": "x",
        "in/secret": "x",
        "in/.gitignore": "a\n",
        "in/a": "x",
        b: "x",
      },
      async (files) => {
        expect(await pathsOf(files, { text: "x", gitignore: true })).toEqual(["in/a"]);
      },
      { deny: ["**/secret", "in/.gitignore"] },
    ));

  test("a link in the place of the file ignores nothing; one that is too large, or of too many patterns, neither beyond its bound", () =>
    over(way, { "a/f": "x", "b/f": "x", "c/f": "x", rules: "f\n" }, async (files, disk, directory) => {
      disk.symlinkSync("../rules", join(directory, "a/.gitignore"));
      disk.writeFileSync(join(directory, "b/.gitignore"), `f\n${"#".repeat(64 * 1024)}`);
      disk.writeFileSync(join(directory, "c/.gitignore"), `${"g\n".repeat(1_000)}f\n`);
      expect(await pathsOf(files, { text: "x", gitignore: true, glob: "**/f" })).toEqual(["a/f", "b/f", "c/f"]);
      disk.writeFileSync(join(directory, "c/.gitignore"), `${"g\n".repeat(999)}f\n`);
      expect(await pathsOf(files, { text: "x", gitignore: true, glob: "**/f" })).toEqual(["a/f", "b/f"]);
    }));
});
