import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sandbox } from "./kit";

const program = join(import.meta.dir, "programs/hostile.ts");
const { tier, run } = sandbox({ program });
afterAll(() => tier.dispose());

describe("Sandbox: a process that somebody took over", () => {
  for (const [body, kind] of [
    ["for the next", "crashed"],
    ["ready again", "crashed"],
    ["no JSON", "crashed"],
    ["no news", "crashed"],
    ["no such kind", "crashed"],
    ["no such level", "crashed"],
    ["no text", "crashed"],
    ["a value that is none", "crashed"],
    ["exit", "crashed"],
    ["a line without end", "crashed"],
    ["logs without end", "output-limit"],
    ["a value too large", "output-limit"],
  ] as const) {
    test(`harms its own run only: ${body}`, async () => {
      const ended = await run(body, { maxOutput: 50_000 });
      expect(ended.kind).toBe(kind);
      expect(JSON.stringify(ended)).not.toContain("forged");
      expect(await run("honest")).toMatchObject({ kind: "value", value: "1" });
    });
  }

  test("cannot answer the next run before it began", async () => {
    const [first, second] = await Promise.all([run("twice"), run("honest")]);
    expect(first).toMatchObject({ kind: "value", value: "1" });
    expect(JSON.stringify(second)).not.toContain("forged");
  });

  test("may write in pieces of any size", async () => {
    expect(await run("in pieces")).toMatchObject({ kind: "value", value: '"ü"' });
  });

  test("that says nothing is ended in time", async () => {
    expect(await run("silent", { timeout: 20 })).toMatchObject({ kind: "timeout" });
  });

  test("that ends before it is ready is tried again, and told of where that does not help", async () => {
    const broken = sandbox({ program: join(import.meta.dir, "programs/there-is-none.ts") });
    expect(await broken.run("return 1")).toMatchObject({ kind: "unavailable" });
    expect(await broken.run("return 1")).toMatchObject({ kind: "unavailable" });
    await broken.tier.dispose();
  });
});
