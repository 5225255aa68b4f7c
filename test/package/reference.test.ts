import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ENTRIES, type Exported, readExports } from "../../scripts/docs/exports";
import { llmsFiles, SHORT } from "../../scripts/docs/llms";
import typedoc from "../../scripts/docs/typedoc.json";

const root = join(import.meta.dir, "../..");
const all = readExports(root);
const own = all.filter(({ file }) => file !== ""); // The others are documented in the packages that they come from.

const has = ({ tags }: Exported, tag: string): boolean => tags.some(({ name }) => name === tag);
const named = (found: readonly Exported[]): string[] =>
  found.map(({ entry, file, name }) => `${entry}: ${name}, in ${file}`);
const callable = own.filter(({ kind }) => kind === "function" || kind === "class");

describe("the doc comments of what the entry points export", () => {
  test("all exports are found", () => {
    expect(Object.keys(Object.groupBy(own, ({ entry }) => entry)).sort()).toEqual(Object.keys(ENTRIES).sort());
    expect(own.find(({ name }) => name === "createSystem")?.kind).toBe("function");
    expect(all.length - own.length).toBeLessThan(10);
  });

  test("the API reference has a page of each entry point", () => {
    const paths = Object.keys(ENTRIES).map((entry) => `entries/${entry}.ts`);
    expect(typedoc.entryPoints).toEqual(paths);
    expect(paths.filter((path) => !existsSync(join(root, "scripts/docs", path)))).toEqual([]);
  });

  test("each export has a sentence", () => {
    expect(named(own.filter(({ comment }) => !/[.:](\s|$)/.test(comment)))).toEqual([]);
  });

  test("each function and each class has an example", () => {
    expect(named(callable.filter((each) => !has(each, "example")))).toEqual([]);
  });

  test("each function that throws says what; one that gives a Result catches it", () => {
    const throwing = callable.filter(({ throws, signatures }) => throws && !/\): Result</.test(signatures.join()));
    expect(throwing.length).toBeGreaterThan(15);
    expect(named(throwing.filter((each) => !has(each, "throws")))).toEqual([]);
  });

  test("each option has a sentence, and a default where it may be left out", () => {
    const options = own.flatMap(({ name: of, options }) => options.map((option) => ({ of, ...option })));
    expect(options.length).toBeGreaterThan(80);
    const lacking = options.filter(
      ({ comment, isOptional }) => comment === "" || (isOptional && !/Default/.test(comment)),
    );
    expect(lacking.map(({ of, name }) => `${of}.${name}`)).toEqual([]);
  });
});

describe("llms.txt and llms-full.txt", () => {
  test("are what `bun run docs --llms` makes of the README, the guides and the exports", async () => {
    for (const [name, text] of Object.entries(await llmsFiles(root, all))) {
      const kept = await Bun.file(join(root, name)).text();
      const line = text.split("\n").findIndex((each, index) => each !== kept.split("\n")[index]);
      const place = line < 0 ? "its end" : `line ${line + 1}: ${text.split("\n")[line]}`;
      expect(kept === text ? "" : `${name} is not up to date at ${place}. Run \`bun run docs --llms\`.`).toBe("");
    }
  });

  test("lead to files that are there", async () => {
    const links = [...(await Bun.file(join(root, SHORT)).text()).matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)];
    expect(links.length).toBeGreaterThan(15);
    expect(links.map(([, path = ""]) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
