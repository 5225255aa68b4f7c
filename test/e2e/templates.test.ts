import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json";
import { pack } from "../../scripts/pack";

const root = join(import.meta.dir, "../..");
const templates = join(root, "examples/templates");

/** A way to start a template, and what comes of it, its lines in alphabetical order. */
interface Start {
  readonly words: readonly string[];
  readonly lines: readonly string[];
  readonly status: number;
  readonly says: string;
}

const STARTS: Readonly<Record<string, readonly Start[]>> = {
  "job-pipeline": [
    {
      words: ["jobs.jsonl"],
      lines: [
        '{"id":"empty","ok":false,"reason":"there are no words","attempts":1}',
        '{"id":"haiku","ok":true,"value":{"words":13,"longest":"splash!"},"attempts":1}',
        '{"id":"proverb","ok":true,"value":{"words":6,"longest":"rolling"},"attempts":1}',
        '{"id":"typo","ok":false,"reason":"not a job: /text is required","attempts":0}',
      ],
      status: 1, // Two of its four jobs are there to fail.
      says: "2 done, 2 failed.",
    },
    {
      words: ["no-such.jsonl"],
      lines: [""],
      status: 2,
      says: "The jobs cannot be read: ENOENT: no such file or directory, open 'no-such.jsonl'. 0 done, 0 failed.",
    },
  ],
};

/** Runs Bun in a folder, as a user would who has no checkout of envoi. */
async function bun(cwd: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd,
    env: { ...process.env, BUN_CREATE_DIR: templates, NO_COLOR: "1", FORCE_COLOR: undefined },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { exitCode, stdout, stderr };
}

for (const name of new Bun.Glob("*/package.json").scanSync({ cwd: templates })) {
  const template = name.split("/")[0] ?? "";
  describe(`a project made of the template ${template}, with the packed envoi`, () => {
    let folder = "";
    let project = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "envoi-template-"));
      project = join(folder, "mine");
      const created = await bun(folder, "create", "--no-install", "--no-git", template, "mine");
      if (created.exitCode !== 0) throw new Error(created.stderr);
      const own = await Bun.file(join(project, "package.json")).json();
      const { typescript, ...others } = own.devDependencies as Record<string, string>; // As the template has them.
      expect(typescript).toBeDefined();
      const devDependencies = { ...others, "@types/bun": manifest.devDependencies["@types/bun"] };
      const dependencies = { ...own.dependencies, envoi: `file:${pack(folder)}` };
      await Bun.write(join(project, "package.json"), JSON.stringify({ ...own, dependencies, devDependencies }));
      const installed = await bun(project, "install");
      if (installed.exitCode !== 0) throw new Error(installed.stderr);
    }, 240_000);
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test("wants the version of envoi that is here", async () => {
      const { dependencies } = await Bun.file(join(templates, template, "package.json")).json();
      expect(Bun.semver.satisfies(manifest.version, dependencies.envoi)).toBe(true);
    });

    test("its tests pass", async () => {
      const { exitCode, stderr } = await bun(project, "test");
      expect({ exitCode, failed: /^ *0 fail$/m.test(stderr) ? "" : stderr }).toEqual({ exitCode: 0, failed: "" });
    }, 130_000);

    test("the compiler accepts it", async () => {
      const tsc = join(root, "node_modules/typescript-5.9/bin/tsc");
      expect((await bun(project, tsc)).stdout).toBe("");
    }, 130_000);

    const starts = STARTS[template] ?? [];
    test("it starts, as its README says", async () => {
      if (starts.length === 0) throw new Error(`Say in STARTS how ${template} is started, and what it prints.`);
      for (const { words, lines, status, says } of starts) {
        const { exitCode, stdout, stderr } = await bun(project, "start", ...words);
        expect(stdout.trim().split("\n").sort()).toEqual([...lines]);
        expect(stderr).toContain(says);
        expect(exitCode).toBe(status);
      }
    }, 60_000);
  });
}
