import { afterEach, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeMachine, revisionOf } from "../../benchmarks/harness/machine";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function project(): string {
  const folder = mkdtempSync(join(tmpdir(), "envoi-machine-"));
  folders.push(folder);
  writeFileSync(join(folder, "package.json"), '{ "name": "envoi", "version": "1.2.3" }');
  return folder;
}

/** A repository with one commit. */
function repository(): string {
  const folder = project();
  const who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...who, "commit", "-qm", "First"],
  ]) {
    expect(Bun.spawnSync(["git", ...args], { cwd: folder }).exitCode).toBe(0);
  }
  return folder;
}

test("a checkout is named by its commit, and says when it has changes", () => {
  const folder = repository();
  const { commit, version } = describeMachine(folder);
  expect(commit).toMatch(/^[0-9a-f]{7,}$/);
  expect(version).toBeUndefined();
  writeFileSync(join(folder, "package.json"), "{}");
  expect(describeMachine(folder).commit).toBe(`${commit} with changes`);
  expect(revisionOf(describeMachine(folder))).toBe(`commit ${commit} with changes`);
});

test("a package in somebody's repository is named by its version, not by a commit of theirs", () => {
  const folder = repository();
  const installed = join(folder, "node_modules/envoi");
  mkdirSync(installed, { recursive: true });
  cpSync(join(folder, "package.json"), join(installed, "package.json"));
  expect(describeMachine(installed)).toMatchObject({ version: "1.2.3" });
  expect(describeMachine(installed)).not.toHaveProperty("commit");
});

test("what is in no repository is named by its version", () => {
  expect(revisionOf(describeMachine(project()))).toBe("version 1.2.3");
});
