import { isTextTooDeep } from "../depth";
import type { Level } from "../tier";

/** The channel is a socket at this descriptor of the process, which carries one JSON text a line. */
export const CHANNEL = 3;

/** What an entry of the log counts beside its text, so that empty ones are bounded too. */
export const ENTRY_BYTES = 32;

/** Levels go over the channel by their index. */
export const LEVELS: readonly Level[] = ["debug", "log", "info", "warn", "error"];

/** What the host tells a process. */
export type Word =
  | readonly ["run", Order]
  /** What a call came back with; `paused` is for how many milliseconds the run's clock has stood still so far. */
  | readonly ["answer", call: number, text: string, paused: number]
  /** The time of a run is up, or nobody waits for it: one that only waits ends as `timeout`. Nothing where it has ended. */
  | readonly ["stop", run: number];

/** A run that a process is asked for. */
export interface Order {
  /** Of the run; its end is told with the same one. */
  readonly number: number;
  /** What its program is called in stacks, in which it is told apart from others of its session. */
  readonly file: string;
  readonly body: string;
  readonly declares: readonly string[];
  readonly input?: string;
  readonly timeout: number;
  readonly memory: number;
  readonly maxOutput: number;
  /** See `Run`. */
  readonly seed?: number;
  readonly now?: number;
  /** See `Calls`. */
  readonly tools?: string;
  /** Whether what it leaves is to be there for the next run. */
  readonly isKept: boolean;
}

/** How a run ended, as its process sees it. */
export type Outcome =
  | { readonly kind: "value"; readonly value?: string }
  | {
      readonly kind: (typeof FAULTS)[number];
      readonly message: string;
      readonly name?: string;
      /** As the interpreter writes it; the code can make it say anything. */
      readonly stack?: string;
    };

/** What a process tells. It is read as if it came from a stranger: see `parseNews`. */
export type News =
  | readonly ["ready", held: readonly string[]]
  | readonly ["unavailable", message: string]
  | readonly ["log", level: number, text: string, time: number]
  | readonly ["progress", value: string]
  /** Its number is the process's own; the answer has the same one. */
  | readonly ["call", call: number, request: string]
  /** All that is left to do is to wait for answers, as many as were asked for and have not come. */
  | readonly ["waiting"]
  | readonly ["end", number: number, outcome: Outcome];

const FAULTS = [
  "runtime-error",
  "timeout",
  "out-of-memory",
  "output-limit",
  "unserializable-value",
  "crashed",
] as const;

const LONGEST_TEXT = 16 * 1024;

/** News that is what it should be; undefined for anything else. */
export function parseNews(line: string): News | undefined {
  let news: unknown;
  try {
    news = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(news)) return undefined;
  const [word, first, second, third] = news as unknown[];
  switch (word) {
    case "end": {
      const outcome = news.length === 3 ? outcomeOf(second) : undefined;
      return typeof first === "number" && outcome !== undefined ? [word, first, outcome] : undefined;
    }
    case "log":
      if (typeof first !== "number" || LEVELS[first] === undefined || typeof second !== "string") return undefined;
      // JSON has no infinity, but a number that is too large is read as one.
      return Number.isFinite(third) && news.length === 4 ? [word, first, second, third as number] : undefined;
    case "progress":
      return typeof first === "string" && news.length === 2 && isJson(first) ? [word, first] : undefined;
    case "call":
      if (!Number.isSafeInteger(first) || typeof second !== "string" || news.length !== 3) return undefined;
      return [word, first as number, second];
    case "waiting":
      return news.length === 1 ? [word] : undefined;
    case "unavailable":
      return typeof first === "string" && news.length === 2 ? [word, first.slice(0, LONGEST_TEXT)] : undefined;
    case "ready":
      return Array.isArray(first) && first.every((held) => typeof held === "string") && news.length === 2
        ? [word, first]
        : undefined;
    default:
      return undefined;
  }
}

/** Whether a text is JSON of a value that may come out of code. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return !isTextTooDeep(text);
  } catch {
    return false;
  }
}

function outcomeOf(value: unknown): Outcome | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const text = (key: string): string | undefined => {
    const part = given[key];
    return typeof part === "string" ? part.slice(0, LONGEST_TEXT) : undefined;
  };
  if (given["kind"] === "value") {
    const json = given["value"];
    if (json === undefined) return { kind: "value" };
    return typeof json === "string" ? { kind: "value", value: json } : undefined;
  }
  const kind = FAULTS.find((fault) => fault === given["kind"]);
  if (kind === undefined) return undefined;
  const [name, stack] = [text("name"), text("stack")];
  const message = text("message") ?? "";
  return { kind, message, ...(name !== undefined && { name }), ...(stack !== undefined && { stack }) };
}
