import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystem } from "../../../src";
import { itemsOf, resultOf, spawnFileSystem } from "../../../src/tools";
import { type FileSystemOptions, limitsOf } from "../../../src/tools/files/options";
import { createQuota, type SharedQuota } from "../../../src/tools/files/write/shared-quota";
import { program } from "./programs/run";
import { everyWay, withFiles } from "./ways";

/** The error for options of a caller who ignores the types; "none" if they are accepted. */
function fault(options: unknown): string {
  try {
    limitsOf(options as FileSystemOptions);
  } catch (error) {
    return String(error);
  }
  return "none";
}

test("every option has a default", () => {
  expect(limitsOf({ root: "." })).toEqual({
    readOnly: false,
    maxReadBytes: 10 * 1024 * 1024,
    maxWriteBytes: 10 * 1024 * 1024,
    quotaBytes: undefined,
    quotaFiles: undefined,
    quota: undefined,
    maxEntries: 10_000,
    hardLinks: false,
    concurrency: 64,
  });
  const all = {
    root: "x",
    readOnly: true,
    maxReadBytes: 1,
    maxWriteBytes: 2,
    quotaBytes: 3,
    quotaFiles: 7,
    quota: createQuota({ bytes: 8 }) as SharedQuota, // It makes one, and shows less of it.
    maxEntries: 4,
    hardLinks: true,
    concurrency: 5,
  };
  const { root: _, ...limits } = all;
  expect(limitsOf(all)).toEqual(limits);
  expect(fault({ ...all, allow: ["src/**"], deny: [], resolution: "openat2", name: "n", phase: 1 })).toBe("none");
});

test("an option that cannot be one is refused with what to write", () => {
  for (const options of [undefined, null, "root", 7]) expect(fault(options)).toContain('{ root: "workspace" }');
  for (const root of [undefined, "", 7, null, {}]) expect(fault({ root })).toContain('such as "workspace"');
  expect(fault({ root: ".", readonly: true })).toMatch(/no option "readonly".*readOnly/);
  for (const key of ["maxReadBytes", "maxWriteBytes", "quotaBytes", "quotaFiles", "maxEntries", "concurrency"]) {
    for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null, 1n]) {
      expect(fault({ root: ".", [key]: value })).toContain(`RangeError: The ${key} of a file actor is a whole number`);
    }
  }
  for (const key of ["readOnly", "hardLinks"]) {
    for (const value of [0, "true", null])
      expect(fault({ root: ".", [key]: value })).toContain(`${key} is true or false`);
  }
  for (const resolution of ["memory", "fast", null, 1]) {
    expect(fault({ root: ".", resolution })).toContain('"openat2" or "proc-fd"');
  }
});

test("a glob that would match nothing is refused, lest what it should close be open", () => {
  for (const key of ["allow", "deny"]) {
    for (const globs of ["a", {}, null, 7])
      expect(fault({ root: ".", [key]: globs })).toContain(`${key} is an array of globs`);
    for (const glob of ["", 7, null, undefined]) expect(fault({ root: ".", [key]: [glob] })).toContain("is a text");
    expect(fault({ root: ".", [key]: ["/src"] })).toContain('write "src"');
    expect(fault({ root: ".", [key]: ["./src"] })).toContain('write "src"');
    expect(fault({ root: ".", [key]: ["src/"] })).toContain('write "src/**"');
    expect(fault({ root: ".", [key]: ["a", "[b"] })).toContain("a ] for each [");
    expect(fault({ root: ".", [key]: ["!a"] })).toContain('begins with no "!"');
    for (const [glob, told] of [
      ["{.env,secret", "a } for each {"],
      ["a//b", "one / between two names"],
      ["a/../.env", 'no name ".."'],
      ["a/./b", 'no name "."'],
      ["{a,b/{c,d}", "a } for each {"],
      ["{a,../b}", 'no name ".."'],
      ["a/{b,}", "one / between two names"],
      ["{,}", "is a text"],
      [`${"*".repeat(33)}`, "at most 32 *"],
      [`${"{a,b}".repeat(11)}`, "at most 10 {"],
      [`${"{a,b,c,d}".repeat(6)}`, "at most 1000 texts"],
      [`*${"x".repeat(250)}`, "at most 250 characters"],
    ] as const) {
      expect(fault({ root: ".", [key]: ["a", glob] })).toContain(told);
      expect(fault({ root: ".", [key]: ["a", glob] })).toContain(glob.slice(0, 40));
    }
    expect(fault({ root: ".", [key]: ["x".repeat(1_001)] })).toContain("at most 1000 characters");
  }
});

test("what is wrong is told when the actor is spawned, and not to the first who asks", async () => {
  await using system = createSystem();
  expect(() => spawnFileSystem(system, { root: tmpdir(), maxEntries: 0 })).toThrow(RangeError);
});

test("the turn of the first request does not wait for the first schema to be compiled: that was when it was spawned", async () => {
  const child = await program("compiled", [], "compiled: true"); // In a process where nobody has compiled any.
  await child.ended();
});

test.each(everyWay)("concurrency bounds watches and other streams each for themselves, by %s", (way) =>
  withFiles(
    way,
    async ({ files, directory, disk }) => {
      disk.writeFileSync(join(directory, "a"), "tea");
      const watching = itemsOf(files.stream("watch", {}));
      expect((await watching.next()).value).toEqual({ kind: "ready", path: "" });
      // The one place for a watch is taken, and whoever reads or searches does not wait for it.
      for await (const text of itemsOf(files.stream("readStream", { path: "a", encoding: "utf8" }))) {
        expect(text).toBe("tea");
      }
      expect(resultOf(await files.ask("read", { path: "a" }))._unsafeUnwrap().content).toBe("tea");
      await watching.return();
    },
    { concurrency: 1 },
  ),
);
