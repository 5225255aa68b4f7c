import { describe, expect, test } from "bun:test";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "../../../benchmarks/compare/compare";
import type { Report } from "../../../benchmarks/compare/report";
import { descendants } from "../../../benchmarks/harness/processes";
import { addExport, copyOfTree, listening, slowDown, tinyTree } from "./tree";

const root = join(import.meta.dir, "../../..");
const isLong = process.env["ENVOI_LONG"] !== undefined;
/** Two builds, and a row in some thirty processes, on a busy machine; in milliseconds. */
const PATIENCE = isLong ? 1_200_000 : 240_000;
const ROW = "ref.ask in sequence, sync handler, default timeout";

/** The long form takes all rows of the suite, in full. */
const options = { suites: ["routing"], json: true, ...(isLong ? { quick: false } : { quick: true, filter: ROW }) };

async function reported(folder: string): Promise<{ readonly status: number; readonly report: Report }> {
  const { around, said } = listening(folder);
  const status = await compare("HEAD", options, around);
  expect(said.out, said.err).not.toBe("");
  return { status, report: JSON.parse(said.out) };
}

// A minute and a half for one row. Without it, simulated runs hold what is told of readings (judge.test.ts).
const testOfBuilds = test.if(isLong);

testOfBuilds(
  "a build that was slowed down on purpose is slower than the commit before it, and misses its target: status 1 of both",
  async () => {
    await using tree = await copyOfTree();
    await slowDown(tree);
    const { status, report } = await reported(tree.root);
    expect(report.comparisons.find(({ row }) => row === ROW)?.verdict).toBe("slower");
    expect(status).toBe(1);
    expect(report.present.commit).toEndWith("with changes");

    const command = ["benchmarks/run.ts", "routing", "--quick", "--check", "--filter", ROW];
    const child = Bun.spawn([process.execPath, ...command], { cwd: tree.root, stdio: ["ignore", "pipe", "pipe"] });
    const [checked, complaint] = await Promise.all([child.exited, child.stderr.text(), child.stdout.text()]);
    expect(complaint).toContain(`missed: routing: "${ROW}" has ratio`);
    expect(checked).toBe(1);
  },
  PATIENCE,
);

testOfBuilds(
  "the same build twice is no difference, and a row that the other revision cannot run is left out, with the reason",
  async () => {
    await using tree = await copyOfTree();
    const added = `${ROW}, with a new export`;
    await addExport(tree, "newlyAdded", added);
    const { status, report } = await reported(tree.root);
    expect(report.comparisons.map(({ verdict }) => verdict)).toEqual(report.comparisons.map(() => "no difference"));
    expect(report.comparisons.length).toBeGreaterThan(0);
    expect([0, 3]).toContain(status); // 3 on a machine that is too busy to tell.
    const why = "with the base: envoi has no newlyAdded in this revision";
    expect(report.notCompared).toEqual([{ suite: "routing", row: added, why, isBroken: false }]);
    expect(report.missing).toEqual(["envoi has no newlyAdded"]);
  },
  PATIENCE,
);

describe("what cannot be compared ends with status 2, and says why:", () => {
  const ended = async (folder: string, revision: string, suites: string[] = []) => {
    const { around, said } = listening(folder);
    const status = await compare(revision, { suites, quick: true, json: false }, around);
    expect(said.out).toBe("");
    return { status, said: said.err };
  };

  for (const revision of ["v99", "--all", ""]) {
    test(`the revision "${revision}"`, async () => {
      const { status, said } = await ended(root, revision);
      expect(status).toBe(2);
      expect(said).toStartWith(`There is no revision "${revision}" here; \`git tag\``);
    });
  }

  test("a folder that is no checkout", async () => {
    const folder = await mkdtemp(join(tmpdir(), "envoi-no-checkout-"));
    const { status, said } = await ended(folder, "HEAD");
    expect(status).toBe(2);
    expect(said).toStartWith("--compare builds revisions, so it needs a checkout of envoi and git");
    await rm(folder, { recursive: true });
  });

  test("a tree that does not build", async () => {
    await using tree = await tinyTree("throw new Error('a typing mistake')");
    const { status, said } = await ended(tree.root, "HEAD");
    expect(status).toBe(2);
    expect(said).toContain("could not be built: `bun scripts/build.ts` ended with 1:");
    expect(said).toContain("a typing mistake");
  });
});

describe("once it is interrupted", () => {
  for (const [when, text, made, isShort] of [
    ["while it builds", "building", () => tinyTree("await Bun.sleep(1e9)"), true],
    ["while it measures", "first look", copyOfTree, isLong],
  ] as const) {
    test.if(isShort)(
      `${when}, it ends with status 130, and leaves no process, folder, worktree or change`,
      async () => {
        await using tree = await made();
        const tmp = await realpath(await mkdtemp(join(tmpdir(), "envoi-interrupted-")));
        const usual = process.env["TMPDIR"];
        process.env["TMPDIR"] = tmp;
        try {
          const { around, said, abort } = listening(tree.root);
          const before = await filesInMemory();
          said.onProgress = (line) => {
            if (line.startsWith(text)) setImmediate(abort);
          };
          const chosen = { suites: ["files"], filter: "tmpfs", quick: true, json: false };
          expect(await compare("HEAD", chosen, around)).toBe(130);
          expect(descendants(process.pid)).toEqual([]);
          expect(await readdir(tmp)).toEqual([]);
          expect(tree.git("worktree", "list").split("\n").length).toBe(1);
          expect(tree.git("status", "--porcelain")).toBe("");
          // Other tests have files there, too, and remove them.
          const isLeft = (name: string) => !before.includes(name);
          while ((await filesInMemory()).some(isLeft)) await new Promise((resolve) => setImmediate(resolve));
        } finally {
          if (usual === undefined) delete process.env["TMPDIR"];
          else process.env["TMPDIR"] = usual;
          await rm(tmp, { recursive: true });
        }
      },
      PATIENCE,
    );
  }
});

/** Folders of rows on tmpfs. */
const filesInMemory = async (): Promise<string[]> =>
  (await readdir("/dev/shm").catch(() => [])).filter((name) => /^envoi-(?:files|shared)-/.test(name));
