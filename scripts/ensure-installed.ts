/**
 * Installs the dependencies unless they are there, as the lockfile has them; with `--again`, whatever a note of the last
 * time says. Says what goes wrong on stderr: stdout is for what follows.
 */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";

/** Installs those of one folder, and tells what went wrong if anything did. */
export async function installIn(folder: string, isAgain = false): Promise<string | undefined> {
  const lock = await Bun.file(join(folder, "bun.lock")).text();
  const modules = join(folder, "node_modules");
  const stamp = Bun.file(join(modules, ".installed-lock"));
  const hash = Bun.hash(lock).toString(36);
  if (!isAgain && (await stamp.exists()) && (await stamp.text()) === hash) return undefined;
  if (existsSync(modules) && !isWritable(modules)) {
    const wrong = await wrongPackages(folder, lock);
    return wrong.length === 0 ? undefined : complaintOf(modules, wrong);
  }
  const install = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], {
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  if (install.exitCode !== 0) {
    const said = `${install.stdout}${install.stderr}`;
    // Some of it may be another user's although the folder itself is ours.
    if (!/EACCES|EPERM|permission denied/i.test(said)) return said;
    const wrong = await wrongPackages(folder, lock);
    if (wrong.length > 0) return `${said}${complaintOf(modules, wrong)}`;
    return undefined;
  }
  await Bun.write(stamp, hash);
  return undefined;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** One package as `bun.lock` has it: `name@version` first, what holds of it in an object. */
type Locked = readonly [specifier: string, ...rest: unknown[]];

/** Packages that are not there as the lockfile has them; those of other kinds of machine aside. */
async function wrongPackages(folder: string, lock: string): Promise<string[]> {
  const { packages } = Bun.JSONC.parse(lock) as { packages: Record<string, Locked> }; // As Bun writes it.
  const wrong: string[] = [];
  for (const [path, [specifier, ...rest]] of Object.entries(packages)) {
    const { os, cpu, bundled } = Object.assign({}, ...rest.filter((each) => typeof each === "object")) as {
      os?: unknown;
      cpu?: unknown;
      bundled?: unknown;
    };
    if (os !== undefined || cpu !== undefined || bundled !== undefined) continue;
    const manifest = Bun.file(join(folder, "node_modules", placeOf(path), "package.json"));
    const version = (await manifest.exists()) ? (await manifest.json()).version : undefined;
    if (version !== specifier.slice(specifier.lastIndexOf("@") + 1)) wrong.push(specifier);
  }
  return wrong;
}

/** The lockfile writes `a/b` for what is in a's own node_modules, where a scope is one name with what follows it. */
const placeOf = (path: string): string => (path.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []).join("/node_modules/");

function complaintOf(modules: string, wrong: readonly string[]): string {
  const few = wrong.length > 3 ? `${wrong.slice(0, 3).join(", ")} and ${wrong.length - 3} more` : wrong.join(", ");
  return (
    `${modules} belongs to another user (uid ${statSync(modules).uid}), so nothing can be installed there, and it lacks ${few}. ` +
    "Have its owner run `bun install --frozen-lockfile`, or remove it and install as yourself.\n"
  );
}

if (import.meta.main) {
  const complaint = await installIn(join(import.meta.dir, ".."), process.argv.includes("--again"));
  if (complaint !== undefined) {
    process.stderr.write(complaint);
    process.stderr.write("The dependencies could not be installed: see above, then try `bun install`.\n");
    process.exit(1);
  }
}
