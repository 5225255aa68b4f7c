import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { residentBytes } from "../../benchmarks/harness/processes";
import { failuresIn, runBun, runTests } from "../../scripts/run-step";

const folder = mkdtempSync(join(tmpdir(), "envoi-step-test-"));
const scratch = join(folder, "scratch");
mkdirSync(scratch);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A project with these tests. */
function project(name: string, files: Readonly<Record<string, string>>): string {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(cwd, file), `import { expect, test } from "bun:test";\n${text}`);
  }
  return cwd;
}

test("tests are counted, and what was told of those that failed is found again", async () => {
  const cwd = project("mixed", {
    "a.test.ts": 'test("good", () => {}); test.skip("later", () => {});',
    "b.test.ts": 'test("bad", () => expect(1).toBe(2));',
    "c.test.ts": 'import "./missing"; test("never", () => {});',
  });
  const { isOk, isLate, passed, failed, skipped, output } = await runTests(["--parallel=1"], {
    cwd,
    scratch,
    seconds: 100,
  });
  expect({ isOk, isLate, passed, failed, skipped }).toEqual({
    isOk: false,
    isLate: false,
    passed: 1,
    failed: 2,
    skipped: 1,
  });
  expect(failuresIn(output)).toEqual([expect.stringMatching(/Expected: 2[\s\S]*\(fail\) bad/)]);
}, 240_000);

test("a run without a test has failed", async () => {
  const cwd = project("empty", {});
  expect(await runTests([], { cwd, scratch, seconds: 100 })).toMatchObject({
    isOk: false,
    passed: 0,
    failed: 1,
    skipped: 0,
  });
}, 240_000);

test("tests that are stopped for time say how far they came, and which file was running", async () => {
  const cwd = project("late", {
    "a.test.ts": 'test("one", () => {}); test("two", () => {});',
    "b.test.ts": 'test("three", () => {}); test("endless", () => new Promise((go) => setTimeout(go, 1e8)), 1e9);',
  });
  const { isOk, isLate, passed, failed, progress, output } = await runTests(["--parallel=2"], {
    cwd,
    scratch,
    seconds: 3,
  });
  expect({ isOk, isLate, passed, failed }).toEqual({ isOk: false, isLate: true, passed: 3, failed: 1 });
  expect(progress).toBe("3 tests had passed, and b.test.ts was running");
  expect(output).toEndWith("(stopped: it took longer than 3 s)\n");
}, 240_000);

test("a program that is stopped for time ends with all that it started, and the next has the whole of its own", async () => {
  const child = "setInterval(() => {}, 1e6)";
  const parent = `const child = Bun.spawn([process.execPath, "-e", "${child}"]); console.log(child.pid); await child.exited`;
  const first = await runBun(["-e", parent], { cwd: folder, scratch, seconds: 2 });
  expect({ isOk: first.isOk, isLate: first.isLate }).toEqual({ isOk: false, isLate: true });
  expect(first.output).toMatch(/^\d+\n\(stopped: it took longer than 2 s\)\n$/);
  const pid = Number.parseInt(first.output, 10);
  while (residentBytes(pid) > 0) await new Promise((go) => setImmediate(go)); // It was killed, and takes a moment to end.
  expect(await runBun(["-e", "console.log(1)"], { cwd: folder, scratch, seconds: 100 })).toEqual({
    isOk: true,
    isLate: false,
    output: "1\n",
  });
}, 240_000);

test("programs that run at once have each its own output, and one's end leaves the other alone", async () => {
  const waiting = "while (!require('fs').existsSync('go')) await Bun.sleep(5); console.log(2)"; // For the first to end.
  const place = { cwd: folder, scratch, seconds: 100 };
  const second = runBun(["-e", waiting], place);
  expect(await runBun(["-e", "console.log('first')"], place)).toMatchObject({ isOk: true, output: "first\n" });
  writeFileSync(join(folder, "go"), "");
  expect(await second).toMatchObject({ isOk: true, output: "2\n" });
}, 240_000);

test("an option that there is not is told with status 2, and nothing is run: a mistyped --long is not the short form", () => {
  for (const script of ["verify", "release-check"]) {
    const path = join(import.meta.dir, `../../scripts/${script}.ts`);
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, path, "--lnog"], { stderr: "pipe", timeout: 30_000 });
    expect({ script, exitCode, told: String(stderr) }).toMatchObject({
      exitCode: 2,
      told: expect.stringContaining('"--lnog"'),
    });
  }
});
