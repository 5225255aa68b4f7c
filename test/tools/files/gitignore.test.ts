import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { systemClock } from "../../../src";
import { Ignores } from "../../../src/tools/files/gitignore";
import { openRoot } from "../../../src/tools/files/root/open-root";
import { Effort, type Steps } from "../../../src/tools/files/steps";
import { workspaceOver } from "./over-root";
import { tmpdir } from "./tmpdir";

/** The paths that a `.gitignore` leaves out; a slash at the end stands for a directory. */
function ignoredOf(text: string, paths: readonly string[]): string[] {
  const directory = mkdtempSync(join(tmpdir(), "envoi-ignore-"));
  writeFileSync(join(directory, ".gitignore"), text);
  const root = openRoot({ root: directory }, systemClock);
  try {
    const ignores = finish(Ignores.none.in(workspaceOver(root), root.top, "", new Effort()));
    return paths.filter((path) => {
      const whole = path.replace(/\/$/, "");
      return finish(ignores.leavesOut(whole, whole.split("/").at(-1) ?? "", path.endsWith("/"), new Effort()));
    });
  } finally {
    root.dispose();
    rmSync(directory, { recursive: true });
  }
}

function finish<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

describe("a pattern of a .gitignore", () => {
  test.each([
    ["a", ["a", "a/", "b/a"], ["b", "ab"]],
    ["/a", ["a"], ["b/a"]],
    ["a/", ["a/", "b/a/"], ["a"]],
    ["a/b", ["a/b"], ["c/a/b", "b"]],
    ["a/**", ["a/b", "a/b/c"], ["a/"]],
    ["**/a", ["a", "b/c/a"], ["ba"]],
    ["a/**/b", ["a/b", "a/x/y/b"], ["ab"]],
    ["a**b", ["ab", "axb", "x/axb"], ["a/b"]],
    ["/a**b", ["axb"], ["a/b"]],
    ["*.[oa]", ["x.o", "d/x.a"], ["x.b"]],
    ["[!a]b", ["cb"], ["ab"]],
    ["[!]a]b", ["cb"], ["ab", "]b"]],
    ["[!-a]b", ["0b"], ["ab", "-b"]],
    ["[!-]b", ["0b"], ["-b"]],
    ["[!-a-]b", ["0b"], ["-b"]],
    ["***/a", ["a", "b/c/a"], ["ba"]],
    ["a[^x]b/c", ["ayb/c"], ["a/b/c", "axb/c"]],
    ["[[:digit:]x]", ["1", "x"], ["a", ":"]],
    ["a?c", ["abc"], ["ac", "a/c"]],
    ["{a,b}", ["{a,b}"], ["a", "b"]],
    ["{a,b}*", ["{a,b}c"], ["a", "bc"]],
    ["\\#a", ["#a"], ["a"]],
    ["\\!a", ["!a"], ["a"]],
    ["a\\ ", ["a "], ["a"]],
    ["a   ", ["a"], ["a   "]],
    ["\\*", ["*"], ["a"]],
    ["a\r", ["a"], ["a\r"]],
    ["*\n!a", ["b"], ["a"]],
    ["!a\n*", ["a", "b"], []],
    ["# a\n\n", [], ["a", "# a"]],
    ["[a", [], ["a", "[a"]],
  ] as [string, string[], string[]][])("%j leaves out what it does in git", (text, ignored, others) => {
    expect(ignoredOf(text, [...ignored, ...others])).toEqual(ignored);
  });

  test("of more than the bounds ignores nothing, and the others hold", () => {
    const text = `${"*a".repeat(33)}\n${"b".repeat(1_001)}\nc\n`;
    expect(ignoredOf(text, ["a".repeat(40), "b".repeat(1_001), "c"])).toEqual(["c"]);
  });

  test("P5: hostile patterns pause often: none takes long by itself", () => {
    const directory = mkdtempSync(join(tmpdir(), "envoi-ignore-"));
    const text = `${"**/a/".repeat(10)}b\n`.repeat(1_000);
    writeFileSync(join(directory, ".gitignore"), text);
    const root = openRoot({ root: directory }, systemClock);
    const effort = new Effort();
    const ignores = finish(Ignores.none.in(workspaceOver(root), root.top, "", effort));
    let pauses = 0;
    const steps = ignores.leavesOut(`${"a/".repeat(2_000)}c`, "c", false, effort);
    for (let step = steps.next(); step.done !== true; step = steps.next()) pauses++;
    root.dispose();
    rmSync(directory, { recursive: true });
    expect(pauses).toBeGreaterThan(400);
  });

  test.skipIf(Bun.which("git") === null)("agrees with git, over any tree", () => {
    const part = fc.constantFrom("a", "b", "ab", "*", "**", "?", "[ab]", "[!a]", "a*", "*b", "a**", "\\a", "{a}");
    // Before a slash, git takes the stars of "a**/b" for those of "**/b", against its own manual.
    const isTold = (parts: readonly string[]): boolean => !parts.slice(0, -1).includes("a**");
    const line = fc
      .tuple(
        fc.constantFrom("", "", "", "!"),
        fc.constantFrom("", "", "/"),
        fc.array(part, { minLength: 1, maxLength: 3 }).filter(isTold),
        fc.constantFrom("", "", "/"),
      )
      .map(([not, start, parts, end]) => `${not}${start}${parts.join("/")}${end}`);
    const names = ["a", "b", "ab", "ba", "{a}"];
    const paths = names.flatMap((one) => [
      one,
      ...names.map((two) => `d${one}/${two}`),
      ...names.map((two) => `e/a${one}/${two}`),
    ]);
    const directory = mkdtempSync(join(tmpdir(), "envoi-git-"));
    const git = (...words: string[]) =>
      Bun.spawnSync(["git", ...words], {
        cwd: directory,
        env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" },
      }).stdout.toString();
    git("init", "-q");
    for (const path of paths) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), "");
    }
    const root = openRoot({ root: directory }, systemClock);
    try {
      fc.assert(
        fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
          writeFileSync(join(directory, ".gitignore"), `${lines.join("\n")}\n`);
          const shown = new Set(git("-c", "core.quotePath=false", "ls-files", "-o", "--exclude-standard").split("\n"));
          const ignores = finish(Ignores.none.in(workspaceOver(root), root.top, "", new Effort()));
          const ours = paths.filter((path) => {
            const names = path.split("/");
            return !names.some((name, i) => {
              const whole = names.slice(0, i + 1).join("/");
              return finish(ignores.leavesOut(whole, name, i < names.length - 1, new Effort()));
            });
          });
          expect({ lines, differ: paths.filter((path) => shown.has(path) !== ours.includes(path)) }).toEqual({
            lines,
            differ: [],
          });
        }),
        { numRuns: 150 },
      );
    } finally {
      root.dispose();
      rmSync(directory, { recursive: true });
    }
  });
});
