import { openKernelRoot } from "./kernel-root";
import type { FileSystemOptions } from "./options";
import type { Root } from "./root";

/**
 * Opens the root of a file actor in the strongest way that this machine has.
 *
 * @throws Error when there is none, or not the one that the options name; and what opening the directory throws.
 */
export function openRoot({ root: directory, resolution }: FileSystemOptions): Root {
  const reasons: string[] = [];
  if (resolution !== "proc-fd") {
    const opened = openKernelRoot(directory);
    if (!("reason" in opened)) return opened;
    reasons.push(`openat2: ${opened.reason}`);
  }
  throw new Error(`This machine has no safe way to serve files (${reasons.join("; ")}).`);
}
