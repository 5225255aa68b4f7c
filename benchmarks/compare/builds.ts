import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { copyPackage, ensureBuilt, run } from "../harness/shipped";

export type Side = "base" | "present";

/** The folders of two builds. Each is laid out like an installed package, with the benchmarks of the working tree. */
export type Builds = Readonly<Record<Side, string>>;

export function commitOf(root: string, revision: string, signal: AbortSignal): Promise<string> {
  const command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const advice = "`git tag` and `git log --oneline` list what there is";
  return run(command, root, signal, `There is no revision "${revision}" here; ${advice}.`);
}

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
  return builds;
}

async function layOut(source: string, root: string, folder: string, signal: AbortSignal): Promise<void> {
  await ensureBuilt(source, signal);
  copyPackage(source, folder, root);
  // The same timer for both, whatever the other revision had.
  await mkdir(join(folder, "benchmarks/node_modules"));
  await symlink(join(root, "node_modules/mitata"), join(folder, "benchmarks/node_modules/mitata"));
}

async function textOf(path: string): Promise<string> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : "";
}
