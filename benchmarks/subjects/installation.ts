import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../package.json";
import { disk, sharedFolder } from "../harness/places";
import { ensureBuilt } from "../harness/shipped";

/** The folder of the package: that of a checkout, or of an installed package, from which the benchmarks came. */
export const home = join(import.meta.dir, "../..");
const STARTS = join(import.meta.dir, "starts");

/** What every program of `starts` ends with as its status, once it has done its work. */
export const DONE = 42;

/** A folder with a program of each kind and the package installed, as it is published; it is removed when the process ends. */
export async function installation(): Promise<string> {
  await ensureBuilt(home);
  return sharedFolder(disk, "installation", (folder) => {
    const modules = join(folder, "node_modules");
    const own = join(modules, manifest.name);
    mkdirSync(own, { recursive: true });
    cpSync(join(home, "package.json"), join(own, "package.json"));
    cpSync(join(home, "dist"), join(own, "dist"), { recursive: true });
    for (const name of [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]) {
      const from = folderOf(name);
      if (from !== undefined) cpSync(from, join(modules, name), { recursive: true });
    }
    cpSync(STARTS, folder, { recursive: true });
    writeFileSync(join(folder, "number.txt"), String(DONE));
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  });
}

/** Where a package that envoi needs is installed: beside it, or above. */
export function folderOf(name: string): string | undefined {
  for (let at = home; ; at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (existsSync(folder)) return folder;
    if (at === dirname(at)) return undefined;
  }
}
