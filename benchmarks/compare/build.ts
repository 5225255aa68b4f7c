import { cp, mkdir, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { importedBy, type Manifest, toolsOf, writeManifest } from "./missing";
import { CannotCompare, type Checkout } from "./revision";
import type { Workshop } from "./workshop";

/** One of the two builds, in a folder laid out like an installed package, with the benchmarks of the present tree. */
export interface Build {
  readonly folder: string;
  /** What the benchmarks import and this build does not export: `envoi/tools has no spawnProgram`. */
  readonly missing: readonly string[];
}

/** A revision and the working tree. */
export interface Builds {
  readonly base: Build;
  readonly present: Build;
}

// Of one length: the length of a path alone can move a figure (T. Mytkowicz et al., "Producing wrong data without doing anything
// obviously wrong!", 2009).
const BASE = "then";
const PRESENT = "here";

/** What lies in `benchmarks/` and no row needs: what was measured, and other systems with dependencies of their own. */
const LEFT_OUT = ["results", "peers", "node_modules"];

/** Builds a commit, and the working tree as it is. */
export async function buildBoth(checkout: Checkout, commit: string, workshop: Workshop): Promise<Builds> {
  const base = join(workshop.folder, BASE);
  const present = join(workshop.folder, PRESENT);
  await checkout.writeCommit(commit, join(base, "source"), join(workshop.folder, "index"));
  await checkout.copyTree(join(present, "source"));
  const [first, second] = await Promise.all([
    build(checkout.root, base, commit.slice(0, 9), workshop),
    build(checkout.root, present, "The working tree", workshop),
  ]);
  return { base: first, present: second };
}

async function build(root: string, folder: string, name: string, workshop: Workshop): Promise<Build> {
  const source = join(folder, "source");
  const modules = join(source, "node_modules");
  const hasSameLock = (await textOf(join(root, "bun.lock"))) === (await textOf(join(source, "bun.lock")));
  try {
    if (hasSameLock) await symlink(join(root, "node_modules"), modules);
    else await workshop.run(source, ["install", "--frozen-lockfile"]);
    await workshop.run(source, ["scripts/build.ts"]);
  } catch (error) {
    workshop.signal.throwIfAborted();
    throw new CannotCompare(`${name} could not be built: ${error instanceof Error ? error.message : String(error)}`);
  }
  await rename(join(source, "dist"), join(folder, "dist"));
  await rename(modules, join(folder, "node_modules"));
  const manifest: Manifest = await Bun.file(join(source, "package.json")).json();
  await rm(source, { recursive: true });
  await mkdir(join(folder, "tmp"));
  const missing = await addBenchmarks(root, folder, manifest);
  return { folder, missing };
}

async function addBenchmarks(root: string, folder: string, manifest: Manifest): Promise<readonly string[]> {
  const from = join(root, "benchmarks");
  const benchmarks = join(folder, "benchmarks");
  const leftOut = LEFT_OUT.map((name) => join(from, name));
  await cp(from, benchmarks, { recursive: true, filter: (path) => !leftOut.includes(path) });
  const imported = await importedBy(benchmarks);
  for (const tool of toolsOf(imported, manifest)) {
    // The same mitata for both, whatever the other revision had.
    const link = join(benchmarks, "node_modules", tool);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, "node_modules", tool), link);
  }
  return writeManifest(folder, manifest, imported);
}

async function textOf(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : undefined;
}
