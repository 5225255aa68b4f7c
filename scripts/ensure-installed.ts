/** Installs the dependencies unless they are there, as the lockfile has them. Says so on stderr: stdout is for what follows. */
import { join } from "node:path";

/** Installs those of one folder, and tells what went wrong if anything did. */
export async function installIn(folder: string): Promise<string | undefined> {
  const lock = await Bun.file(join(folder, "bun.lock")).text();
  const stamp = Bun.file(join(folder, "node_modules/.installed-lock"));
  const hash = Bun.hash(lock).toString(36);
  if ((await stamp.exists()) && (await stamp.text()) === hash) return undefined;
  const install = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], {
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  if (install.exitCode !== 0) return `${install.stdout}${install.stderr}`;
  await Bun.write(stamp, hash);
  return undefined;
}

if (import.meta.main) {
  const complaint = await installIn(join(import.meta.dir, ".."));
  if (complaint !== undefined) {
    process.stderr.write(complaint);
    process.stderr.write("The dependencies could not be installed: see above, then try `bun install`.\n");
    process.exit(1);
  }
}
