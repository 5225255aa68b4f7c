/** Packs what would be published, building it first if the build is missing or older than what it is made from. */
import { join } from "node:path";

const root = join(import.meta.dir, "..");

function run(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: root, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`\`bun ${args.join(" ")}\` ended with ${exitCode}:\n${stdout}${stderr}`);
  return stdout.toString();
}

/** Packs the package into `folder` and gives the tarball's path. */
export function pack(folder: string): string {
  run("scripts/build.ts", "--if-stale");
  return join(
    folder,
    run("pm", "pack", "--quiet", "--ignore-scripts", "--destination", folder).trim().split("/").at(-1) ?? "",
  );
}

if (import.meta.main) console.log(pack(process.argv[2] ?? root));
