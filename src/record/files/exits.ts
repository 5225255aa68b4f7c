/** Something that writes what it still has when the process exits. */
export interface Exiting {
  onExit(): void;
}

const open = new Set<Exiting>();

function onExit(): void {
  for (const each of open) each.onExit();
}

/** One listener serves all files: Node warns of the eleventh. */
export function listenForExit(each: Exiting): void {
  if (open.size === 0) process.on("exit", onExit);
  open.add(each);
}

export function forgetExit(each: Exiting): void {
  if (open.delete(each) && open.size === 0) process.removeListener("exit", onExit);
}
