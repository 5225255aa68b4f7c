import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { disk, sharedFolder } from "./places";

/** What no row needs: what was measured, and what draws it. */
const LEFT_OUT = ["results", "charts"];
/** Of the other systems: what would lead to other packages of the name, and all that is installed, which is linked to. */
const LEFT_OUT_OF_PEERS = ["peers/tsconfig.json", "peers/package.json", "peers/node_modules"];

/**
 * Builds a checkout where that is due, and lays its package and its benchmarks out as they are when installed: what is imported from
 * there by the name of the package is what users get, and not the sources. The folder is removed when the process ends.
 *
 * @param options `withPeers`: whether the other systems are to be there too. Default: false.
 * @throws Error with the compiler's words when it cannot be built.
 */
export async function layOut(
  root: string,
  { withPeers = false }: { readonly withPeers?: boolean } = {},
): Promise<string> {
  await ensureBuilt(root);
  const unwanted = [...LEFT_OUT, ...(withPeers ? LEFT_OUT_OF_PEERS : ["peers"])];
  const leftOut = unwanted.map((name) => join(root, "benchmarks", name));
  return sharedFolder(disk, withPeers ? "shipped with peers" : "shipped", (folder) => {
    for (const part of ["package.json", "dist", "benchmarks"]) {
      cpSync(join(root, part), join(folder, part), { recursive: true, filter: (path) => !leftOut.includes(path) });
    }
    for (const installed of ["node_modules", ...(withPeers ? ["benchmarks/peers/node_modules"] : [])]) {
      if (existsSync(join(root, installed))) symlinkSync(join(root, installed), join(folder, installed));
    }
  });
}

/**
 * Builds the checkout in `root` where its build is missing or older than its sources; an installed package is built.
 *
 * @throws Error with the compiler's words when it cannot be built.
 */
export async function ensureBuilt(root: string): Promise<void> {
  const script = join(root, "scripts/build.ts");
  if (!existsSync(script)) return;
  const build = Bun.spawn([process.execPath, script, "--if-stale"], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const [out, complaint, status] = await Promise.all([build.stdout.text(), build.stderr.text(), build.exited]);
  if (status !== 0) throw new Error(`The package could not be built:\n${out}${complaint}`);
}

/** The optional peers of the package in `root` that are not installed, each with the version that it takes: `mitata@1.0.34`. */
export function missingPeers(root: string): string[] {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const peers: Readonly<Record<string, string>> = manifest.peerDependencies ?? {};
  return Object.entries(peers).flatMap(([name, version]) => (isInstalled(name, root) ? [] : [`${name}@${version}`]));
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
