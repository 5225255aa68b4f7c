import { describe, expect, test } from "bun:test";
import { applyPatch } from "diff";
import fc from "fast-check";
import { difference, type Versions } from "../../../../src/tools/files/difference/difference";
import { runs } from "../../../property/runs";

/** The difference, and how many pauses it made. */
function differ(before: string | Buffer | null, after: string | Buffer | null, path = "a.txt") {
  const bytes = (text: string | Buffer | null) => (typeof text === "string" ? Buffer.from(text) : text);
  const versions: Versions = { path, before: bytes(before), after: bytes(after) };
  const steps = difference(versions);
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done === true) return { ...step.value, pauses };
  }
}

const numbered = (length: number): string[] => Array.from({ length }, (_, i) => `line ${i + 1}\n`);
const countOf = (text: string, sign: string): number =>
  text.split("\n").filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;

describe("a diff", () => {
  test("shows what goes and what comes, with three lines of context", () => {
    const before = numbered(20);
    const after = before.with(9, "another line\n");
    expect(differ(before.join(""), after.join(""), "src/a.ts")).toMatchObject({
      text: [
        "--- a/src/a.ts",
        "+++ b/src/a.ts",
        "@@ -7,7 +7,7 @@",
        " line 7",
        " line 8",
        " line 9",
        "-line 10",
        "+another line",
        " line 11",
        " line 12",
        " line 13",
        "",
      ].join("\n"),
      removed: 1,
      added: 1,
    });
  });

  test("of a file that is made, or deleted, names /dev/null; of what is the same it is empty", () => {
    expect(differ(null, "a\n").text).toBe("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+a\n");
    expect(differ("a", null).text).toBe(
      "--- a/a.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n",
    );
    expect(differ("a\n", "a\n")).toMatchObject({ text: "", removed: 0, added: 0 });
  });

  test("makes the new text of the old one, whatever they are, and counts what it shows", () => {
    const line = fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "long line é\n", "+\n", "- -\n", "\\ x\n");
    const end = fc.constantFrom("", "a", "b\r");
    const text = fc.tuple(fc.array(line, { maxLength: 40 }), end).map(([lines, last]) => lines.join("") + last);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { text: made, removed, added } = differ(before, after);
        if (before === after) {
          expect(made).toBe("");
          return;
        }
        expect(applyPatch(before, made ?? "", { autoConvertLineEndings: false })).toBe(after);
        const hunks = (made ?? "").split("\n").slice(2).join("\n");
        expect([removed, added]).toEqual([
          hunks.split("\n").filter((shown) => shown.startsWith("-")).length,
          hunks.split("\n").filter((shown) => shown.startsWith("+")).length,
        ]);
      }),
      runs(300),
    );
  });

  test("of many changes that are far from each other has each of them, and no more", () => {
    const before = numbered(40_000);
    const after = before.map((line, i) => (i % 100 === 50 ? `changed ${line}` : line));
    const made = differ(before.join(""), after.join(""));
    expect([made.removed, made.added]).toEqual([400, 400]);
    expect(countOf(made.text ?? "", "-")).toBe(400);
    expect(applyPatch(before.join(""), made.text ?? "")).toBe(after.join(""));
  });

  test("P5: of texts that differ beyond what is compared lets all old lines go and all new ones come", () => {
    const before = "a\nb\n".repeat(900);
    const after = "b\nc\na\n".repeat(600);
    const { text, removed, added } = differ(before, after);
    expect(applyPatch(before, text ?? "")).toBe(after);
    expect(removed).toBeGreaterThan(100);
    expect(added - removed).toBe(0);
  });

  test("P5: that would be too long is left out, with how many lines go and come", () => {
    const before = "x\n".repeat(300_000);
    expect(differ(before, "y\n".repeat(100_001))).toMatchObject({ removed: 300_000, added: 100_001 });
    expect(differ(before, "y\n").text).toBeUndefined();
    const long = numbered(50_000).join("");
    const { text, removed, added, pauses } = differ(long, long.replaceAll("line", "row"));
    expect([text, removed, added]).toEqual([undefined, 50_000, 50_000]);
    expect(pauses).toBeGreaterThan(10);
    const { text: none, ...counted } = differ("a\n", `a\n${"z".repeat(200_000)}\n`);
    expect([none, counted.added]).toEqual([undefined, 2]);
  });

  test("of what is no text is left out", () => {
    expect(differ(Buffer.from([0xff, 10]), "a\n")).toMatchObject({ removed: 1, added: 1 });
    expect(differ(Buffer.from([0xff, 10]), "a\n").text).toBeUndefined();
  });
});
