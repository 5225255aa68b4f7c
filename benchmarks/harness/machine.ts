import { readFileSync, realpathSync } from "node:fs";
import { cpus, release, type } from "node:os";
import { join } from "node:path";
import { Type } from "envoi";
import type { Described } from "./schema";

/** Where and when figures were measured; nothing that names the machine or its folders. */
export const machineSchema = Type.Object({
  cpu: Type.String(),
  cores: Type.Number(),
  system: Type.String(),
  bun: Type.String(),
  commit: Type.Optional(Type.String({ description: "What was checked out. Left out where nothing was." })),
  version: Type.Optional(Type.String({ description: "Of the package. Left out where a commit is named." })),
  date: Type.String({ description: "The day, in UTC: 2026-02-03." }),
});
/** Where and when figures were measured. */
export type Machine = Described<typeof machineSchema>;

export function describeMachine(root: string): Machine {
  const processors = cpus();
  const commit = commitOf(root);
  return {
    cpu: processors[0]?.model.trim() ?? "unknown processor",
    cores: processors.length,
    system: `${type()} ${release().split(".", 2).join(".")} ${process.arch}`,
    bun: Bun.version,
    ...(commit === undefined
      ? { version: String(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version) }
      : { commit }),
    date: new Date().toISOString().slice(0, 10),
  };
}

/** What of envoi was measured: `commit abc1234`, or `version 0.1.0`. */
export const revisionOf = ({ commit, version }: Machine): string =>
  commit === undefined ? `version ${version ?? "unknown"}` : `commit ${commit}`;

// What a run writes does not count as a change, or no committed page could ever name a plain commit.
const WRITTEN = [":!BENCHMARKS.md", ":!README.md", ":!benchmarks/results"];

/** The commit of a checkout of envoi itself: one that a package was installed in says nothing about it. */
function commitOf(root: string): string | undefined {
  const git = (...args: string[]): string | undefined => {
    const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: root, stdout: "pipe", stderr: "ignore" });
    return success ? stdout.toString().trim() : undefined;
  };
  if (Bun.which("git") === null) return undefined;
  const top = git("rev-parse", "--show-toplevel");
  const head = git("rev-parse", "--short", "HEAD");
  if (top === undefined || head === undefined || realpathSync(top) !== realpathSync(root)) return undefined;
  return git("status", "--porcelain", "--", ".", ...WRITTEN) === "" ? head : `${head} with changes`;
}
