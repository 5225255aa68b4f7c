import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Remains of writes in the staging directory. An actor that runs keeps its mark, the lock and the file for git there. */
export function litterIn(root: string, { isRunning = true } = {}): string[] {
  const staging = join(root, ".envoi");
  if (!existsSync(staging)) return [];
  const isKept = (name: string): boolean =>
    name === "lock" || name === ".gitignore" || (isRunning && name.endsWith(".owner"));
  return readdirSync(staging).filter((name) => !isKept(name));
}
