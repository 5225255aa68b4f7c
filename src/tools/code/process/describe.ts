import type { Outcome } from "../pool/channel";
import { display } from "./display";

const { call } = Function.prototype;
const slice = call.bind(String.prototype.slice) as (text: string, from: number, to?: number) => string;
const startsWith = call.bind(String.prototype.startsWith) as (text: string, start: string) => boolean;
const endsWith = call.bind(String.prototype.endsWith) as (text: string, end: string) => boolean;
const isError = (Error as { isError?: (value: unknown) => boolean }).isError ?? ((value) => value instanceof Error);
const [LONGEST_NAME, LONGEST_TEXT] = [200, 8_000];

/** Describes what code threw. That may be anything, even a value that throws when inspected. */
export function describe(thrown: unknown): Outcome {
  try {
    if (!isError(thrown)) return { kind: "runtime-error", message: slice(display([thrown]), 0, LONGEST_TEXT) };
    const { name, message, stack } = thrown as { name: unknown; message: unknown; stack: unknown };
    const text = typeof message === "string" ? message : "";
    if (name === "RangeError" && text === "Out of memory") return { kind: "out-of-memory", message: "" };
    return {
      kind: "runtime-error",
      name: typeof name === "string" ? slice(name, 0, LONGEST_NAME) : "Error",
      message: slice(text, 0, LONGEST_TEXT),
      ...(typeof stack === "string" && { stack: slice(callsIn(stack, `${name}: ${text}`), 0, LONGEST_TEXT) }),
    };
  } catch {
    return { kind: "runtime-error", message: "What was thrown cannot be shown." };
  }
}

/** A stack without its head. The head repeats the message, which may look like a call. */
const callsIn = (stack: string, head: string): string => (startsWith(stack, head) ? slice(stack, head.length) : stack);

/** The reason why a value has no JSON text, from what `stringify` threw. */
export function faultOf(thrown: unknown): string {
  const described = describe(thrown);
  if (described.kind !== "runtime-error") return "it needs more memory than there is";
  const { name, message } = described;
  if (name === "RangeError" && startsWith(message, "Maximum call stack")) return "it is nested too deep";
  const fault = name === undefined ? message : `${name}: ${message}`;
  return endsWith(fault, ".") ? slice(fault, 0, -1) : fault;
}
