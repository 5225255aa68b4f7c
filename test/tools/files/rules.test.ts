import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import fc from "fast-check";
import { faultOf, matcherOf } from "../../../src/tools/files/glob";
import { Rules } from "../../../src/tools/files/rules";
import { runs } from "../../property/runs";

describe("rules", () => {
  test("without globs serve everything", () => {
    const rules = new Rules({});
    expect(rules.areOpen).toBe(true);
    expect([rules.denies("a/.env"), rules.serves("a/.env")]).toEqual([false, true]);
    expect(new Rules({ deny: [], allow: [] }).areOpen).toBe(false); // Nothing is allowed.
    expect(new Rules({ deny: [], allow: [] }).serves("a")).toBe(false);
  });

  test("close a directory that is denied with all below it", () => {
    const rules = new Rules({ deny: ["secret", "src/*/private", "**/.git"] });
    for (const path of ["secret", "secret/a", "secret/a/b", "src/x/private/a", ".git", "a/b/.git/config"]) {
      expect([path, rules.denies(path), rules.serves(path)]).toEqual([path, true, false]);
    }
    for (const path of ["", "secrets", "a/secret", "src/private", "src/x/y/private", ".gitignore"]) {
      expect([path, rules.denies(path), rules.serves(path)]).toEqual([path, false, true]);
    }
    const below = new Rules({ deny: ["secret/**"] });
    expect([below.denies("secret"), below.denies("secret/a"), below.denies("secret/a/b")]).toEqual([false, true, true]);
  });

  test("close every spelling that a file system may take for the same", () => {
    const rules = new Rules({ deny: ["**/.env", "Geheim", "caf\u00e9", "stra\u00dfe", "[A-C]x", "\u{1E9E}y"] });
    for (const path of [
      ".ENV",
      "a/.Env",
      "geheim/a",
      "GEHEIM",
      "CAFE\u0301",
      "cafe\u0301/a",
      "CAF\u00c9",
      "STRASSE",
      "strasse",
      ".e\u200bnv",
      ".env\ufe0f",
      "bX",
      "ssY",
    ]) {
      expect([path, rules.denies(path)]).toEqual([path, true]);
    }
    for (const path of ["cafe", "env", "gehei", "dx"]) expect([path, rules.denies(path)]).toEqual([path, false]);
  });

  test("serve of files what allow names, to the letter, and leave directories alone", () => {
    const rules = new Rules({ allow: ["src/**", "*.md"], deny: ["**/*.key"] });
    for (const path of ["src/a", "src/b/c", "README.md"]) expect([path, rules.serves(path)]).toEqual([path, true]);
    for (const path of ["src", "SRC/a", "docs/a.md", "src/a.key", "x"]) {
      expect([path, rules.serves(path)]).toEqual([path, false]);
    }
    for (const path of ["src", "docs", "docs/deep", ""]) expect([path, rules.denies(path)]).toEqual([path, false]);
  });

  test("deny what a glob matches, and what is below it, whatever they are", () => {
    const name = fc.constantFrom("a", "b", "A", "\u00e9", ".x", "ab");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const glob = fc
      .array(fc.constantFrom("a", "b", "*", "**", "?", "{a,b}", "[ab]", "\u00e9", ".x", "a*"), {
        minLength: 1,
        maxLength: 4,
      })
      .map((names) => names.join("/"));
    fc.assert(
      fc.property(path, glob, (whole, deny) => {
        const rules = new Rules({ deny: [deny] });
        const prefixes = whole.split("/").map((_, i, names) => names.slice(0, i + 1).join("/"));
        const isDenied = prefixes.some((prefix) => new Glob(deny).match(prefix));
        if (isDenied) expect(rules.denies(whole)).toBe(true);
        // Closing is never undone by upper case.
        if (isDenied) expect(rules.denies(whole.toUpperCase())).toBe(true);
        if (rules.denies(whole)) expect(rules.denies(`${whole}/below`)).toBe(true);
      }),
      runs(300),
    );
  });
});

describe("globs", () => {
  test("are refused where they would match nothing", () => {
    for (const glob of [
      "",
      "/a",
      "./a",
      "a/",
      "//",
      "[a",
      "a[!",
      "a[]",
      "a\\",
      "x".repeat(1_001),
      "{a,b",
      "a//b",
      "a/../b",
      "{a,./b}",
      "{a,b}".repeat(50),
      "\ud800",
      7,
      null,
      undefined,
      {},
    ]) {
      expect(typeof faultOf(glob)).toBe("string");
    }
    for (const glob of [
      "a",
      "**",
      "[a]",
      "[]a]",
      "[!]a]",
      "\\[",
      "a\\\\",
      "{a,b}",
      ".a",
      "a]b",
      "a}b",
      "{,**/}*.ts",
      "src/{,deep/}*.{ts,tsx}",
      "{[,],b}",
      "[{]a",
      "\\{a",
      ".*/..a/a..",
      "x".repeat(1_000),
      "😀",
    ]) {
      expect([glob, faultOf(glob)]).toEqual([glob, null]);
    }
    expect(faultOf("/src/")).toContain('"src/**"');
  });

  test("match what they say", () => {
    const matches = (glob: string, path: string) => matcherOf(glob, "")(path);
    expect(matches("**/*.ts", "a.ts")).toBe(true);
    expect(matches("*.ts", "a/b.ts")).toBe(false);
    expect(matches("{a,b}/**", "b/c/.d")).toBe(true);
    expect(matches("\u00e9?", "\u00e9😀")).toBe(true);
  });

  test("do not grow without bound on what is made to let them", () => {
    // Each of these would take a matcher that tries all ways longer than a test may.
    for (const [glob, path] of [
      [`${"*a".repeat(32)}b`, "a".repeat(4_000)],
      [`${"**/*a*/".repeat(8)}b`, "aaa/".repeat(1_000)],
      [`${"{a,aa}".repeat(9)}b`, "a".repeat(4_000)],
      [`${"{*a,*b,*a}".repeat(6)}c`, "ab".repeat(2_000)],
      [`${"{*,".repeat(10)}*${",*}".repeat(10)}c`, "a".repeat(4_000)],
      [`${"{**/a,**/a}/".repeat(8)}c`, "a/".repeat(2_000)],
      [`**/${"[ab]/".repeat(48)}**`, "a/b/".repeat(20)],
      [`${"[".repeat(900)}]`, "a".repeat(4_000)],
      [`${"[]".repeat(400)}a]`, "a".repeat(4_000)],
      [`${"\\[[".repeat(300)}]`, "["],
    ] as const) {
      expect(faultOf(glob)).toBe(null);
      expect(matcherOf(glob, "")(path)).toBe(false);
    }
    expect(faultOf("[\\".repeat(500))).not.toBe(null);
  });
});
