import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { hasNats, server } from "../nats/rooms";
import { blocksOf, fill, runScript } from "./page";

const root = join(import.meta.dir, "../..");
const pages = ["README.md", ...new Bun.Glob("docs/*.md").scanSync({ cwd: root })].sort();
/** Lists of other pages, and pages that are one table. */
const withoutCode = ["docs/README.md", "docs/promises.md", "docs/distribution.md"];
const blocks = (
  await Promise.all(
    pages.map(async (page) =>
      blocksOf(await Bun.file(join(root, page)).text()).map((block) => ({
        ...block,
        page,
        script: join(page.replaceAll(/[/.]/g, "-"), block.file ?? `line-${block.line}.ts`),
      })),
    ),
  )
).flat();

const needsNats = (code: string): boolean => code.includes('"envoi/nats"');
if (hasNats) process.env["NATS_URL"] = (await server()).url; // The blocks read it.

describe("every code block of the README and of the guides runs with the built package and prints what the page says", () => {
  let folder = "";
  beforeAll(async () => {
    const built = await runScript(root, "scripts/build.ts", "--if-stale");
    if (built.exitCode !== 0) throw new Error(built.stderr);
    const cache = join(root, "node_modules/.cache");
    await mkdir(cache, { recursive: true });
    folder = await mkdtemp(join(cache, "readme-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(root, join(folder, "node_modules/envoi"));
    const config = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: { paths: {} }, // Of the package, its declarations are read, and no source is compiled.
      include: ["**/*.ts"],
      exclude: [],
    };
    await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(config));
    for (const { script, code } of blocks) await Bun.write(join(folder, script), code);
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(pages.filter((page) => !withoutCode.includes(page)))("%s has some", (page) =>
    expect(blocks.some((block) => block.page === page)).toBe(true),
  );

  test("the compiler accepts them", async () => {
    const { stdout } = await runScript(root, join(root, "node_modules/typescript/bin/tsc"), "-p", folder);
    expect(stdout).toBe("");
  }, 240_000);

  for (const { page, script, line, heading, file, output, code } of blocks) {
    const isTest = script.endsWith(".test.ts");
    if (file !== undefined && output === undefined && !isTest) continue; // Other blocks import it.
    test.skipIf(needsNats(code) && !hasNats)(
      `${page}, line ${line}, ${heading}`,
      async () => {
        const { exitCode, stdout, stderr } = await runScript(folder, ...(isTest ? ["test", `./${script}`] : [script]));
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: exitCode === 0 ? stderr : "" });
        if (output !== undefined) expect(stdout.trim()).toBe(fill(output, stdout));
      },
      240_000,
    );
  }
});

describe("blocksOf", () => {
  test("finds each ts block, its heading, and the text block that follows it", () => {
    const page = ["# A", "```sh", "# no heading", "```", "```ts", "one();", "```", "prints", "```text", "1", "```"];
    page.push("## B", "```typescript", "two();", "```", "## C", "```text", "not its output", "```");
    expect(blocksOf(page.join("\n"))).toEqual([
      { line: 5, heading: "A", code: "one();\n", file: undefined, output: "1" },
      { line: 13, heading: "B", code: "two();\n", file: undefined, output: undefined },
    ]);
  });

  test("takes the name of a block from its first line", () => {
    const blocks = blocksOf(
      "```ts\n// shop.ts\nexport {};\n```\n```ts\n// about shop.ts\n```\n```ts\n// a.test.ts\n```",
    );
    expect(blocks.map(({ file }) => file)).toEqual(["shop.ts", undefined, "a.test.ts"]);
  });

  test("… stands for anything within its line", () => {
    expect(fill("took … ms\nend", "took 3.5 ms\nend\n")).toBe("took 3.5 ms\nend");
    expect(fill("took … ms\nend", "took 3.5 s\nend\n")).toBe("took … ms\nend");
  });
});
