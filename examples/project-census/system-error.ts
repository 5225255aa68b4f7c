/** What the operating system has against a path: a sentence such as "EACCES: permission denied", or that it is gone. */
export type Refusal = { readonly isGone: true } | { readonly isGone: false; readonly reason: string };

// Removed, or replaced by a link or a socket, since the walker saw it.
const GONE = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"]);

/** Reads a system error; throws on anything else, which is a mistake in the program. */
export function refusalOf(path: string, thrown: unknown): Refusal {
  if (!(thrown instanceof Error && "code" in thrown && typeof thrown.code === "string")) throw thrown;
  // A name in another encoding comes with U+FFFD in it, and cannot be asked for in that form.
  if (path.includes("\uFFFD") && thrown.code === "ENOENT") return { isGone: false, reason: "its name is not UTF-8" };
  if (GONE.has(thrown.code)) return { isGone: true };
  const [reason = thrown.code] = thrown.message.split(","); // The path comes after the comma.
  return { isGone: false, reason };
}
