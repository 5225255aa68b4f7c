import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { createSystem, systemClock } from "../../../../src";
import { type FileSystemRef, resultOf, spawnFileSystem } from "../../../../src/tools";
import type { ListRequest } from "../../../../src/tools/files/requests/reading";
import { list as listNow } from "../../../../src/tools/files/tree/list";
import { SortedNames } from "../../../../src/tools/files/tree/sorted-names";
import { differences } from "../../../differences";
import { runs } from "../../../property/runs";
import { intercept, lasting, workspaceOver } from "../over-root";
import { tmpdir } from "../tmpdir";
import { type Disk, everyWay, rootWays, ways, withFiles, withRoot } from "../ways";

async function list(files: FileSystemRef, request: ListRequest = {}) {
  return resultOf(await files.ask("list", request))._unsafeUnwrap();
}

const paths = async (files: FileSystemRef, request: ListRequest = {}) =>
  (await list(files, request)).entries.map(({ path }) => path);

async function refusal(files: FileSystemRef, request: ListRequest) {
  return resultOf(await files.ask("list", request))._unsafeUnwrapErr();
}

/** All pages, one after the other; `between` is what happens meanwhile. */
async function pages(files: FileSystemRef, request: ListRequest, between: () => void = () => {}) {
  const all: string[] = [];
  for (let cursor: string | undefined; ; between()) {
    const page = await list(files, { ...request, ...(cursor !== undefined && { cursor }) });
    all.push(...page.entries.map(({ path }) => path));
    if (page.cursor === undefined) return all;
    expect(page.entries.length).toBe(request.limit ?? 10_000);
    ({ cursor } = page);
  }
}

function put(disk: Disk, directory: string, path: string): void {
  disk.mkdirSync(dirname(join(directory, path)), { recursive: true });
  disk.writeFileSync(join(directory, path), "x");
}

/** The order of lists: name by name, and a directory before what is in it. */
function byNames(a: string, b: string): number {
  const [left, right] = [a.split("/"), b.split("/")];
  for (let i = 0; ; i++) {
    const [x, y] = [left[i], right[i]];
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? -1 : 1;
    if (x !== y) return x < y ? -1 : 1;
  }
}

