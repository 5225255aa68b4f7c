import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./arguments";
import { disk, sharedFolder } from "./places";

/** No row needs these: what was measured, and what draws it. */
const UNNEEDED = ["results", "charts"];
/** Of the other systems: what would lead to other packages of the name, and all that is installed, which is linked to. */
const UNNEEDED_BY_PEERS = [...UNNEEDED, "peers/tsconfig.json", "peers/package.json", "peers/node_modules"];

/**
 * Builds a checkout where that is due, and lays it out as it is when installed: what is imported from there by the name of the package
 * is what users get, and not the sources. The folder is removed when the process ends.
 */
export async function layOut(
  root: string,
  { withPeers = false }: { readonly withPeers?: boolean } = {},
): Promise<string> {
  await ensureBuilt(root);
  return sharedFolder(disk, withPeers ? "shipped with peers" : "shipped", (folder) => {
    copyPackage(root, folder, root, withPeers ? UNNEEDED_BY_PEERS : undefined);
    const installed = "benchmarks/peers/node_modules";
    if (withPeers && existsSync(join(root, installed))) symlinkSync(join(root, installed), join(folder, installed));
  });
}

/** Lays out a package that is built, with the benchmarks of a checkout. */
export function copyPackage(
  from: string,
  folder: string,
  checkout: string,
  leftOut: readonly string[] = [...UNNEEDED, "peers"],
): void {
  const unwanted = leftOut.map((name) => join(checkout, "benchmarks", name));
  for (const part of ["package.json", "dist"]) cpSync(join(from, part), join(folder, part), { recursive: true });
  const filter = (path: string) => !unwanted.includes(path);
  cpSync(join(checkout, "benchmarks"), join(folder, "benchmarks"), { recursive: true, filter });
  if (existsSync(join(from, "node_modules"))) symlinkSync(join(from, "node_modules"), join(folder, "node_modules"));
}

/** Builds a checkout whose build is missing or stale. @throws UsageError with the compiler's words. */
export async function ensureBuilt(root: string, signal?: AbortSignal): Promise<void> {
  const script = join(root, "scripts/build.ts");
  if (existsSync(script)) await run([process.execPath, script, "--if-stale"], root, signal);
}

/**
 * Runs a program to its end, and gives what it printed. With a signal it leads a group of its own, so that Ctrl-C reaches it by that alone.
 * Where its status is not 0, UsageError has `failure`, or what it said.
 */
export async function run(command: string[], cwd: string, signal?: AbortSignal, failure?: string): Promise<string> {
  signal?.throwIfAborted();
  const env = { ...process.env, NO_COLOR: "1" };
  const ended = signal && { signal, detached: true };
  const child = Bun.spawn(command, { cwd, env, stdio: ["ignore", "pipe", "pipe"], ...ended });
  const [out, complaint, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  signal?.throwIfAborted();
  if (status === 0) return out.trim();
  const what = `\`${command.join(" ")}\` ended with ${status} in ${cwd}`;
  throw new UsageError(failure ?? `The package could not be built: ${what}:\n${out}${complaint}`.trim());
}

/** Optional packages by what needs them: what takes times, what runs code, what speaks MCP or NATS, and the SDK of OpenTelemetry. */
const PEERS = {
  times: /^mitata$/,
  code: /^(?:acorn$|@sveltejs\/|@jitl\/)/,
  mcp: /^@modelcontextprotocol\/server$/,
  nats: /^@nats-io\//,
  telemetry: /^@opentelemetry\/(?:api|sdk-trace|context-async-hooks)$/,
} as const;

/**
 * The packages that something needs and that are not installed beside the package in `root`, each with the version that it takes: `acorn@^8.15.0`.
 * Most are optional peers; an SDK that the benchmarks alone measure is a package for development.
 */
export function missingPeers(root: string, needed: keyof typeof PEERS): string[] {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const known: Readonly<Record<string, string>> = { ...manifest.devDependencies, ...manifest.peerDependencies };
  return Object.entries(known).flatMap(([name, version]) =>
    !PEERS[needed].test(name) || isInstalled(name, root) ? [] : [`${name}@${version}`],
  );
}

/** What the rows of a suite need that can be left out. */
export const needOf = (suite: string): keyof typeof PEERS =>
  suite === "mcp" || suite === "nats" || suite === "telemetry" ? suite : "code";

function isInstalled(name: string, root: string): boolean {
  try {
    Bun.resolveSync(name, root);
    return true;
  } catch {
    return false;
  }
}

export const commandFor = (packages: readonly string[]): string => `bun add -d ${packages.join(" ")}`;
