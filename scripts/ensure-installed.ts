/** Installs the dependencies unless they are there, as the lockfile has them. Says so on stderr: stdout is for what follows. */
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const lock = await Bun.file(join(root, "bun.lock")).text();
const stamp = Bun.file(join(root, "node_modules/.installed-lock"));
const hash = Bun.hash(lock).toString(36);

if (!(await stamp.exists()) || (await stamp.text()) !== hash) {
  const install = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  if (install.exitCode !== 0) {
    process.stderr.write(install.stdout);
    process.stderr.write(install.stderr);
    process.stderr.write("The dependencies could not be installed: see above, then try `bun install`.\n");
    process.exit(1);
  }
  await Bun.write(stamp, hash);
}
