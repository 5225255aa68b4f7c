import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canSeeProcesses, descendants, residentBytes } from "../../../benchmarks/harness/processes";
import { type Step, takeSteps } from "../../../scripts/checklist";
import { lastTag, releaseSteps } from "../../../scripts/release-check";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const step = (name: string, isOk: boolean, note = ""): Step => ({ name, run: async () => ({ isOk, note }) });

async function taken(steps: readonly Step[], controller = new AbortController()) {
  const lines: string[] = [];
  const status = await takeSteps(steps, (line) => lines.push(line), controller.signal);
  return { status, text: lines.join("\n") };
}

describe("a release check", () => {
  test("takes every step, whatever fails, sums up and ends with status 1", async () => {
    const throwing: Step = { name: "throws", run: async () => Promise.reject(new Error("no such file")) };
    const { status, text } = await taken([step("first", false, "2 missed"), throwing, step("last", true, "with v1")]);
    expect(status).toBe(1);
    expect(text).toMatch(/^FAILED first +\d+\.\d s {3}2 missed$/m);
    expect(text).toMatch(/^FAILED throws +\d+\.\d s {3}no such file$/m);
    expect(text).toMatch(/^ok {5}last +\d+\.\d s {3}with v1$/m);
    expect(text).toEndWith("2 of 3 failed");
  });

  test("ends with status 0 when all went well", async () => {
    const { status, text } = await taken([step("one", true), step("two", true)]);
    expect({ status, end: text.endsWith("ready for a release") }).toEqual({ status: 0, end: true });
  });

  test("that is interrupted takes no further step, says so, and ends with status 130", async () => {
    const controller = new AbortController();
    const ending: Step = {
      name: "ending",
      run: async () => {
        controller.abort();
        return { isOk: false, note: "" };
      },
    };
    const { status, text } = await taken([ending, step("later", true)], controller);
    expect(status).toBe(130);
    expect(text).not.toContain("later");
    expect(text).toEndWith("interrupted; 1 of 2 steps were not taken");
  });

  test("verifies, holds the documents against the results, checks the targets, and compares with the last tag", () => {
    expect(releaseSteps(".", "results").map(({ name }) => name)).toEqual([
      "verify",
      "documents",
      "benchmarks",
      "comparison",
    ]);
  });
});

test.if(canSeeProcesses)(
  "a Ctrl-C that comes more than once, as through `bun run`, ends what runs and sums up",
  async () => {
    const temporary = await mkdtemp(join(tmpdir(), "envoi-release-test-"));
    folders.push(temporary);
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../../scripts/release-check.ts")], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ["ignore", "pipe", "ignore"],
    });
    while (!(await readdir(temporary)).some((name) => name.startsWith("envoi-verify-"))) await Bun.sleep(5);
    const started = descendants(child.pid);
    for (let times = 0; times < 5; times++, await Bun.sleep(2)) child.kill("SIGINT");
    const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
    expect(text).toEndWith("interrupted; 3 of 4 steps were not taken\n");
    expect({ status, left: await readdir(temporary) }).toEqual({ status: 130, left: [] });
    while (started.some((pid) => residentBytes(pid) > 0)) await Bun.sleep(5); // The kernel takes a moment.
  },
  240_000,
);

describe("the tag to compare with", () => {
  async function repository() {
    const folder = await mkdtemp(join(tmpdir(), "envoi-tags-"));
    folders.push(folder);
    const git = (...args: readonly string[]): void => {
      const named = ["-c", "user.name=test", "-c", "user.email=test@example.org", ...args];
      const { success, stderr } = Bun.spawnSync(["git", ...named], { cwd: folder });
      if (!success) throw new Error(String(stderr));
    };
    const commit = (): void => git("commit", "--quiet", "--allow-empty", "--message", "more");
    git("init", "--quiet");
    commit();
    return { folder, git, commit };
  }

  test("is none where there is no tag, or no repository", async () => {
    const { folder } = await repository();
    expect(lastTag(folder)).toBeUndefined();
    expect(lastTag(tmpdir())).toBeUndefined();
  });

  test("is the last one that led here", async () => {
    const { folder, git, commit } = await repository();
    git("tag", "v1");
    commit();
    git("tag", "v2");
    commit();
    expect(lastTag(folder)).toBe("v2");
  });

  test("is the one before, when this commit is tagged itself", async () => {
    const { folder, git, commit } = await repository();
    git("tag", "v1");
    commit();
    git("tag", "v2");
    expect(lastTag(folder)).toBe("v1");
  });

  test("is none when this commit has the only tag", async () => {
    const { folder, git } = await repository();
    git("tag", "v1");
    expect(lastTag(folder)).toBeUndefined();
  });
});

test("without a tag, the comparison says so and is no failure", async () => {
  const folder = await mkdtemp(join(tmpdir(), "envoi-tags-"));
  folders.push(folder);
  const comparison = releaseSteps(folder, folder).find(({ name }) => name === "comparison");
  const outcome = await comparison?.run(new AbortController().signal);
  expect(outcome).toEqual({ isOk: true, note: "there is no tag yet, so nothing to compare with" });
});
