import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importedBy, toolsOf, writeManifest } from "../../../benchmarks/compare/missing";

/** A build as it might have been some revisions ago: no `late`, no `envoi/tools`. */
const DIST = `const a = () => "early"; export { a as early };\n`;
const BENCHMARKS = {
  "program.ts": `#!/usr/bin/env bun\nimport { early } from "envoi";\nearly();\n`,
  "suites/early.ts": `import { early, type Late } from "envoi";\nimport { measure } from "mitata";\nexport const run = (late?: Late) => [early(), late, measure];\n`,
  "suites/late.ts": `import {\n  early,\n  late as soon,\n} from "envoi";\nexport const run = () => [early(), soon()];\n`,
  "suites/tools.ts": `import { spawn } from "envoi/tools";\nimport { deep } from "@scope/pkg/deep";\nexport const run = () => new spawn(deep);\n`,
};

let folder = "";
let missing: readonly string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "envoi-missing-"));
  await Bun.write(join(folder, "dist/index.js"), DIST);
  for (const [name, text] of Object.entries(BENCHMARKS)) await Bun.write(join(folder, "benchmarks", name), text);
  for (const name of ["mitata", "@scope/pkg"]) {
    await Bun.write(
      join(folder, "node_modules", name, "package.json"),
      JSON.stringify({ name, exports: "./index.js" }),
    );
    await Bun.write(join(folder, "node_modules", name, "index.js"), "export const measure = 1;");
  }
  const manifest = { exports: { ".": { types: "./x.d.ts", default: "./dist/index.js" } } };
  missing = await writeManifest(folder, manifest, await importedBy(join(folder, "benchmarks")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a file of the benchmarks gives, or the error that it ends with, in a process of its own. */
function ran(file: string): string {
  const code = `console.log(String((await import(${JSON.stringify(join(folder, "benchmarks/suites", file))})).run()[0]))`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", code], { cwd: folder });
  return `${stdout}${stderr}`;
}

describe("a build that lacks what the benchmarks import", () => {
  test("is told by name, types left out", () => {
    expect(missing).toEqual(["envoi has no late", "envoi/tools has no spawn"]);
  });

  test("runs what it has", () => expect(ran("early.ts")).toBe("early\n"));

  test("loads what needs more, which fails once it is used, with the reason", () => {
    expect(ran("late.ts")).toContain("envoi has no late in this revision");
  });
});

test("a build that has everything keeps its package.json's entries, so nothing lies between", async () => {
  const entry = { types: "./x.d.ts", default: "./dist/index.js" };
  const imported = new Map([["envoi", new Set(["early"])]]);
  expect(await writeManifest(folder, { exports: { ".": entry } }, imported)).toEqual([]);
  expect((await Bun.file(join(folder, "package.json")).json()).exports).toEqual({ ".": entry });
});

test("tools of the benchmarks are the packages that neither envoi is nor brings", async () => {
  const imported = await importedBy(join(folder, "benchmarks"));
  expect(toolsOf(imported, {}).sort()).toEqual(["@scope/pkg", "mitata"]);
  expect(toolsOf(imported, { peerDependencies: { "@scope/pkg": "1.0.0" } })).toEqual(["mitata"]);
});
