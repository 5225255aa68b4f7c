import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "../..");
const textOf = (page: string): Promise<string> => Bun.file(join(root, page)).text();
const guides = [...new Bun.Glob("*.md").scanSync({ cwd: join(root, "docs") })].filter((name) => name !== "README.md");
const pages = ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/README.md"];
pages.push(...guides.map((name) => `docs/${name}`));

/** The name by which a heading can be linked. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

test("the README can be read in one sitting: at most 250 lines", async () => {
  expect((await textOf("README.md")).trimEnd().split("\n").length).toBeLessThanOrEqual(250);
});

test("the README and the list of guides lead to each guide", async () => {
  const [readme, list] = [await textOf("README.md"), await textOf("docs/README.md")];
  const missing = guides.filter((name) => !readme.includes(`(docs/${name})`) || !list.includes(`(${name})`));
  expect(missing).toEqual([]);
});

test.each(pages)("each link of %s leads to a file, and to a heading of it", async (page) => {
  const broken: string[] = [];
  for (const [, link = ""] of (await textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
    const [path = "", heading] = link.split("#");
    if (/^\w+:/.test(link)) continue;
    const file = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, file))) broken.push(link);
    else if (heading !== undefined) {
      const headings = [...(await textOf(file)).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => anchor(text));
      if (!headings.includes(heading)) broken.push(link);
    }
  }
  expect(broken).toEqual([]);
});

test.each([
  ["the door to HTTP", "What the door to HTTP protects against", "test/http", 30],
  ["recordings", "What recordings protect against", "test/record", 5],
  ["workers and clusters", "What workers and clusters protect against", "test", 5],
])("each test that SECURITY.md names for %s is there", async (_, heading, folder, least) => {
  const tests = [...new Bun.Glob("**/*.test.ts").scanSync({ cwd: join(root, folder) })];
  const [, behind = ""] = (await textOf("SECURITY.md")).split(`## ${heading}\n`);
  const [section = ""] = behind.split("\n## ");
  const named = [...section.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(least);
  expect(named.filter((name) => !tests.some((file) => `${folder}/${file}`.endsWith(name)))).toEqual([]);
});

test("each test that the comparison of distribution names is there, and each promise of ours names one", async () => {
  const [, ...sections] = (await textOf("docs/distribution.md")).split("\n## ");
  const promises = sections.filter((section) => section.includes("**envoi**"));
  expect(promises.length).toBeGreaterThan(10);
  for (const section of promises) {
    const named = [...section.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, name = ""]) => name);
    expect(named, section).not.toEqual([]);
    expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  }
});

test("each promise that a test names is on the page of promises", async () => {
  const listed = new Set((await textOf("docs/promises.md")).match(/(?<=^## )P\d+(?=: )/gm));
  const named = new Set<string>();
  for await (const file of new Bun.Glob("**/*.test.ts").scan({ cwd: import.meta.dir.replace(/package$/, "") })) {
    const text = await textOf(join("test", file));
    for (const [, promise = ""] of text.matchAll(/["'`](P\d+): /g)) named.add(promise);
  }
  expect([...named].filter((promise) => !listed.has(promise))).toEqual([]);
  expect(listed.size).toBe(18);
});
