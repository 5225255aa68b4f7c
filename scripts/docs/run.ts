/**
 * Makes the documents that are generated: `bun run docs`. The API reference goes to `docs/api` (HTML, not committed), `llms.txt`
 * and `llms-full.txt` to the root. With `--llms`, only these two, for which nothing needs to be installed.
 */
import { join } from "node:path";
import { installIn } from "../ensure-installed";
import { llmsFiles } from "./llms";

const root = join(import.meta.dir, "../..");

for (const [name, text] of Object.entries(await llmsFiles(root))) {
  await Bun.write(join(root, name), text);
  console.log(`${name}: ${Math.round(text.length / 1024)} KB`);
}
if (!process.argv.includes("--llms")) {
  const complaint = await installIn(import.meta.dir);
  if (complaint !== undefined) {
    process.stderr.write(`TypeDoc could not be installed: ${complaint}`);
    process.exit(1);
  }
  // Its own TypeScript is beside it, since it cannot use the one of the project.
  const typedoc = Bun.spawnSync([process.execPath, "node_modules/typedoc/bin/typedoc"], {
    cwd: import.meta.dir,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (typedoc.exitCode !== 0) process.exit(typedoc.exitCode);
  console.log("The reference is in docs/api/index.html.");
}
