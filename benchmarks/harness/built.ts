import { existsSync } from "node:fs";
import { join } from "node:path";

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