describe.each(everyWay)("list, by %s", (way) => {
  test("gives names in their order with their kinds, and never what is staged", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      for (const name of ["b", "a-b", "a.txt", "B", "é", "a/in it"]) put(disk, directory, name);
      disk.symlinkSync("/etc", join(directory, "link"));
      resultOf(await files.ask("write", { path: "c", content: "" }))._unsafeUnwrap();
      const all = [
        { path: "B", kind: "file" },
        { path: "a", kind: "directory" },
        { path: "a-b", kind: "file" },
        { path: "a.txt", kind: "file" },
        { path: "b", kind: "file" },
        { path: "c", kind: "file" },
        { path: "link", kind: "link" },
        { path: "é", kind: "file" },
      ];
      expect(await list(files)).toEqual({ entries: all } as never);
      expect(await paths(files, { path: "a" })).toEqual(["a/in it"]); // As a read takes it.
      expect(await paths(files, { recursive: true })).toEqual(
        all.flatMap(({ path }) => (path === "a" ? ["a", "a/in it"] : [path])),
      );
    }));

  test("tells size and time where details are asked for", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "sub/a");
      disk.writeFileSync(join(directory, "b"), "four");
      disk.symlinkSync("b", join(directory, "link"));
      const { entries } = await list(files, { details: true, recursive: true });
      expect(entries.map(({ path, kind, size }) => [path, kind, size])).toEqual([
        ["b", "file", 4],
        ["link", "link", undefined],
        ["sub", "directory", undefined],
        ["sub/a", "file", 1],
      ]);
      for (const { modified } of entries) expect(modified).toBeGreaterThan(Date.UTC(2020));
      expect((await list(files)).entries[0]).toEqual({ path: "b", kind: "file" });
    }));

  test("gives what matches a glob, wherever it is", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      for (const path of ["a.ts", "b.md", "src/c.ts", "src/d.md", "src/deep/e.ts", "x.ts/f"])
        put(disk, directory, path);
      expect(await paths(files, { glob: "*.ts" })).toEqual(["a.ts", "x.ts"]);
      expect(await paths(files, { recursive: true, glob: "**/*.ts" })).toEqual([
        "a.ts",
        "src/c.ts",
        "src/deep/e.ts",
        "x.ts",
      ]);
      expect(await paths(files, { path: "src", recursive: true, glob: "*.md" })).toEqual(["src/d.md"]);
      expect(await pages(files, { recursive: true, glob: "**/*.ts", limit: 1 })).toHaveLength(4);
    }));

  test("shows nothing that the globs close", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        for (const path of ["a.ts", "b.md", "src/c.ts", "src/.env", "secret/d.ts", "Secret/e.ts"]) {
          put(disk, directory, path);
        }
        disk.symlinkSync("b.md", join(directory, "link"));
        expect(await paths(files, { recursive: true })).toEqual(["a.ts", "src", "src/c.ts"]);
        expect((await refusal(files, { path: "secret" })).kind).toBe("denied");
        expect((await refusal(files, { path: ".envoi" })).kind).toBe("denied");
      },
      { allow: ["**/*.ts"], deny: ["secret", "**/.env"] },
    ));

  test("shows and serves where files are staged by no other case of its name, and no Unicode form", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      // A file system that does not tell them apart has one of these, and gives it for all.
      const names = [".ENVOI", ".Envoi", ".env\u00ADoi", "\u200B.envoi"];
      for (const name of names) put(disk, directory, `${name}/a`);
      for (const path of [".envoi2/a", "sub/.ENVOI/a"]) put(disk, directory, path);
      expect(await paths(files, { recursive: true })).toEqual([
        ".envoi2",
        ".envoi2/a",
        "sub",
        "sub/.ENVOI",
        "sub/.ENVOI/a",
      ]);
      for (const name of names) {
        expect((await refusal(files, { path: name })).kind).toBe("denied");
        for (const path of [name, `${name}/a`]) {
          expect(resultOf(await files.ask("delete", { path, recursive: true }))._unsafeUnwrapErr().kind).toBe("denied");
        }
      }
    }));

  test("follows no link, and says what cannot be listed", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "real/a");
      disk.symlinkSync("real", join(directory, "link"));
      expect(await paths(files, { recursive: true })).toEqual(["link", "real", "real/a"]);
      for (const [path, kind] of [
        ["link", "denied"],
        ["link/", "denied"],
        ["none", "not-found"],
        ["real/a", "not-a-directory"],
        ["../x", "outside-root"],
      ] as const) {
        expect(await refusal(files, { path })).toMatchObject({ kind, path });
      }
    }));

  test("pages are what one list would be, whatever is made and deleted between them", () =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.array(fc.constantFrom("a", "b", "a-b", "ab", "é", "0"), { minLength: 1, maxLength: 4 }), {
          selector: (names) => names.join("/"),
          maxLength: 30,
        }),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        (trees, limit, recursive) =>
          withFiles(way, async ({ files, directory, disk }) => {
            for (const names of trees) disk.mkdirSync(join(directory, ...names), { recursive: true });
            const every = trees.flatMap((names) => names.map((_, i) => names.slice(0, i + 1).join("/")));
            const model = [...new Set(every)].filter((path) => recursive || !path.includes("/")).sort(byNames);
            expect(await paths(files, { recursive })).toEqual(model);
            expect(await pages(files, { recursive, limit })).toEqual(model);
            let count = 0;
            const during = await pages(files, { recursive, limit }, () => {
              // Names after which, and before which, those of the model are.
              put(disk, directory, `A${count}`);
              put(disk, directory, `z${count++}/z`);
              disk.rmSync(join(directory, model[0] ?? ""), { recursive: true, force: true });
            });
            const lost = new Set(model.filter((path) => path === model[0] || path.startsWith(`${model[0]}/`)));
            const kept = during.filter((path) => !/^[Az]\d/.test(path));
            expect(kept.filter((path) => !lost.has(path))).toEqual(model.filter((path) => !lost.has(path)));
            expect(during).toEqual([...during].sort(byNames));
          }),
      ),
      runs(10),
    ));

  test("a page has at most the actor's entries, and a cursor or a glob from anywhere does no harm", () =>
    withFiles(
      way,
      async ({ files, directory, disk }) => {
        for (const name of ["a", "b", "c", "d", "e"]) put(disk, directory, name);
        expect(await list(files)).toMatchObject({ cursor: "c" });
        expect(await paths(files, { limit: 100 })).toEqual(["a", "b", "c"]);
        expect(await list(files, { limit: 5, cursor: "c" })).not.toHaveProperty("cursor");
        expect(await paths(files, { cursor: "../../etc" })).toEqual(["a", "b", "c"]);
        expect(await paths(files, { cursor: "bb/\0" })).toEqual(["c", "d", "e"]);
        for (const cursor of ["", "\uD800", "x".repeat(5_000)]) {
          expect((await refusal(files, { path: "", cursor })).kind).toBe("invalid-path");
        }
        for (const glob of ["", "/a", "./a", "a/", "[a", "a\\", "x".repeat(2_000)]) {
          expect((await refusal(files, { glob })).kind).toBe("invalid-path");
        }
        for (const wrong of [{ limit: 0 }, { limit: Number.NaN }, { cursor: 7 }, { cursor: null }, { glob: 7 }]) {
          expect((await refusal(files, wrong as ListRequest)).kind).toBe("invalid-payload");
        }
      },
      { maxEntries: 3 },
    ));

  test("directories that are gone through in several goes are given once", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      for (let i = 0; i < 1_200; i++) disk.mkdirSync(join(directory, `d${String(i).padStart(4, "0")}`));
      // So little is wanted that 1,024 names are kept, and the last of them is one that matches.
      const matching = await paths(files, { recursive: true, glob: "d10*", limit: 300 });
      expect(matching).toEqual(Array.from({ length: 100 }, (_, i) => `d10${String(i).padStart(2, "0")}`));
    }));

  test("a large directory is listed whole, and page by page", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      const names = Array.from({ length: 5_000 }, (_, i) => `file-${(i * 7_919) % 5_000}`);
      for (const name of names) disk.writeFileSync(join(directory, name), "");
      for (let i = 0; i < 5_000; i += 100) disk.mkdirSync(join(directory, `directory-${i}`));
      const model = [...names, ...Array.from({ length: 50 }, (_, i) => `directory-${i * 100}`)].sort();
      const { entries } = await list(files);
      expect(
        differences(
          entries.map(({ path }) => path),
          model,
        ),
      ).toEqual([]);
      expect(entries.filter(({ kind }) => kind === "directory")).toHaveLength(50);
      expect(differences(await pages(files, { limit: 997, recursive: true }), model)).toEqual([]);
      // Nothing but what comes last matches, so the directory is gone through in several goes.
      expect(await paths(files, { limit: 3, recursive: true, glob: "file-999*" })).toEqual(["file-999"]);
    }));
});

