import { describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { byPrefix, byRealpath, createNaiveServer } from "./naive";
import { isChange, type Operation, operations, perform, type Told, WRITTEN } from "./operations";
import { attack, createYard, SECRET, ways, type Yard } from "./yard";

/** A link and a path that uses it. */
interface Link {
  readonly name: string;
  /** Makes it; gives the path that is asked for. */
  readonly make: (yard: Yard) => string;
  /** Whether the link is what the path names itself, and not on its way. */
  readonly isLast: boolean;
}

const at = (yard: Yard, name: string, target: string): string => {
  symlinkSync(target, join(yard.root, name));
  return name;
};
const last = (name: string, make: Link["make"]): Link => ({ name, make, isLast: true });
const middle = (name: string, make: Link["make"]): Link => ({ name, make, isLast: false });

const links: readonly Link[] = [
  last("absolute, to a file outside", (yard) => at(yard, "l", join(yard.outside, "secret.txt"))),
  last("relative, to a file outside", (yard) => at(yard, "l", "../outside/secret.txt")),
  last("absolute, to a directory outside", (yard) => at(yard, "l", yard.outside)),
  last("relative, to a directory outside", (yard) => at(yard, "l", "../outside")),
  last("to a file inside", (yard) => at(yard, "l", "file.txt")),
  last("to a directory inside", (yard) => at(yard, "l", "a")),
  last("to the root", (yard) => at(yard, "l", ".")),
  last("to the root by its absolute path", (yard) => at(yard, "l", yard.root)),
  last("to what is above the root", (yard) => at(yard, "l", "..")),
  last("to /", (yard) => at(yard, "l", "/")),
  last("chained", (yard) => {
    at(yard, "one", "../outside/secret.txt");
    at(yard, "two", "one");
    return at(yard, "l", "two");
  }),
  last("chained by a directory", (yard) => {
    at(yard, "one", "../outside");
    return at(yard, "l", "one/secret.txt");
  }),
  last("dangling", (yard) => at(yard, "l", "../outside/nothing.txt")),
  last("dangling in what is missing", (yard) => at(yard, "l", "../outside/no/where.txt")),
  last("dangling inside", (yard) => at(yard, "l", "nothing.txt")),
  last("to itself", (yard) => at(yard, "l", "l")),
  last("in a circle", (yard) => {
    at(yard, "one", "l");
    return at(yard, "l", "one");
  }),
  last("deep in directories", (yard) => at(yard, "a/b/l", "../../../outside/secret.txt")),
  last("to /proc/self/root", (yard) => at(yard, "l", "/proc/self/root")),
  last("to /proc/self/cwd", (yard) => at(yard, "l", "/proc/self/cwd")),
  last("to /proc/self/environ", (yard) => at(yard, "l", "/proc/self/environ")),
  last("to an open file", (yard) => at(yard, "l", "/proc/self/fd/0")),
  last("to /dev/zero", (yard) => at(yard, "l", "/dev/zero")),
  last("to /dev/stdin", (yard) => at(yard, "l", "/dev/stdin")),
  middle("absolute, on the way", (yard) => `${at(yard, "l", yard.outside)}/secret.txt`),
  middle("relative, on the way", (yard) => `${at(yard, "l", "../outside")}/secret.txt`),
  middle("on the way to what is missing", (yard) => `${at(yard, "l", "../outside")}/new.txt`),
  middle("on the way to a missing directory", (yard) => `${at(yard, "l", "../outside")}/new/deep/er.txt`),
  middle("on the way to a directory", (yard) => `${at(yard, "l", "../outside")}/sub`),
  middle("first of two on the way", (yard) => `${at(yard, "l", "../outside")}/sub/secret.txt`),
  middle("on the way, in a directory", (yard) => `${at(yard, "a/l", "../../outside")}/sub/secret.txt`),
  middle("on the way, and inside", (yard) => `${at(yard, "l", "a")}/b/deep.txt`),
  middle("to the root, on the way", (yard) => `${at(yard, "l", ".")}/file.txt`),
  middle("to the root by its absolute path, on the way", (yard) => `${at(yard, "l", yard.root)}/file.txt`),
  middle("in a circle, on the way", (yard) => `${at(yard, "l", "l")}/file.txt`),
  middle("dangling, on the way", (yard) => `${at(yard, "l", "../outside/nothing")}/new.txt`),
  middle("to /proc/self/root, on the way", (yard) => `${at(yard, "l", "/proc/self/root")}${yard.outside}/secret.txt`),
  middle("to /proc/self/fd, on the way", (yard) => `${at(yard, "l", "/proc/self/fd")}/0`),
  middle("to a directory, with a slash behind", (yard) => `${at(yard, "l", "../outside")}/`),
  middle("to a directory, with a dot behind", (yard) => `${at(yard, "l", "../outside")}/.`),
];

/** The errors for a link. An operation that needs a directory says that the link is none. */
// A directory that would be copied into itself is an invalid path, whatever is there.
const REFUSED = /^(denied|not-a-directory|invalid-path)$/;

/** True for replies, other than `denied`, to a path that is a link itself. */
function mayServe({ operation, name }: Operation, told: Told): boolean {
  if (!told.ok) {
    // Nothing is made where something is; what is there is no directory to go into.
    const others = ["mkdir", "copy", "move"].includes(operation) ? ["exists", "not-a-directory"] : ["not-a-directory"];
    return others.includes(told.error.kind);
  }
  if (operation === "stat") return (told.value as { kind: string }).kind === "link";
  if (operation === "exists") return true;
  // The link itself is named: it goes, or gets another name, or another file takes its name; nothing behind it does.
  return ["delete", "move"].includes(operation) || name === "copy to";
}

describe.each(ways)("links, by %s", (resolution) => {
  test.each(operations)(
    "$name: a link is never followed, wherever it is and wherever it leads",
    async (operation) => {
      const rest = [...links];
      while (rest.length > 0) {
        using yard = createYard();
        await attack(yard, { resolution }, async ({ files }) => {
          for (let told: Told | null = null; rest.length > 0 && !(told?.ok && isChange(operation)); ) {
            const link = rest.shift();
            if (link === undefined) break;
            const path = link.make(yard);
            told = await perform(files, operation, path);
            expectRefused(operation, link, path, told, yard);
            for (const name of ["l", "one", "two", "a/l", "a/b/l"]) rmSync(join(yard.root, name), { force: true });
          }
        });
        // The files behind the link are unchanged.
        if (operation.name !== "move to") expect(readFileSync(join(yard.root, "file.txt"), "utf8")).toBe("inside");
        expect(readFileSync(join(yard.root, "a/b/deep.txt"), "utf8")).toBe("inside");
      }
    },
    240_000,
  );

  test.each(operations)("$name: a link that comes after a first look is not followed", async (operation) => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      for (const path of ["file.txt", "a/b/deep.txt"]) {
        expect((await files.ask("read", { path }))._unsafeUnwrap()).toMatchObject({ ok: true });
      }
      unlinkSync(join(yard.root, "file.txt"));
      symlinkSync("../outside/secret.txt", join(yard.root, "file.txt"));
      renameSync(join(yard.root, "a/b"), join(yard.root, "a/old"));
      symlinkSync("../../outside", join(yard.root, "a/b"));
      for (const path of ["a/b/secret.txt", "a/b/sub", "a/b/new.txt", "a/b/file.txt"]) {
        const told = await perform(files, operation, path);
        if (operation.operation === "exists" && told.ok) expect(told.value).toBe(false);
        else
          expect({ path, kind: told.ok ? "served" : told.error.kind }).toEqual({
            path,
            kind: expect.stringMatching(REFUSED),
          });
      }
      expect(JSON.stringify(await perform(files, operation, "file.txt"))).not.toContain(SECRET);
    });
  });

  test("a root that is given through a link works, and is the directory that the link led to", async () => {
    using yard = createYard();
    const link = join(yard.place, "link-to-ws");
    symlinkSync("ws", link);
    using other = createYard();
    await attackThrough(yard, link, resolution, async (files) => {
      expect((await files.ask("read", { path: "file.txt" }))._unsafeUnwrap()).toMatchObject({ ok: true });
      unlinkSync(link);
      symlinkSync(other.outside, link);
      expect((await files.ask("read", { path: "file.txt" }))._unsafeUnwrap()).toMatchObject({
        value: { content: "inside" },
      });
      await files.ask("write", { path: "new.txt", content: WRITTEN });
      expect(readFileSync(join(yard.root, "new.txt"), "utf8")).toBe(WRITTEN);
    });
    other.expectUntouched();
    unlinkSync(link);
  });

  test("a staging directory that is a link, or holds links, is no way out", async () => {
    using yard = createYard();
    symlinkSync("../outside", join(yard.root, ".envoi"));
    await attack(yard, { resolution }, async ({ files }) => {
      for (const operation of operations.filter(({ name }) => name.startsWith("write") || name === "append")) {
        const told = await perform(files, operation, "file.txt");
        expect({ name: operation.name, kind: told.ok ? "served" : told.error.kind }).toEqual({
          name: operation.name,
          kind: expect.stringMatching(/denied|not-a-directory/),
        });
      }
    });
    unlinkSync(join(yard.root, ".envoi"));
    mkdirSync(join(yard.root, ".envoi"));
    symlinkSync("../../outside/secret.txt", join(yard.root, ".envoi/lock"));
    symlinkSync("../../outside/secret.txt", join(yard.root, ".envoi/.gitignore"));
    symlinkSync("../../outside/secret.txt", join(yard.root, `.envoi/1.${process.pid}.1.1`));
    await attack(yard, { resolution }, async ({ files }) => {
      const told = (await files.ask("write", { path: "file.txt", content: WRITTEN }))._unsafeUnwrap();
      expect(told.ok ? "served" : told.error.kind).toBe("denied");
    });
    expect(readFileSync(join(yard.root, "file.txt"), "utf8")).toBe("inside");
  });

  test("a link with the name of a file that is about to be staged is stepped over", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      await files.ask("write", { path: "one.txt", content: "one" });
      const owner = readdirSync(join(yard.root, ".envoi")).find((name) => name.endsWith(".owner"));
      if (owner === undefined) throw new Error("The actor has no mark.");
      for (let count = 0; count < 300; count++) {
        symlinkSync("../../outside/secret.txt", join(yard.root, ".envoi", owner.replace(".owner", `.${count}`)));
      }
      const told = (await files.ask("write", { path: "two.txt", content: "two" }))._unsafeUnwrap();
      expect(told.ok).toBe(true);
      expect(lstatSync(join(yard.root, "two.txt")).isFile()).toBe(true);
    });
  });
});

