import { expect, test } from "bun:test";
import { join } from "node:path";

const entry = join(import.meta.dir, "../../../src/http/client/index.ts");

test("the client is a bundle of less than 8 kB, compressed, without neverthrow, the socket that is loaded late, and any code of the server", async () => {
  const bundled: string[] = [];
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    minify: true,
    splitting: true,
    external: ["neverthrow"],
    plugins: [
      {
        name: "files",
        setup: (build) =>
          void build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            bundled.push(path);
            return { contents: await Bun.file(path).text(), loader: "ts" };
          }),
      },
    ],
  });
  const texts = new Map<string, string>();
  for (const output of outputs) texts.set(output.path, await output.text());
  const importsOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, from = ""]) => from);
  const start = texts.get("./index.js") ?? "";
  const first = importsOf(start, /(?:from|import) ?"(\.\/[^"]+)"/g);
  const late = importsOf(start, /import\("(\.\/[^"]+)"\)/g);
  expect([first.length + late.length + 1, late.length]).toEqual([texts.size, 1]);
  const sizeOf = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + Bun.gzipSync(texts.get(path) ?? "", { level: 9 }).length, 0);
  expect(sizeOf(["./index.js", ...first])).toBeLessThan(8_000);
  expect(sizeOf(late)).toBeLessThan(4_000);
  const text = [...texts.values()].join("");
  expect(text.length).toBeGreaterThan(10_000);
  expect(bundled.length).toBeGreaterThan(10);
  expect(bundled.filter((path) => !path.includes("/src/http/client/"))).toEqual([]);
  const imported = importsOf(text, /from ?"([^".][^"]*)"|require\(/g);
  expect([...new Set(imported)]).toEqual(["neverthrow"]);
  expect(text).not.toMatch(/\bBun\b|\bprocess\b|\bBuffer\b/);
});
