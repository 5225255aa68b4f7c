import type { Ended, LogEntry } from "../tier";
import { display } from "./recorder";

export type Failure = Exclude<Ended, { kind: "value" }>;

export const NO_LOGS: readonly LogEntry[] = [];

/** The end of a run without a value. The caller fills in its logs and its time. */
export function failure(kind: Failure["kind"], message: string): Failure {
  return { kind, message, logs: NO_LOGS, durationMs: 0 };
}

export const timedOut = (timeout: number): Failure =>
  failure("timeout", `The code had not ended after ${timeout} ms; do less at once, or allow more.`);

export const tooMuch = (most: number): Failure =>
  failure("output-limit", `The logs and the value are more than ${most} bytes; return less, or log less.`);

/** Describes any thrown value, even one that throws when it is read. */
export function describe(thrown: unknown): { name?: string; message: string; stack?: string } {
  try {
    if (!(thrown instanceof Error)) return { message: display([thrown]) };
    const { name, message, stack } = thrown;
    return { name: String(name), message: String(message), ...(typeof stack === "string" && { stack }) };
  } catch {
    return { message: "What was thrown cannot be shown." };
  }
}
