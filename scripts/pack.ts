/** Packs what would be published, building it first if the build is missing or older than what it is made from. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "..");
const INPUTS = ["src/**/*.ts", "package.json", "bun.lock", "tsconfig*.json", "tsup.config.ts", "scripts/build.ts"];

function isBuilt(): boolean {
  const built = statSync(join(root, "dist/types/index.d.ts"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return INPUTS.every((pattern) =>
    [...new Glob(pattern).scanSync({ cwd: root })].every((path) => statSync(join(root, path)).mtimeMs <= built),
  );
}

function run(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: root, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`\`bun ${args.join(" ")}\` ended with ${exitCode}:\n${stdout}${stderr}`);
  return stdout.toString();
}

/** Packs the package into `folder` and gives the tarball's path. */
export function pack(folder: string): string {
  if (!isBuilt()) run("scripts/build.ts");
  return join(
    folder,
    run("pm", "pack", "--quiet", "--ignore-scripts", "--destination", folder).trim().split("/").at(-1) ?? "",
  );
}

if (import.meta.main) console.log(pack(process.argv[2] ?? root));
