import type { EndLine, MessageLine } from "../../record/index";
import { clip, plain, plainJson } from "../plain";

/** Letters of a payload, and of an outcome, on the line of a message. */
const SHOWN = 100;

/** A message with what came of it. */
export interface Exchange {
  message: MessageLine;
  /** The last end: a message that was stashed ends more than once. Undefined for one that has not ended. */
  end?: EndLine;
  items: number;
}

/** A message on one line, with its outcome: `ask outside → @(agent) run {"task":"sum"} ⇒ handled after 1.2 ms: 3`. */
export const summaryOf = (exchange: Exchange): string => `${headOf(exchange.message)} ⇒ ${outcomeOf(exchange)}`;

/** A message on one line. */
export const headOf = (message: MessageLine): string =>
  `${plain(`${message.pattern} ${routeOf(message)}`)}${payloadOf(message)}`;

/** The way of a message: `@(agent) → @(files) read`. */
export function routeOf({ from, door, to, operation, forwarded, world }: MessageLine): string {
  const sender = from ?? (door === true ? "a door" : "outside");
  const marks = `${forwarded === true ? " (forwarded)" : ""}${world === true ? " (world)" : ""}`;
  return `${sender} → ${to}${marks} ${operation}`;
}

const payloadOf = ({ payload }: MessageLine): string =>
  payload === undefined ? "" : ` ${clip(plainJson(payload), SHOWN)}`;

/** The outcome of a message: `handled after 1.2 ms, 17 items`. */
export function outcomeOf({ message, end, items }: Exchange): string {
  const streamed = items === 0 ? "" : `, ${items} ${items === 1 ? "item" : "items"}`;
  if (end === undefined) return `no end is recorded${streamed}`;
  const after = ` after ${durationOf(end.at - message.at)}`;
  const why = end.reason === undefined ? "" : ` (${plain(end.reason)})`;
  const error = end.error === undefined ? "" : `: ${clip(plain(end.error.message), SHOWN)}`;
  const value = end.value === undefined ? "" : `: ${clip(plainJson(end.value), SHOWN)}`;
  return `${end.outcome === "dead" ? "dead letter" : end.outcome}${why}${after}${streamed}${error}${value}`;
}

/** A time for people: `1.2 ms`, `3.4 s`, `2 min 5 s`. */
export function durationOf(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Number(milliseconds.toPrecision(3))} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 100) return `${Number(seconds.toPrecision(3))} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** A moment of a recording, in seconds since it began, in a column. */
export const momentOf = (at: number): string => (at / 1_000).toFixed(6).padStart(12);
