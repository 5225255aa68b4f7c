import { describe, expect, test } from "bun:test";
import { linkSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { byRealpath, createNaiveServer } from "./naive";
import { operations, perform } from "./operations";
import { attack, createYard, SECRET, ways } from "./yard";

const onFiles = operations.filter(({ needs, operation }) => needs === "file" && operation !== "beginWrite");
const more = operations.filter(({ name }) =>
  ["copy from", "search text", "search pattern", "copy to", "move to"].includes(name),
);

describe.each(ways)("hard links, by %s", (resolution) => {
  test.each([...onFiles, ...more])("$name: a file with a name outside is refused by default", async (operation) => {
    using yard = createYard();
    using shared = createYard();
    mkdirSync(join(yard.root, "d"));
    // The other yard's files are the target: linking changes their number of names, which the snapshot would tell.
    for (const name of ["l", "d/l"]) linkSync(join(shared.outside, "secret.txt"), join(yard.root, name));
    await attack(yard, { resolution }, async ({ files }) => {
      for (const path of ["l", "d/l"]) {
        const told = await perform(files, operation, path);
        expect(JSON.stringify(told)).not.toContain(SECRET);
        if (operation.operation === "search" && told.ok) continue; // It was passed over, and is counted as that.
        expect({ path, kind: told.ok ? "served" : told.error.kind }).toEqual({
          path,
          kind: expect.stringMatching(/^(denied|changed)$/),
        });
      }
    });
    expect(readFileSync(join(shared.outside, "secret.txt"), "utf8")).toBe(`${SECRET}\n`);
  });

  test.each(more.filter(({ operation }) => operation !== "move"))(
    "$name: in a directory, it is passed over",
    async (operation) => {
      using yard = createYard();
      using shared = createYard();
      mkdirSync(join(yard.root, "d"));
      linkSync(join(shared.outside, "secret.txt"), join(yard.root, "d/l"));
      await attack(yard, { resolution }, async ({ files }) => {
        const told = await perform(files, operation, operation.name === "copy to" ? "copied" : "d");
        expect(JSON.stringify(told)).not.toContain(SECRET);
        const list = await files.ask("list", { path: "", recursive: true });
        for (const { path } of (list._unsafeUnwrap() as { value: { entries: { path: string }[] } }).value.entries) {
          if (path !== "d/l") expect(`${path}: ${readQuietly(join(yard.root, path))}`).not.toContain(SECRET);
        }
      });
    },
  );

  test.each([...onFiles, ...more])("$name: with hardLinks: true, it is served as any file", async (operation) => {
    using yard = createYard();
    yard.put("first", "a secret of the inside");
    linkSync(join(yard.root, "first"), join(yard.root, "l"));
    await attack(yard, { resolution, hardLinks: true }, async ({ files }) => {
      const told = await perform(files, operation, "l");
      const isStale = operation.name.includes("ifMatch");
      expect({ name: operation.name, told: told.ok ? "served" : told.error.kind }).toEqual({
        name: operation.name,
        told: isStale ? "changed" : "served",
      });
    });
  });
});

const readQuietly = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

test("a check of the real path loses: a hard link has no other path", () => {
  using yard = createYard();
  linkSync(join(yard.outside, "secret.txt"), join(yard.root, "l"));
  const naive = createNaiveServer(yard.root, byRealpath);
  expect(naive.read("l")).toContain(SECRET);
  naive.append("l", "torn");
  expect(readFileSync(join(yard.outside, "secret.txt"), "utf8")).toContain("torn");
});
