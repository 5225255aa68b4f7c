import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const script = join(import.meta.dir, "../../scripts/ensure-installed.ts");
const isRoot = process.getuid?.() === 0;

let folder = "";
let modules = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "envoi-installed-"));
  modules = join(folder, "node_modules");
  const packages = {
    one: ["one@1.0.0", "", {}, "sha512-x"],
    "@a/two": ["@a/two@2.0.0-rc.1", "", { dependencies: { one: "0.9.0" } }, "sha512-x"],
    "@a/two/one": ["one@0.9.0", "", {}, "sha512-x"],
    other: ["other@3.0.0", "", { os: "aix", cpu: "ppc64" }, "sha512-x"],
  };
  writeFileSync(join(folder, "bun.lock"), JSON.stringify({ lockfileVersion: 1, packages }));
  writeFileSync(join(folder, "package.json"), "{}");
  put("one", "1.0.0");
  put("@a/two", "2.0.0-rc.1");
  put("@a/two/node_modules/one", "0.9.0");
  chmodSync(folder, 0o755);
  close();
});
afterAll(() => {
  chmodSync(modules, 0o755);
  rmSync(folder, { recursive: true, force: true });
});

function put(path: string, version: string): void {
  const file = join(modules, path, "package.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ version }));
}

/** Takes from whoever installs the right to write there: from a user by its mode, from root's stand-in by its owner. */
function close(): void {
  chmodSync(modules, 0o555);
  if (isRoot) chownSync(modules, 0, 0);
}

/** What is complained of. Root may write everywhere, so that it becomes somebody else first. */
function complaint(): string | null {
  const program = `
    const { installIn } = await import(${JSON.stringify(script)});
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }
    console.log(JSON.stringify((await installIn(${JSON.stringify(folder)}, true)) ?? null));`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program], { stdin: "ignore" });
  expect(stderr.toString()).toBe("");
  return JSON.parse(stdout.toString());
}

test("dependencies that another user installed are used as they are, where none is missing", () => {
  expect(complaint()).toBeNull();
  expect(existsSync(join(modules, ".installed-lock"))).toBe(false);
});

test("where some are missing or of another version, a sentence names them, whose folder it is, and what to do", () => {
  chmodSync(modules, 0o755);
  rmSync(join(modules, "@a/two/node_modules/one"), { recursive: true });
  put("one", "1.0.1");
  close();
  const { uid } = { uid: process.getuid?.() ?? 0 };
  expect(complaint()).toBe(
    `${modules} belongs to another user (uid ${uid}), so nothing can be installed there, and it lacks one@1.0.0, one@0.9.0. ` +
      "Have its owner run `bun install --frozen-lockfile`, or remove it and install as yourself.\n",
  );
});
