import { expectSuccess } from "../file-error";
import { type Path, parentOf } from "../path";
import type { Workspace } from "../workspace";

/** Flushes the directories on the way to a file, so that their names, new ones included, are on the disk. */
export async function syncDirectories({ root }: Workspace, path: Path): Promise<void> {
  for (let whole = parentOf(path); ; whole = whole.slice(0, Math.max(0, whole.lastIndexOf("/")))) {
    const directory = root.open(whole, "directory");
    expectSuccess(directory, path.given);
    const code = await root.sync(directory);
    root.close(directory);
    expectSuccess(code, path.given);
    if (whole === "") return;
  }
}
