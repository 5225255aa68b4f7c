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

/** What the details of a line say under a name. */
export const detailOf = (entry: LogEntry, name: string): unknown =>
  entry.details === undefined ? undefined : Reflect.get(entry.details, name);

/** Whether a text has another one in it, or fits a pattern; anything does where nothing is asked for. */
export function fits(text: string, wanted: string | RegExp | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? text.includes(wanted) : text.search(wanted) >= 0;
}