/** A trailing slash asks for a directory: what is a file's only is told so before anything is looked up, or that the name is taken. */
const isDirectoryOfLink = (path: string, told: Told): boolean =>
  /\/\.?$/.test(path) && !told.ok && /^(is-directory|exists)$/.test(told.error.kind);

function expectRefused(operation: Operation, link: Link, path: string, told: Told, yard: Yard): void {
  const seen = `${operation.name}, ${link.name}: ${JSON.stringify(told)}`;
  const isExists = operation.operation === "exists" && told.ok && told.value === false;
  const isRefused = !told.ok && REFUSED.test(told.error.kind);
  const isFine = isRefused || isExists || (link.isLast && mayServe(operation, told)) || isDirectoryOfLink(path, told);
  if (!isFine) throw new Error(seen);
  expect(seen).not.toContain(SECRET);
  expect(seen.replaceAll(path, "")).not.toContain(yard.place);
}

async function attackThrough(
  yard: Yard,
  link: string,
  resolution: (typeof ways)[number],
  run: (files: Parameters<Parameters<typeof attack>[2]>[0]["files"]) => Promise<void>,
): Promise<void> {
  const untouched = { ...yard, root: link, expectUntouched() {} };
  await attack(untouched, { resolution }, ({ files }) => run(files));
}

test("a check of the path alone loses: it follows every link", () => {
  using yard = createYard();
  symlinkSync("../outside", join(yard.root, "l"));
  const naive = createNaiveServer(yard.root, byPrefix);
  expect(naive.read("l/secret.txt")).toContain(SECRET);
  naive.write("l/new.txt", WRITTEN);
  expect(readFileSync(join(yard.outside, "new.txt"), "utf8")).toBe(WRITTEN);
});

test("a check of the real path loses: a dangling link is written through", () => {
  using yard = createYard();
  symlinkSync("../outside/new.txt", join(yard.root, "l"));
  createNaiveServer(realpathSync(yard.root), byRealpath).write("l", WRITTEN);
  expect(readFileSync(join(yard.outside, "new.txt"), "utf8")).toBe(WRITTEN);
});
