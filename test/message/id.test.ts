import { describe, expect, test } from "bun:test";
import { generateCorrelationId, generateMessageId } from "../../src/message/id";

const COUNT = 200_000;

describe.each([
  ["message", generateMessageId, /^m-[0-9a-v]{16}-[0-9a-z]{11}$/],
  ["correlation", generateCorrelationId, /^c-[0-9a-v]{16}-[0-9a-z]{11}$/],
] as const)("a %s id", (_, generate, form) => {
  // 155 blocks of 1,296: the block's number reaches two digits of base 36.
  const ids = Array.from({ length: COUNT }, generate);

  test("has one form and one width", () => {
    expect(ids.filter((id) => !form.test(id)).slice(0, 3)).toEqual([]);
  });

  test("is never made twice", () => {
    expect(new Set(ids).size).toBe(COUNT);
  });

  test("sorts by creation within the process, also from one block of 1,296 to the next", () => {
    const misplaced = ids.filter((id, i) => i > 0 && id <= (ids[i - 1] ?? ""));
    expect(misplaced.slice(0, 3)).toEqual([]); // All of them would be 12 MB.
    expect(new Set(ids.map((id) => id.slice(0, -2))).size).toBeGreaterThan(COUNT / 1296);
  });
});

test("ids of messages and of correlations are told apart", () => {
  expect(generateMessageId()[0]).toBe("m");
  expect(generateCorrelationId()[0]).toBe("c");
});

test("ids are unique across processes that start at once", async () => {
  const script = `
    import { generateMessageId } from ${JSON.stringify(require.resolve("../../src/message/id"))};
    console.log(Array.from({ length: 100 }, generateMessageId).join("\\n"));`;
  const outputs = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
      return await new Response(child.stdout).text();
    }),
  );
  const ids = outputs.flatMap((output) => output.trim().split("\n"));
  expect(ids.length).toBe(300);
  expect(new Set([...ids, generateMessageId()]).size).toBe(301);
  expect(new Set(ids.map((id) => id.split("-")[1])).size).toBe(3);
});
