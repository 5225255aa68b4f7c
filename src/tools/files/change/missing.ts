import { type Path, parentOf } from "../path";
import type { Workspace } from "../workspace";

/** The missing directories above a path, which a change would make. */
export function missingAbove(workspace: Workspace, path: Path): string[] {
  if (path.base === 0) return [];
  const { root } = workspace;
  const missing: string[] = [];
  let at = root.top;
  let above = "";
  for (const name of parentOf(path).split("/")) {
    above += above === "" ? name : `/${name}`;
    if (at >= 0) {
      const next = root.openAt(at, name, "place");
      workspace.leave(at);
      at = next;
    }
    if (at < 0) missing.push(above);
  }
  if (at >= 0) workspace.leave(at);
  return missing;
}
