import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { Transpiler } from "bun";
import { UsageError } from "../harness/arguments";

/** The revision, and the working tree. */
export type Side = "base" | "present";

/** The folders of two builds. Each is laid out like an installed package, with the benchmarks of the working tree. */
export type Builds = Readonly<Record<Side, string>>;

/** What lies in `benchmarks/` and no row needs. */
const LEFT_OUT = ["results", "peers", "charts", "node_modules"];

/** The commit that a tag, a branch or another name stands for, in a checkout of envoi. */
export function commitOf(root: string, revision: string, signal: AbortSignal): Promise<string> {
  const command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const advice = "`git tag` and `git log --oneline` list what there is";
  return run(command, root, signal, `There is no revision "${revision}" here; ${advice}.`);
}

/** Builds a commit, and the working tree as it is, below a folder. */
export async function buildBoth(root: string, commit: string, below: string, signal: AbortSignal): Promise<Builds> {
  // Of one length: the length of a path alone can move a figure (T. Mytkowicz et al., "Producing wrong data without doing anything
  // obviously wrong!", 2009).
  const builds: Builds = { base: join(below, "then"), present: join(below, "here") };
  const clone = join(below, "clone");
  await run(["git", "clone", "--quiet", "--shared", "--no-checkout", root, clone], root, signal);
  await run(["git", "checkout", "--quiet", "--detach", commit], clone, signal);
  const [lock, ownLock] = [await textOf(join(root, "bun.lock")), await textOf(join(clone, "bun.lock"))];
  if (lock === ownLock) await symlink(join(root, "node_modules"), join(clone, "node_modules"));
  else await run([process.execPath, "install", "--frozen-lockfile"], clone, signal);
  const laid = [layOut(clone, root, builds.base, signal), layOut(root, root, builds.present, signal)];
  await Promise.allSettled(laid); // Where one fails, the other would go on writing to a folder that is removed.
  await Promise.all(laid);
  await standIn(builds);
  return builds;
}

async function layOut(source: string, root: string, folder: string, signal: AbortSignal): Promise<void> {
  await run([process.execPath, "scripts/build.ts", "--if-stale"], source, signal);
  for (const part of ["dist", "package.json"]) await cp(join(source, part), join(folder, part), { recursive: true });
  await symlink(join(source, "node_modules"), join(folder, "node_modules"));
  const from = join(root, "benchmarks");
  const to = join(folder, "benchmarks");
  const leftOut = LEFT_OUT.map((part) => join(from, part));
  await cp(from, to, { recursive: true, filter: (path) => !leftOut.includes(path) });
  // The same timer for both, whatever the other revision had.
  await mkdir(join(to, "node_modules"));
  await symlink(join(root, "node_modules/mitata"), join(to, "node_modules/mitata"));
}

/** Runs a program to its end, and gives what it printed. It leads a group of its own, so that Ctrl-C reaches it by the signal alone. */
async function run(command: string[], cwd: string, signal: AbortSignal, failure?: string): Promise<string> {
  signal.throwIfAborted();
  const env = { ...process.env, NO_COLOR: "1" };
  const child = Bun.spawn(command, { cwd, env, stdout: "pipe", stderr: "pipe", detached: true, signal });
  const [out, complaint, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  signal.throwIfAborted();
  if (status === 0) return out.trim();
  const what = `\`${command.join(" ")}\` ended with ${status} in ${cwd}`;
  throw new UsageError(failure ?? `The builds could not be made: ${what}:\n${out}${complaint}`.trim());
}

type Entries = Readonly<Record<string, string | Readonly<Record<string, string>>>>;
interface Manifest {
  readonly exports?: Entries;
  readonly imports?: Entries;
}

/**
 * Adds what the present build exports, and the base does not, to the base: stand-ins that throw once they are used. Only the rows that
 * need them fail then, where an import of a name that is not there would keep the whole suite from loading.
 */
export async function standIn({ base, present }: Builds): Promise<void> {
  const manifest = join(base, "package.json");
  const old: Manifest = await Bun.file(manifest).json();
  const now: Manifest = await Bun.file(join(present, "package.json")).json();
  for (const [key, entry] of Object.entries({ ...now.exports, ...now.imports })) {
    const path = fileOf(entry);
    if (!path.endsWith(".js")) continue;
    const file = join(base, fileOf(old.exports?.[key] ?? old.imports?.[key] ?? entry));
    const text = await textOf(file);
    const has = exportsOf(text);
    const absent = exportsOf(await textOf(join(present, path))).filter((name) => !has.includes(name));
    if (absent.length > 0) await Bun.write(file, `${text}\n${standIns(key.replace(/^\./, "envoi"), absent)}`);
  }
  const entries = { exports: { ...now.exports, ...old.exports }, imports: { ...now.imports, ...old.imports } };
  await Bun.write(manifest, JSON.stringify({ ...old, ...entries }));
}

const fileOf = (entry: Entries[string]): string => (typeof entry === "string" ? entry : (entry["default"] ?? ""));
const exportsOf = (code: string): string[] => new Transpiler({ loader: "js" }).scan(code).exports;

async function textOf(path: string): Promise<string> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : "";
}

const standIns = (specifier: string, names: readonly string[]): string => `
const standInFor = (name) => {
  const fail = () => {
    throw new Error(\`${specifier} has no \${name} in this revision\`);
  };
  return new Proxy(function () {}, { apply: fail, construct: fail, get: fail });
};
${names.map((name) => `export const ${name} = standInFor("${name}");`).join("\n")}
`;
