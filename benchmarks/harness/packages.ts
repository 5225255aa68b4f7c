import { readFileSync } from "node:fs";
import { join } from "node:path";

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
