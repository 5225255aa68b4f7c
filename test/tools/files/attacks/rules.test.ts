import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { FileSystemRef } from "../../../../src/tools";
import { isChange, type Operation, operations, perform, type Told } from "./operations";
import { attack, createYard, SECRET, ways, type Yard } from "./yard";

const CLOSED = ["private/secret.txt", "private/deep/er/secret.txt", "a/b/id.key", "a/notes/.env", "id.key"];
const deny = ["private/**", "**/*.key", "**/.env"];

/** Paths that name what is closed, what it is in, or what would get there. */
const PATHS = [
  ...CLOSED,
  ...["private", "private/", "private/deep", "private/new.txt", "a", "a/b", "a/notes", "new.key", "a/new/.env", ""],
];

/** Closed files, and open ones beside them. */
function fill(yard: Yard): void {
  for (const path of CLOSED) yard.put(path, `a secret: ${SECRET}\n`);
  yard.put("a/open.txt", "open");
  yard.put("other/open.txt", "open");
}

/** Everything that the actor lets a caller read by now. */
async function readable(files: FileSystemRef, root: string): Promise<string> {
  const all: string[] = [];
  for (const path of walk(root)) {
    const told = (await files.ask("read", { path }))._unsafeUnwrap();
    if (told.ok) all.push(`${path}: ${told.value.content as string}`);
  }
  return all.join("\n");
}

const walk = (root: string, below = ""): string[] =>
  readdirSync(join(root, below)).flatMap((name) => {
    const path = below === "" ? name : `${below}/${name}`;
    if (path === ".envoi") return [];
    return statSync(join(root, path)).isDirectory() ? walk(root, path) : [path];
  });

/** Tries an operation on each path, in a yard that nothing has changed. */
async function tryEach(
  operation: Operation,
  paths: readonly string[],
  options: Parameters<typeof attack>[1],
  expectAfter: (yard: Yard) => void,
): Promise<void> {
  const rest = [...paths];
  while (rest.length > 0) {
    using yard = createYard();
    fill(yard);
    await attack(yard, options, async ({ files }) => {
      for (let told: Told | null = null; rest.length > 0 && !(told?.ok && isChange(operation)); ) {
        const path = rest.shift();
        const before = walk(yard.root);
        told = await perform(files, operation, path);
        if (!told.ok) expect(walk(yard.root)).toEqual(before); // Not a part of it was done.
        expect(`${operation.name} of ${path}: ${JSON.stringify(told)}`).not.toContain(SECRET);
      }
      if (isChange(operation)) expect(await readable(files, yard.root)).not.toContain(SECRET);
    });
    for (const closed of CLOSED) expect(readFileSync(join(yard.root, closed), "utf8")).toBe(`a secret: ${SECRET}\n`);
    expectAfter(yard);
  }
}

describe.each(ways)("what the globs close, by %s", (resolution) => {
  test.each(operations)(
    "$name: neither shown, nor read, changed, moved to where it is open, or deleted",
    async (operation) => {
      await tryEach(operation, PATHS, { resolution, deny }, ({ root }) => {
        const names = walk(root).filter((each) => /^private\/|\.key$|\.env$/.test(each));
        expect(names.sort()).toEqual([...CLOSED].sort());
      });
    },
    240_000,
  );

  test.each(operations)(
    "$name: only what is allowed is served",
    async (operation) => {
      const allow = ["other/**", "file.txt", "moved", "copied"];
      const isOpen = (each: string): boolean => /^(other\/|file\.txt$|moved|copied)/.test(each);
      await tryEach(operation, ["new.txt", "other", ...PATHS], { resolution, allow }, ({ root }) => {
        expect(
          walk(root)
            .filter((each) => !isOpen(each))
            .sort(),
        ).toEqual([...CLOSED, "a/b/deep.txt", "a/open.txt", "c/inner.txt"].sort());
      });
    },
    240_000,
  );
});
