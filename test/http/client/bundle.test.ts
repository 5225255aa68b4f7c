import { expect, test } from "bun:test";
import { join } from "node:path";

const entry = join(import.meta.dir, "../../../src/http/client/index.ts");

test("the client is a bundle of less than 8 kB, compressed, without neverthrow, and with no code of the server", async () => {
  const bundled: string[] = [];
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    minify: true,
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
  const text = (await outputs[0]?.text()) ?? "";
  expect(Bun.gzipSync(text, { level: 9 }).length).toBeLessThan(8_000);
  expect(text.length).toBeGreaterThan(1_000);
  expect(bundled.length).toBeGreaterThan(5);
  expect(bundled.filter((path) => !path.includes("/src/http/client/"))).toEqual([]);
  const imported = [...text.matchAll(/from ?"([^"]+)"|import\(|require\(/g)].map(([, from]) => from);
  expect([...new Set(imported)]).toEqual(["neverthrow"]);
  expect(text).not.toMatch(/\bBun\b|\bprocess\b|\bBuffer\b/);
});
