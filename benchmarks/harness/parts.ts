import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { type Arguments, UsageError } from "./arguments";
import type { Status, Terminal } from "./surroundings";

// Each part is loaded when it is asked for, and by its path: a package comes without those that need a checkout.

/** How one revision stands beside this tree, as `benchmarks/compare/compare.ts` exports it. */
type Compare = (
  revision: string,
  options: Pick<Arguments, "suites" | "quick" | "json"> & { readonly filter?: string },
  around: Terminal,
) => Promise<Status>;

/** Load for some minutes, as `benchmarks/soak/soak.ts` exports it. */
type Soak = (minutes: number, around: Terminal) => Promise<Status>;

/** The programs for load, as `benchmarks/stress/run.ts` exports it. */
type Stress = (argv: readonly string[], around: Terminal) => Promise<Status>;

/** Compares a revision with this tree. */
export async function compareRevisions(revision: string, options: Arguments, around: Terminal): Promise<Status> {
  const { suites, quick, json, filter } = options;
  const { compare } = await part<{ readonly compare: Compare }>(around, "compare/compare.ts");
  return compare(revision, { suites, quick, json, ...(filter !== undefined && { filter }) }, around);
}

/** Puts envoi under mixed load for some minutes. */
export async function soakFor(minutes: number, around: Terminal): Promise<Status> {
  const { soak } = await part<{ readonly soak: Soak }>(around, "soak/soak.ts");
  return soak(minutes, around);
}

/** Raises the load until something breaks. */
export async function stress(argv: readonly string[], around: Terminal): Promise<Status> {
  const { main } = await part<{ readonly main: Stress }>(around, "stress/run.ts");
  return main(argv, around);
}

async function part<Exports>({ root }: Terminal, path: string): Promise<Exports> {
  const folder = basename(join(import.meta.dir, "..")); // In a package it has another name than in a checkout.
  const file = join(root, folder, path);
  if (!existsSync(file))
    throw new UsageError(`benchmarks/${path} is not part of this package: use a checkout of envoi.`);
  return (await import(file)) as Exports; // Written beside this file, to these types.
}
