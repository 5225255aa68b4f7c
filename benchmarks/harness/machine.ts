import { cpus, release, type } from "node:os";

/** Where and when figures were measured; nothing that names the machine or its folders. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly system: string;
  readonly bun: string;
  readonly commit: string;
  /** The day, in UTC: `2026-02-03`. */
  readonly date: string;
}

/** Describes this machine, with the commit checked out in `root`. */
export function describeMachine(root: string, now: Date = new Date()): Machine {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? "unknown processor",
    cores: processors.length,
    system: `${type()} ${release().split(".", 2).join(".")} ${process.arch}`,
    bun: Bun.version,
    commit: commitOf(root),
    date: now.toISOString().slice(0, 10),
  };
}

// What a run writes does not count as a change, or no committed page could ever name a plain commit.
const WRITTEN = [":!BENCHMARKS.md", ":!README.md", ":!benchmarks/results", ":!benchmarks/peers/RESULTS.md"];

function commitOf(root: string): string {
  const head = git(root, ["rev-parse", "--short", "HEAD"]);
  if (head === undefined) return "unknown";
  return git(root, ["status", "--porcelain", "--", ".", ...WRITTEN]) === "" ? head : `${head} with changes`;
}

function git(cwd: string, args: string[]): string | undefined {
  try {
    const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd, stdout: "pipe", stderr: "ignore" });
    return success ? stdout.toString().trim() : undefined;
  } catch {
    return undefined; // No git here.
  }
}
