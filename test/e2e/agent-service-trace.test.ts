import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const project = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "envoi-service-trace-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reads what a program writes until a pattern is there. */
async function until(output: AsyncIterator<Uint8Array>, pattern: RegExp, before = ""): Promise<string> {
  let text = before;
  while (!pattern.test(text)) {
    const { done, value } = await output.next();
    if (done === true) throw new Error(`It ended: ${text}`);
    text += new TextDecoder().decode(value);
  }
  return text;
}

test("with --trace, the service shows the trace of a message over HTTP, the agent, its tools and the sandbox", async () => {
  const main = join(project, "examples/agent-service/main.ts");
  const words = [main, "--trace", "--port", "0", "--pause", "0", "--data", folder];
  const child = Bun.spawn([process.execPath, ...words], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const output = child.stdout.values();
  const started = await until(output, /^The agent is at (\S+)$/m);
  const [, url = ""] = /^The agent is at (\S+)$/m.exec(started) ?? [];
  const headers = { "content-type": "application/json" };
  const created = await fetch(`${url}sessions`, { method: "POST", headers, body: '{"metadata":{"title":"tea"}}' });
  const { id } = (await created.json()) as { id: string }; // As docs/sessions.md has it.
  const body = JSON.stringify({ operation: "work", payload: { text: "tea and tea" } });
  const sent = await fetch(`${url}sessions/${id}/messages`, { method: "POST", headers, body });
  await sent.body?.cancel();
  const shown = await until(output, /file-system\.read \([\d.]+ ms\)\n$/, "");
  child.kill("SIGTERM");
  await child.exited;
  const tree = shown.slice(shown.indexOf("POST")).replaceAll(/ \([\d.]+ ms\)/g, "");
  expect(tree.trim().split("\n")).toEqual([
    "POST /sessions/:id/messages",
    "└─ process agent.work",
    "   ├─ process file-system.write",
    "   ├─ process file-system.list",
    "   ├─ process code-execution.execute",
    "   │  └─ process file-system.read",
    "   ├─ process file-system.write",
    "   └─ process file-system.read",
  ]);
}, 30_000);
