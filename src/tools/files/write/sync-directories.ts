import { expectSuccess } from "../file-error";
import { type Path, parentOf } from "../path";
import type { Workspace } from "../workspace";

/** Brings the names on the way to a file to the disk, those of new directories included. */
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
