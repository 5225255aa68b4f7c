import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

const programs = join(import.meta.dir, "programs");
const bun = process.execPath;
let server: Bun.Subprocess<"ignore", "pipe", "inherit">;
let url = "";

beforeAll(async () => {
  server = Bun.spawn([bun, join(programs, "serve.ts")], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const reader = server.stdout.getReader();
  url = new TextDecoder().decode((await reader.read()).value).trim();
  reader.releaseLock();
});
afterAll(() => server.kill());

async function run(kind: string, ...place: readonly string[]): Promise<unknown> {
  const client = Bun.spawn([bun, join(programs, "client.ts"), kind, ...place], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await client.stdout.text();
  expect(await client.exited).toBe(0);
  return JSON.parse(text);
}

const SEEN = {
  resources: ["files://notes/tea.md"],
  contents: ["# Tea"],
  prompts: ["greet"],
  messages: ["Hello, Ada"],
  tools: 15,
  add: { sum: 3 },
  wrong: true,
  missing: true,
  count: { items: [1, 2, 3], isComplete: true },
  unknown: -32_602,
  work: { value: "done with it" },
  progress: true,
  never: "given up",
};

describe.each([
  ["v1", "old"],
  ["v2", "2025-11-25"],
  ["v2-auto", "2026-07-28"],
])("the official client %s", (kind, version) => {
  test("uses a server over stdio", async () => {
    expect(await run(kind, bun, join(programs, "serve.ts"), "stdio")).toEqual({ ...SEEN, version });
  }, 30_000);

  test("uses a server over streamable HTTP", async () => {
    expect(await run(kind, url)).toEqual({ ...SEEN, version });
  }, 30_000);
});

test("a server over stdio ends with its client", async () => {
  const child = Bun.spawn([bun, join(programs, "serve.ts"), "stdio"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const ping = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  child.stdin.write(`no json\n\n${JSON.stringify(ping)}\n`);
  await child.stdin.flush();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toContain("desk_add");
  child.stdin.end();
  expect(await child.exited).toBe(0);
}, 30_000);
