import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeMachine, revisionOf } from "../../benchmarks/harness/machine";

const folder = mkdtempSync(join(tmpdir(), "envoi-machine-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a checkout is named by its commit and its changes; a package, in somebody's repository or none, by its version", () => {
  writeFileSync(join(folder, "package.json"), '{ "name": "envoi", "version": "1.2.3" }');
  expect(revisionOf(describeMachine(folder))).toBe("version 1.2.3");
  const who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...who, "commit", "-qm", "First"],
  ]) {
    expect(Bun.spawnSync(["git", ...args], { cwd: folder }).exitCode).toBe(0);
  }
  const { commit, version } = describeMachine(folder);
  expect(commit).toMatch(/^[0-9a-f]{7,}$/);
  expect(version).toBeUndefined();
  const installed = join(folder, "node_modules/envoi");
  mkdirSync(installed, { recursive: true });
  cpSync(join(folder, "package.json"), join(installed, "package.json"));
  expect(describeMachine(installed)).toMatchObject({ version: "1.2.3" });
  expect(describeMachine(installed)).not.toHaveProperty("commit");
  expect(revisionOf(describeMachine(folder))).toBe(`commit ${commit} with changes`);
});
