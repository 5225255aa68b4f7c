import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

test("SECURITY.md names tests that are there, and each file of attacks", () => {
  const text = readFileSync(join(import.meta.dir, "../../../../SECURITY.md"), "utf8");
  const [, from = ""] = text.split("\n## What the code actor protects against\n");
  const [ofCode = ""] = from.split(/\n## What (?!the code actor)/);
  const named = new Set(Array.from(ofCode.matchAll(/`([\w/-]+\.test\.ts)`/g), ([, name = ""]) => name));
  expect([...named].filter((name) => !existsSync(join(import.meta.dir, "..", name)))).toEqual([]);
  const attacks = [...new Bun.Glob("*.test.ts").scanSync(import.meta.dir)].map((name) => `attacks/${name}`);
  expect(attacks.filter((name) => !named.has(name) && !name.includes("security"))).toEqual([]);
});
