import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canSeeProcesses, descendants, residentBytes } from "../../../benchmarks/harness/processes";
import { type Step, takeSteps } from "../../../scripts/checklist";
import { lastTag, program, releaseSteps } from "../../../scripts/release-check";

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "envoi-release-test-"));
  await use(folder).finally(() => rm(folder, { recursive: true }));
}

const step = (name: string, isOk: boolean, note = ""): Step => ({ name, run: async () => ({ isOk, note }) });

async function taken(steps: readonly Step[]) {
  const lines: string[] = [];
  const status = await takeSteps(steps, (line) => lines.push(line), new AbortController().signal);
  return { status, text: lines.join("\n") };
}

test("a release check takes every step, whatever fails, sums up and ends with status 1, or 0 when all went well", async () => {
  const throwing: Step = { name: "throws", run: async () => Promise.reject(new Error("no such file")) };
  const { status, text } = await taken([step("first", false, "2 missed"), throwing, step("last", true, "with v1")]);
  expect(status).toBe(1);
  expect(text).toMatch(/^FAILED first +\d+\.\d s {3}2 missed$/m);
  expect(text).toMatch(/^FAILED throws +\d+\.\d s {3}no such file$/m);
  expect(text).toMatch(/^ok {5}last +\d+\.\d s {3}with v1$/m);
  expect(text).toEndWith("2 of 3 failed");
  const well = await taken([step("one", true), step("two", true)]);
  expect({ status: well.status, end: well.text.endsWith("ready for a release") }).toEqual({ status: 0, end: true });
});

test("a release passes with rows that could not be judged, and says that they are named; with any that were missed it fails", () =>
  inFolder(async (folder) => {
    const outcomes = [0, 1, 3].map((status) =>
      program(folder, "-e", `process.exit(${status})`)(new AbortController().signal),
    );
    expect(await Promise.all(outcomes)).toEqual([
      { isOk: true, note: "" },
      { isOk: false, note: "status 1" },
      { isOk: true, note: "not all could be judged; they are named above" },
    ]);
  }));

test.if(canSeeProcesses)(
  "a Ctrl-C that comes more than once, as through `bun run`, ends what runs and sums up",
  () =>
    inFolder(async (temporary) => {
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
    }),
  240_000,
);

test("the tag to compare with is the last one that led here, and of a commit that is tagged itself the one before", () =>
  inFolder(async (folder) => {
    const git = (...args: readonly string[]): void => {
      const named = ["-c", "user.name=test", "-c", "user.email=test@example.org", ...args];
      const { success, stderr } = Bun.spawnSync(["git", ...named], { cwd: folder });
      if (!success) throw new Error(String(stderr));
    };
    const commit = () => git("commit", "--quiet", "--allow-empty", "--message", "more");
    const steps = [
      () => {},
      () => git("init", "--quiet"),
      commit,
      () => git("tag", "v1"),
      commit,
      () => git("tag", "v2"),
      commit,
    ];
    const seen = steps.map((next) => {
      next();
      return lastTag(folder);
    });
    expect(seen).toEqual([undefined, undefined, undefined, undefined, "v1", "v1", "v2"]);
    git("tag", "--delete", "v1", "v2");
    const outcome = await releaseSteps(folder).at(-1)?.run(new AbortController().signal);
    expect(outcome).toEqual({ isOk: true, note: "there is no tag yet, so nothing to compare with" });
  }));
