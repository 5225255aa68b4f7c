import { mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "./arguments";

/**
 * Makes the folder of `--out`, before anything is measured: to find at the end that nothing can be written there would be late.
 *
 * @throws UsageError where it takes no files.
 */
export async function expectFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await rmdir(await mkdtemp(join(folder, ".envoi-")));
  } catch (error) {
    throw new UsageError(`--out ${folder}: nothing can be written there (${String(error)}).`);
  }
}
