import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingPeers, needOf } from "../../benchmarks/harness/shipped";
import manifest from "../../package.json";

const project = join(import.meta.dir, "../..");

/** Lays a root out in a process of its own, since the folder goes with it, and gives what `look` finds there. */
function laidOut<Found>(root: string, look: string): Found & { readonly folder: string } {
  const program = `
    const { layOut } = await import(${JSON.stringify(join(project, "benchmarks/harness/shipped.ts"))});
    const folder = await layOut(${JSON.stringify(root)});
    console.log(JSON.stringify({ folder, ...(${look}) }));
  `;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program], { cwd: project });
  expect(stderr.toString()).toBe("");
  return JSON.parse(stdout.toString());
}

test("a package is laid out as when it is installed, with what the benchmarks need and no more; the folder goes with the process", async () => {
  const made = await mkdtemp(join(tmpdir(), "envoi-shipped-"));
  const kept = ["package.json", "dist/index.js", "benchmarks/suites/a.bench.ts", "node_modules/mitata/index.js"];
  for (const name of [...kept, "benchmarks/results/a.json", "benchmarks/peers/run.ts", "src/index.ts"])
    await Bun.write(join(made, name), "{}");
  const list = `{ files: await Array.fromAsync(new Bun.Glob("**").scan({ cwd: folder, followSymlinks: true })) }`;
  const { folder, files } = laidOut<{ readonly files: string[] }>(made, list);
  expect(files.sort()).toEqual(kept.toSorted());
  expect(existsSync(folder)).toBe(false);
  await rm(made, { recursive: true });
});

test("rows that are left out name the packages of their own suite that are not installed", async () => {
  const made = await mkdtemp(join(tmpdir(), "envoi-shipped-"));
  await Bun.write(join(made, "package.json"), JSON.stringify(manifest));
  const named = (suite: string) =>
    missingPeers(made, needOf(suite)).map((each) => each.slice(0, each.lastIndexOf("@")));
  expect(named("telemetry").toSorted()).toEqual([
    "@opentelemetry/api",
    "@opentelemetry/context-async-hooks",
    "@opentelemetry/sdk-trace",
  ]);
  expect(named("mcp")).toEqual(["@modelcontextprotocol/server"]);
  expect(named("sandbox")).toContain("acorn");
  await rm(made, { recursive: true });
});
