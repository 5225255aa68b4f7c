import type { Ended, LogEntry } from "../tier";
import { display } from "./recorder";

export type Failure = Exclude<Ended, { kind: "value" }>;

export const NO_LOGS: readonly LogEntry[] = [];

/** How a run ends that gives no value; who ends it puts in its logs and its time. */
export function failure(kind: Failure["kind"], message: string): Failure {
  return { kind, message, logs: NO_LOGS, durationMs: 0 };
}

export const timedOut = (timeout: number): Failure =>
  failure("timeout", `The code had not ended after ${timeout} ms; do less at once, or allow more.`);

export const tooMuch = (most: number): Failure =>
  failure("output-limit", `The logs and the value are more than ${most} bytes; return less, or log less.`);

/** What was thrown, which may be anything, also what throws when it is looked at. */
export function describe(thrown: unknown): { name?: string; message: string; stack?: string } {
  try {
    if (!(thrown instanceof Error)) return { message: display([thrown]) };
    const { name, message, stack } = thrown;
    return { name: String(name), message: String(message), ...(typeof stack === "string" && { stack }) };
  } catch {
    return { message: "What was thrown cannot be shown." };
  }
}
