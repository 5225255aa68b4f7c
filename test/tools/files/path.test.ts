import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type FileError, FileRefusal } from "../../../src/tools/files/file-error";
import { nameOf, type Path, parentOf, parsePath } from "../../../src/tools/files/path";
import { runs } from "../../property/runs";

function refusalOf(given: unknown): FileError {
  try {
    parsePath(given);
  } catch (thrown) {
    if (thrown instanceof FileRefusal) return thrown.error;
    throw thrown;
  }
  throw new Error(`${JSON.stringify(given)} was not refused.`);
}

describe("a path", () => {
  test.each([
    ["src/main.ts", "src/main.ts", "src", "main.ts"],
    ["main.ts", "main.ts", "", "main.ts"],
    ["./main.ts", "main.ts", "", "main.ts"],
    ["a//b///c", "a/b/c", "a/b", "c"],
    ["a/./b/././c", "a/b/c", "a/b", "c"],
    ["a\\..\\b", "a\\..\\b", "", "a\\..\\b"],
    ["...", "...", "", "..."],
    ["..a/b..", "..a/b..", "..a", "b.."],
    [".hidden/.x", ".hidden/.x", ".hidden", ".x"],
    [" ", " ", "", " "],
    ["~/x", "~/x", "~", "x"],
    ["%2e%2e/x", "%2e%2e/x", "%2e%2e", "x"],
    ["C:\\x", "C:\\x", "", "C:\\x"],
    ["x\u202Etxt.exe", "x\u202Etxt.exe", "", "x\u202Etxt.exe"],
    ["．．/x", "．．/x", "．．", "x"],
  ])("%p is %p, %p in %p", (given, whole, parent, name) => {
    const path = parsePath(given);
    expect(path).toMatchObject({ given, whole, isDirectory: false });
    expect(parentOf(path)).toBe(parent);
    expect(nameOf(path)).toBe(name);
  });

  test.each(["", ".", "./", "././.", ".//"])("%p is the root", (given) => {
    const path = parsePath(given);
    expect(path).toEqual({ given, whole: "", base: 0, isDirectory: true });
    expect(parentOf(path)).toBe("");
    expect(nameOf(path)).toBe("");
  });

  test.each(["a/", "a//", "a/.", "a/./", "b/a/"])("%p can only be a directory", (given) => {
    expect(parsePath(given).isDirectory).toBe(true);
    expect(nameOf(parsePath(given))).toBe("a");
  });

  test.each([
    "..",
    "../",
    "../x",
    "a/..",
    "a/../",
    "a/../b",
    "a/b/../../c",
    "./..",
    "a/./..",
    "a//..",
    "..//a",
    "/",
    "//",
    "/etc/passwd",
    "/.",
    "//a",
    "/..",
    "../root-of-the-same-prefix/x",
  ])("%p leads out of the root", (given) => {
    expect(refusalOf(given)).toMatchObject({ kind: "outside-root", path: given });
  });

  test.each(["\0", "a\0b", "a/\0", "a.txt\0.png", "\0/.."])("%p has a NUL", (given) => {
    expect(refusalOf(given)).toMatchObject({ kind: "invalid-path", path: given });
  });

  test.each([[undefined], [null], [1], [{}], [[]], [Symbol("x")], [Object.create(null)], [() => "x"]])(
    "a %p is none",
    (given) => {
      expect(refusalOf(given)).toMatchObject({ kind: "invalid-path", path: `[${typeof given}]` });
    },
  );

  test("a name has at most 255 bytes", () => {
    for (const letter of ["a", "é", "語", "😀"]) {
      const most = Math.floor(255 / Buffer.byteLength(letter));
      expect(parsePath(`d/${letter.repeat(most)}`).whole).toBe(`d/${letter.repeat(most)}`);
      for (const place of ["x", "x/y", "y/x/", "./x"]) {
        expect(refusalOf(place.replace("x", letter.repeat(most + 1))).kind).toBe("invalid-path");
      }
    }
    expect(refusalOf("a".repeat(256)).kind).toBe("invalid-path");
  });

  test("a path has at most 4,095 bytes, and the refusal of one that has more is short", () => {
    const directory = `${"a".repeat(254)}/`;
    expect(parsePath(directory.repeat(16) + "b".repeat(15)).whole.length).toBe(4_095);
    for (const given of [
      directory.repeat(16) + "b".repeat(16),
      `${"語".repeat(80)}/`.repeat(17) + "語".repeat(6),
      "x".repeat(10_000_000),
      "/".repeat(4_096),
      `${"x".repeat(79)}${"😀".repeat(5_000)}`,
    ]) {
      const { kind, path } = refusalOf(given);
      expect(kind).toBe("invalid-path");
      expect(path.length).toBeLessThan(100);
      expect(path.isWellFormed()).toBe(true);
    }
  });

  test.each(["\uD800", "a\uDC00b", "\uDC00\uD800", "d/\uD83D"])(
    "half of a surrogate pair is refused in %j",
    (given) => {
      const { kind, path } = refusalOf(given);
      expect(kind).toBe("invalid-path");
      expect(path.isWellFormed()).toBe(true);
    },
  );

  test("one Unicode form is not made another", () => {
    expect(parsePath("\u00e9").whole).not.toBe(parsePath("e\u0301").whole);
    expect(parsePath("e\u0301").whole).toBe("e\u0301");
  });
});

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("/", "/", "/", ".", "..", "a", "b", "", "\\", "...", "é", "\u202E") },
  { weight: 1, arbitrary: fc.constantFrom("\0", "\uD800", "a".repeat(255), "語".repeat(85), "x".repeat(256)) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 5 }) },
);
const given = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

/** The meaning of a path, written for readers and not for speed; null if the path is refused. */
function meaningOf(path: string): string[] | null {
  const names = path.split("/");
  const isOut = path.startsWith("/") || names.includes("..");
  const isOdd = path.includes("\0") || !path.isWellFormed() || names.some((name) => Buffer.byteLength(name) > 255);
  return isOut || isOdd ? null : names.filter((name) => name !== "" && name !== ".");
}

function parsed(path: string): Path | null {
  try {
    return parsePath(path);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(FileRefusal);
    return null;
  }
}

test("every path that is taken is a clean one below the root, and the rest is refused", () => {
  fc.assert(
    fc.property(given, (text) => {
      const names = meaningOf(text);
      const path = parsed(text);
      expect(path?.whole).toBe(names?.join("/") as string);
      if (path === null || names === null) return;
      expect(nameOf(path)).toBe(names.at(-1) ?? "");
      expect(parentOf(path)).toBe(names.slice(0, -1).join("/"));
      expect(path.isDirectory).toBe(["", "."].includes(text.split("/").at(-1) as string));
      const again = parsePath(path.whole);
      expect(again.whole).toBe(path.whole);
      expect(again.base).toBe(path.base);
    }),
    runs(1_000),
  );
});
