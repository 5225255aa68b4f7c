import { childProgram } from "./child-program";
import type { Language } from "./language";
import type { Isolation } from "./tier";

/** Packages that must be installed beside envoi to run code. */
const INTERPRETER = "@jitl/quickjs-wasmfile-release-sync";
const JAVASCRIPT = "acorn";
const TYPESCRIPT = "@sveltejs/acorn-typescript";
/** Versions that are known to work. The interpreter's is exact, because the build stores an image of its memory. */
const VERSIONS: Readonly<Record<string, string>> = { [INTERPRETER]: "0.32.0", [JAVASCRIPT]: "8", [TYPESCRIPT]: "1" };

export const INTERPRETER_COMMAND = commandFor([INTERPRETER]);

/**
 * Checks that the packages for a tier and its languages are installed. Called before an actor is spawned that needs them.
 *
 * @throws Error with the command that installs the missing ones.
 */
export function requirePeers(isolation: Isolation, languages: readonly Language[]): void {
  const peers = [
    ...(isolation === "sandbox" ? [INTERPRETER] : []),
    JAVASCRIPT,
    ...(languages.includes("typescript") ? [TYPESCRIPT] : []),
  ];
  // Bundles and compiled applications contain the packages.
  if (typeof childProgram("source-worker") !== "string") return;
  const missing = peers.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const isAvoidable = languages.length > 1 && missing.every((name) => name === TYPESCRIPT);
  throw new Error(
    `Code cannot run as "${isolation}" here, because ${listed(missing)} ${missing.length === 1 ? "is" : "are"} not installed: ` +
      `run \`${commandFor(missing)}\`${isAvoidable ? ', or spawn it with languages: ["javascript"]' : ""}.`,
  );
}

function isInstalled(name: string): boolean {
  try {
    Bun.resolveSync(name, import.meta.dir);
    return true;
  } catch {
    return false;
  }
}

const listed = (names: readonly string[]): string => names.join(", ").replace(/, ([^,]*)$/, " and $1");

function commandFor(names: readonly string[]): string {
  return `bun add ${names.map((name) => `${name}@${VERSIONS[name]}`).join(" ")}`;
}
