import { expect, test } from "bun:test";
import { isBuiltin } from "node:module";

const folder = `${import.meta.dir}/../../../src/tools/code`;

test.each([
  ["source/source-worker", ["@sveltejs/acorn-typescript", "acorn"]],
  ["sandbox/sandbox-worker", ["@jitl/quickjs-wasmfile-release-sync/emscripten-module"]],
  ["process/process-worker", []],
])(
  "%s loads what it works with, and none of the packages that actors need, which take 90 ms",
  async (name, packages) => {
    const { outputs } = await Bun.build({
      entrypoints: [`${folder}/${name}.ts`],
      target: "bun",
      packages: "external",
    });
    const text = (await Promise.all(outputs.map((output) => output.text()))).join("");
    const imports = new Bun.Transpiler().scanImports(text).map(({ path }) => path);
    expect(imports.filter((path) => !isBuiltin(path)).sort()).toEqual([...packages].sort());
  },
);
