import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { canSeeProcesses, descendants } from "../../benchmarks/harness/processes";
import { ensureBuilt } from "../../benchmarks/harness/shipped";

const home = join(import.meta.dir, "../..");
/** What is built, and what builds it. */
const sources = "benchmarks package.json scripts src tsconfig.build.json tsconfig.json tsup.config.ts".split(" ");

test("a build is as old as its beginning: what is changed while it lasts makes it stale", async () => {
  await ensureBuilt(home);
  const dist = join(home, "dist");
  const begun = statSync(join(dist, "types/index.d.ts")).mtimeMs;
  const others = readdirSync(dist, { recursive: true }).map((name) => statSync(join(dist, String(name))).mtimeMs);
  expect(Math.min(...others)).toBe(begun);
  expect(others.filter((time) => time === begun)).toHaveLength(1);
}, 240_000);

test.if(canSeeProcesses)(
  "a build that is interrupted leaves no process, and nothing of what it made",
  async () => {
    const root = mkdtempSync(join(tmpdir(), "envoi-build-"));
    const filter = (path: string): boolean => basename(path) !== "node_modules";
    for (const name of sources) cpSync(join(home, name), join(root, name), { recursive: true, filter });
    symlinkSync(join(home, "node_modules"), join(root, "node_modules"));
    const child = Bun.spawn([process.execPath, join(root, "scripts/build.ts")], { cwd: root, detached: true });
    while (!readdirSync(root).some((name) => name.startsWith(".dist-"))) await Bun.sleep(5);
    const started = descendants(child.pid);
    process.kill(-child.pid, "SIGINT");
    expect(await child.exited).toBe(130);
    while (started.some((pid) => existsSync(`/proc/${pid}/exe`))) await Bun.sleep(5); // One that ended has none.
    expect(readdirSync(root).sort()).toEqual([...sources, "node_modules"].sort());
    rmSync(root, { recursive: true });
  },
  240_000,
);
