import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { disk, sharedFolder } from "./places";

/** What no row needs: what was measured, what draws it, and other systems with all that is installed for them. */
const LEFT_OUT = ["results", "charts", "peers"];

/**
 * Builds a checkout where that is due, and lays its package and its benchmarks out as they are when installed: what is imported from
 * there by the name of the package is what users get, and not the sources. The folder is removed when the process ends.
 *
 * @throws Error with the compiler's words when it cannot be built.
 */
export function layOut(root: string): string {
  const build = Bun.spawnSync([process.execPath, join(root, "scripts/build.ts"), "--if-stale"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (build.exitCode !== 0) throw new Error(`The package could not be built:\n${build.stdout}${build.stderr}`);
  const leftOut = LEFT_OUT.map((name) => join(root, "benchmarks", name));
  return sharedFolder(disk, "shipped", (folder) => {
    for (const part of ["package.json", "dist", "benchmarks"]) {
      cpSync(join(root, part), join(folder, part), { recursive: true, filter: (path) => !leftOut.includes(path) });
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  });
}