describe.each(ways)("list on a disk, by %s", (way) => {
  test("leaves out and counts names that no path can say", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      put(disk, directory, "a");
      for (const bytes of [
        [0xff, 0x61],
        [0xed, 0xa0, 0x80],
      ]) {
        writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(bytes)]), "");
      }
      expect(await list(files)).toEqual({ entries: [{ path: "a", kind: "file" }], leftOut: 2 });
      for (const name of ["b", "c", "d/e"]) put(disk, directory, name);
      for (const recursive of [true, false]) {
        let leftOut = 0;
        for (let cursor: string | undefined; ; ) {
          const page = await list(files, { limit: 1, recursive, ...(cursor !== undefined && { cursor }) });
          leftOut += page.leftOut ?? 0;
          cursor = page.cursor;
          if (cursor === undefined) break;
        }
        expect({ recursive, leftOut }).toEqual({ recursive, leftOut: 2 }); // However many pages there are.
      }
      for (const name of ["b", "c", "d"]) disk.rmSync(join(directory, name), { recursive: true });
      put(disk, directory, "\uFFFDa"); // Is text, though it looks like what is not.
      expect(await paths(files)).toEqual(["a", "\uFFFDa"]);
    }));
});

describe.each(rootWays)("list where the disk tells no kinds, by %s", (way) => {
  test("looks them up", () =>
    withRoot(way, async (root, directory, disk) => {
      for (const path of ["sub/a", "b"]) put(disk, directory, path);
      const blind = intercept(root, {
        entries: (at, each) => root.entries(at, (name) => each(name, undefined)),
      });
      expect(await listNow(workspaceOver(blind), { recursive: true }, lasting)).toEqual({
        entries: [
          { path: "b", kind: "file" },
          { path: "sub", kind: "directory" },
          { path: "sub/a", kind: "file" },
        ],
      });
    }));
});

test("10,000 entries are listed in steps, between which others come first; and a few at once", async () => {
  const directory = mkdtempSync(join(tmpdir(), "envoi-list-"));
  let pauses = 0;
  let time = 0;
  // Each look at the clock finds that a turn is over.
  const clock = {
    ...systemClock,
    monotonicTime: () => ++time,
    macrotask: (callback: () => void) => {
      pauses++;
      systemClock.macrotask(callback);
    },
  };
  try {
    mkdirSync(join(directory, "few"));
    mkdirSync(join(directory, "many"));
    for (let i = 0; i < 10_000; i++) writeFileSync(join(directory, "many", `file-${(i * 7_919) % 10_000}`), "");
    await using system = createSystem({ clock });
    const files = spawnFileSystem(system, { root: directory });
    expect(await paths(files, { path: "few" })).toEqual([]);
    const few = pauses;
    expect(few).toBeLessThan(5);
    expect((await paths(files, { path: "many" })).length).toBe(10_000);
    expect(pauses - few).toBeGreaterThan(60); // 11 times names, 40 times entries, and the sorting.
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("sorted names keep the first ones of however many, and say that there are more", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 99_999 }).map(String), { maxLength: 300 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 0, max: 99_999 }).map(String),
      (some, most, from) => {
        const names = new SortedNames({ from, most, admits: (name) => !name.endsWith("7") });
        const kind = (name: string) => (name.endsWith("1") ? "directory" : "file");
        const all = new Set([...some, ...Array.from({ length: 40_000 }, (_, i) => String((i * 7_919) % 99_991))]);
        let count = 0;
        for (const name of all) {
          names.add(name, kind(name));
          if (++count % 500 === 0 && names.endBatch()) names.settleNow();
        }
        names.settleNow();
        const model = [...all].filter((name) => name >= from && !name.endsWith("7")).sort();
        expect(names.sorted).toEqual(model.slice(0, most));
        expect(names.isCut).toBe(model.length > most);
        for (const name of names.sorted) expect(names.kindOf(name)).toBe(kind(name));
      },
    ),
    runs(5),
  );
});
