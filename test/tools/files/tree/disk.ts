import { dirname, join } from "node:path";
import type { Disk } from "../ways";

/** Files that hold their own paths. */
export function put(disk: Disk, directory: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    disk.mkdirSync(dirname(join(directory, path)), { recursive: true });
    disk.writeFileSync(join(directory, path), path);
  }
}

export const at = (disk: Disk, directory: string, path: string): string =>
  disk.readFileSync(join(directory, path), "utf8");
