import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const shipped = join(root, "benchmarks/harness/shipped.ts");

/** What a suite imports where the benchmarks are, and where a checkout lays them out; in a process of its own, since it then goes. */
const PROGRAM = `
import { join } from "node:path";
const { layOut } = await import(${JSON.stringify(shipped)});
const folder = await layOut(${JSON.stringify(root)});
const here = ${JSON.stringify(join(root, "benchmarks/suites/routing.bench.ts"))};
const there = join(folder, "benchmarks/suites/routing.bench.ts");
const { suite } = await import(there);
const resolved = [here, there].map((from) => Bun.resolveSync("envoi", join(from, "..")));
console.log(JSON.stringify({ folder, resolved, rows: suite.rows.length }));
`;

test("a package is laid out as when it is installed, with what the benchmarks need and no more; the folder goes with the process", async () => {
  const made = await mkdtemp(join(tmpdir(), "envoi-shipped-"));
  const kept = ["package.json", "dist/index.js", "benchmarks/suites/a.bench.ts", "node_modules/mitata/index.js"];
  for (const name of [...kept, "benchmarks/results/a.json", "benchmarks/peers/run.ts", "src/index.ts"]) {
    await Bun.write(join(made, name), "{}");
  }
  const program = `
    const { layOut } = await import(${JSON.stringify(shipped)});
    const folder = await layOut(${JSON.stringify(made)});
    const files = await Array.fromAsync(new Bun.Glob("**").scan({ cwd: folder, followSymlinks: true }));
    console.log(JSON.stringify({ folder, files: files.sort() }));
  `;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  expect(stderr.toString()).toBe("");
  const { folder, files } = JSON.parse(stdout.toString());
  expect(files).toEqual(kept.toSorted());
  expect(existsSync(folder)).toBe(false);
  await rm(made, { recursive: true });
});

test.if(process.env["ENVOI_LONG"] !== undefined)(
  "a checkout is measured as it is shipped: built, and laid out as when it is installed; the folder goes with the process",
  () => {
    const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", PROGRAM], { cwd: root });
    expect(stderr.toString()).toBe("");
    const { folder, resolved, rows } = JSON.parse(stdout.toString());
    expect(resolved).toEqual([join(root, "src/index.ts"), join(folder, "dist/index.js")]);
    expect(rows).toBeGreaterThan(0);
    expect(existsSync(folder)).toBe(false);
  },
);
