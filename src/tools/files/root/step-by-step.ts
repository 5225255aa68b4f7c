import type { Opening, Root } from "./root";

/**
 * Opens a path name by name, each directory through the one before. No directory on the way stays open.
 *
 * @param here the name of a directory in itself.
 */
export function openStepByStep(root: Root, path: string, opening: Opening, here: string): number {
  const { top } = root;
  let at = top;
  let start = 0;
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", start)) {
    const next = root.openAt(at, path.slice(start, end), "place");
    if (at !== top) root.close(at);
    if (next < 0) return next;
    at = next;
    start = end + 1;
  }
  const opened = root.openAt(at, path === "" ? here : path.slice(start), opening);
  if (at !== top) root.close(at);
  return opened;
}
