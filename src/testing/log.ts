import type { Logger } from "../index";

/** One line that was logged. */
export interface LogEntry {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly details: object | undefined;
}

/** A logger that writes into a list. */
export const recordIn = (entries: LogEntry[]): Logger => ({
  warn: (message, details) => void entries.push({ level: "warn", message, details }),
  error: (message, details) => void entries.push({ level: "error", message, details }),
});

/** The value of a name in the details of a line. */
export const detailOf = (entry: LogEntry, name: string): unknown =>
  entry.details === undefined ? undefined : Reflect.get(entry.details, name);

/** True when a text contains another one, or matches a pattern. Any text fits if none is given. */
export function fits(text: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? text.includes(wanted) : text.search(wanted) >= 0;
}
