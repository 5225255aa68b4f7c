import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "../../../benchmarks/compare/compare";
import { descendants } from "../../../benchmarks/harness/processes";
import type { Suite } from "../../../benchmarks/harness/suite";

const root = join(import.meta.dir, "../../..");
const isLong = process.env["ENVOI_LONG"] !== undefined;
/** Milliseconds for two builds and a row in some thirty pairs of processes, on a busy machine. */
const PATIENCE = 300_000;

const folders: string[] = [];
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "envoi-test-compare-"));
  folders.push(folder);
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function git(cwd: string, ...args: readonly string[]): string {
  const named = ["-c", "user.name=test", "-c", "user.email=test@example.org", ...args];
  const { success, stdout, stderr } = Bun.spawnSync(["git", ...named], { cwd });
  if (!success) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

const SUITE = `
  import { createSystem, defineProtocol, Type } from "envoi";
  const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });
  const asking = () => {
    const system = createSystem();
    const echo = system.spawn("echo", Echo, () => ({ say: (payload) => payload }));
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < 100; i++) if ((await echo.ask("say", i))._unsafeUnwrap() === i) completed++;
    };
    return { run, completed: () => completed, teardown: () => system.shutdown() };
  };
  const row = { kind: "timed", operations: 100, per: 1, floor: { none: "of a test" } };
  const rows = [{ ...row, name: "ask", setup: asking }];
  export const suite = { name: "own", about: "", rows };
`;

/** A checkout of the last commit here, with what it depends on. Its tree has a suite of its own. */
async function checkout(): Promise<string> {
  const folder = join(makeFolder(), "tree");
  git(root, "clone", "--quiet", "--shared", root, folder);
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await Bun.write(join(folder, "benchmarks/suites/own.bench.ts"), SUITE);
  return folder;
}

/** A checkout with a build of its own, and no more. */
async function tinyCheckout(build: string): Promise<string> {
  const folder = makeFolder();
  const files = {
    "package.json": "{}",
    ".gitignore": "node_modules",
    "node_modules/here": "",
    "scripts/build.ts": build,
  };
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--message", "first");
  return folder;
}

async function patch(file: string, text: string, by: string): Promise<void> {
  const before = await Bun.file(file).text();
  expect(before).toContain(text);
  await Bun.write(file, before.replace(text, by));
}

/** Compares a commit with the tree of a folder, quickly. */
async function compared(folder: string, revision = "HEAD", { kind = "timed", abortsAt = "never" } = {}) {
  const controller = new AbortController();
  const said: string[] = [];
  const add = (text: string) => said.push(text);
  const progress = (text: string) => {
    if (text.startsWith(abortsAt)) setImmediate(() => controller.abort());
  };
  const rows = [{ kind, name: "ask" } as Suite["rows"][number]]; // No more of it is looked at.
  const around = { root: folder, out: add, err: add, progress, signal: controller.signal };
  const status = await compare(revision, [{ name: "own", about: "", rows }], true, around);
  return { status, said: said.join("") };
}

test.if(isLong)(
  "a build that was slowed down is slower than its commit: status 1",
  async () => {
    const tree = await checkout();
    // Each turn of an actor takes some thirty times as long, which no noise hides.
    const work = "if ((busy = (busy * 31 + i) | 0) === 7) this.isAwake = true;";
    const turn = "return runnable.run(limit);";
    const slow = `for (let i = 0, busy = 1; i < 10_000; i++) ${work}\n${turn}`;
    await patch(join(tree, "src/runtime/dispatcher.ts"), turn, slow);
    const { status, said } = await compared(tree);
    expect(said).toMatch(/^ask .* slower$/m);
    expect(status).toBe(1);
  },
  PATIENCE,
);

describe("nothing is compared of", () => {
  for (const revision of ["v99", "--all", ""]) {
    test(`the revision "${revision}"`, () =>
      expect(compared(root, revision)).rejects.toThrow(`There is no revision "${revision}" here; \`git tag\``));
  }

  test("a tree that does not build", async () =>
    expect(compared(await tinyCheckout("throw new Error('a typing mistake')"))).rejects.toThrow("a typing mistake"));

  test("suites without a timed row", () =>
    expect(compared(root, "HEAD", { kind: "probe" })).rejects.toThrow("No timed row is chosen"));
});

test(
  "a comparison that is interrupted ends with status 130, and leaves no process, folder or change",
  async () => {
    const tree = await (isLong ? checkout() : tinyCheckout("await Bun.sleep(1e9)"));
    const there = () => [
      git(tree, "status", "--porcelain"),
      readdirSync(tmpdir()).filter((name) => name.startsWith("envoi-compare-")),
    ];
    const before = there();
    expect((await compared(tree, "HEAD", { abortsAt: isLong ? "first look, pair 2" : "building" })).status).toBe(130);
    expect(descendants(process.pid)).toEqual([]);
    expect(there()).toEqual(before);
  },
  PATIENCE,
);
