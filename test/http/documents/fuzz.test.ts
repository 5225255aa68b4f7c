import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLong } from "../../property/runs";
import { notesService } from "./service";

const TOOL = "schemathesis==4.32.5";
const python = Bun.which("python3");
const folder = isLong ? mkdtempSync(join(tmpdir(), "envoi-fuzz-")) : "";

afterAll(() => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

async function run(...command: string[]): Promise<{ readonly code: number; readonly output: string }> {
  const child = Bun.spawn(command, {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, PYTHONPATH: folder, HYPOTHESIS_STORAGE_DIRECTORY: join(folder, ".hypothesis") },
    cwd: folder,
  });
  const [out, failures, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: out + failures };
}

const hasPip = isLong && python !== null && (await run(python, "-m", "pip", "--version")).code === 0;
if (isLong && !hasPip) {
  console.log(`Skipped, as there is no pip: pip install ${TOOL}; schemathesis run http://localhost:3000/openapi.json`);
}

test.skipIf(!hasPip)(
  "P18: a fuzzer of APIs finds no status beyond the document, no 5xx, and no answer that is not as the document says",
  async () => {
    const { gateway, system } = notesService({ metrics: true });
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: gateway.fetch });
    const program = python ?? "";
    const installed = await run(program, "-m", "pip", "install", "--quiet", "--target", folder, TOOL);
    expect([installed.code, installed.output.slice(-2_000)]).toEqual([0, expect.anything()]);
    const { code, output } = await run(
      program,
      join(folder, "bin", "schemathesis"),
      "run",
      `${server.url}openapi.json`,
      "--max-examples=100",
      "--seed=20",
      "--no-color",
    );
    await server.stop(true);
    await system.shutdown();
    expect([code, code === 0 ? "" : output.slice(-20_000)]).toEqual([0, ""]);
  },
  600_000,
);
