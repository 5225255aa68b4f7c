import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Arguments, UsageError } from "./arguments";
import type { Status, Terminal } from "./terminal";

// Each part is loaded when it is asked for, and by its path: a package comes without those that need a checkout. Each is written
// beside this file, and exports what is said here.

type Options = Pick<Arguments, "suites" | "quick" | "json"> & { readonly filter?: string };
type Compare = (revision: string, options: Options, around: Terminal) => Promise<Status>;
type Soak = (minutes: number, around: Terminal) => Promise<Status>;
type Stress = (argv: readonly string[], around: Terminal) => Promise<Status>;

/** Compares a revision with this tree. */
export async function compareRevisions(revision: string, options: Arguments, around: Terminal): Promise<Status> {
  const { suites, quick, json, filter } = options;
  const { compare } = await part<{ readonly compare: Compare }>(around, "compare/compare.ts");
  return compare(revision, { suites, quick, json, ...(filter !== undefined && { filter }) }, around);
}

/** Puts envoi under mixed load for some minutes. */
export const soakFor = async (minutes: number, around: Terminal): Promise<Status> =>
  (await part<{ readonly soak: Soak }>(around, "soak/soak.ts")).soak(minutes, around);

/** Raises the load until something breaks. */
export const stress = async (argv: readonly string[], around: Terminal): Promise<Status> =>
  (await part<{ readonly main: Stress }>(around, "stress/run.ts")).main(argv, around);

async function part<Exports>({ root }: Terminal, path: string): Promise<Exports> {
  const folder = basename(join(import.meta.dir, "..")); // In a package it has another name than in a checkout.
  const file = join(root, folder, path);
  if (!existsSync(file))
    throw new UsageError(`benchmarks/${path} is not part of this package: use a checkout of envoi.`);
  return (await import(file)) as Exports;
}

interface Manifest {
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The optional peers of the package in `root` that are not installed, each with the version that it takes: `mitata@1.0.34`. */
export function missingPeers(root: string): string[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(manifest.peerDependencies ?? {}).flatMap(([name, version]) =>
    isInstalled(name, root) ? [] : [`${name}@${version}`],
  );
}

function isInstalled(name: string, root: string): boolean {
  try {
    Bun.resolveSync(name, root);
    return true;
  } catch {
    return false;
  }
}

/** What to type to have packages. */
export const commandFor = (packages: readonly string[]): string => `bun add -d ${packages.join(" ")}`;
