import { StreamError } from "../actor/envelopes/stream-step";
import type { Logger } from "../actor/events";
import { asDetail, onOneLine } from "../message/address";
import { type DeliveryError, isDeliveryError } from "../message/delivery-error";
import { sentenceOf } from "../message/sentence-of";

/** The logger of a system that was given none: one line on the console for each, and at most one stack below it. */
export const CONSOLE_LOG: Logger = {
  warn: (message, details) => console.warn(textOf(message, details)),
  error: (message, details) => console.error(textOf(message, details)),
};

/** Causes of causes that are looked at; a chain may be circular. */
const DEEPEST = 8;
/** Most characters of one detail. */
const MOST = 1_000;

function textOf(message: string, details: object = {}): string {
  const { cause, ...fields } = details as Record<string, unknown>; // Any object has such members, or not.
  const { delivery, thrown } = rootOf(cause);
  const known = delivery && { kind: delivery.kind, address: delivery.address, operation: delivery.operation };
  const shown = Object.entries({ ...known, ...fields }).filter(([, value]) => value !== undefined);
  const why = thrown === undefined ? "" : sentenceOf(thrown);
  const isSaid = message.includes(why);
  const line = [message, ...shown.map(([name, value]) => `${name}=${textOfValue(value)}`), ...(isSaid ? [] : [why])];
  return `${flat(line.join(" "))}${framesOf(thrown)}`;
}

/** The innermost delivery error among causes, and what was thrown below it. */
function rootOf(cause: unknown): { readonly delivery?: DeliveryError; readonly thrown: unknown } {
  let thrown = cause;
  let delivery: DeliveryError | undefined;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const known: unknown = isStreamError(thrown) ? thrown.error : thrown;
    if (!isDeliveryError(known)) break;
    delivery = known;
    thrown = "cause" in known ? known.cause : undefined;
  }
  return delivery === undefined ? { thrown } : { delivery, thrown };
}

function isStreamError(value: unknown): value is StreamError {
  try {
    return value instanceof StreamError;
  } catch {
    return false; // A proxy that throws.
  }
}

/** The frames of an error, and the sentences of its causes, whose own stacks mostly say the same. */
function framesOf(thrown: unknown): string {
  const lines: string[] = [];
  try {
    let at = thrown;
    for (let depth = 0; depth < DEEPEST && at instanceof Error; depth++) {
      if (depth > 0) lines.push(`caused by: ${sentenceOf(at)}`);
      else
        lines.push(
          ...String(at.stack ?? "")
            .split("\n")
            .filter((line) => /^\s+at /.test(line)),
        );
      at = at.cause;
    }
  } catch {
    // A getter that throws: the line matters more.
  }
  return lines.map((line) => `\n    ${flat(line.trim())}`).join("");
}

function textOfValue(value: unknown): string {
  try {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    return asDetail(text, MOST);
  } catch {
    return "(cannot be shown)";
  }
}

/** A line must not look like several, and no terminal obey it, whatever a stranger's text has in it. */
const flat = (text: string): string => onOneLine(text.replaceAll(/\s*[\r\n]\s*/g, " "));
