import { isTextTooDeep } from "../depth";
import type { Level } from "../tier";

/** The descriptor of the channel in the process: a socket that carries one JSON text a line. */
export const CHANNEL = 3;

/** Bytes that a log entry counts beside its text, so that empty entries are bounded too. */
export const ENTRY_BYTES = 32;

/** The channel carries levels as their index. */
export const LEVELS: readonly Level[] = ["debug", "log", "info", "warn", "error"];

/** Messages of the host to a process. */
export type Word =
  | readonly ["run", Order]
  /** The answer to a call. `paused` is how many milliseconds the run's clock has stood still so far. */
  | readonly ["answer", call: number, text: string, paused: number]
  /** The run's time is up, or its asker gave up. A run that only waits ends as `timeout`. Ignored if the run has ended. */
  | readonly ["stop", run: number];

/** An order to a process to run a program. */
export interface Order {
  /** The number of the run. The news of its end has the same number. */
  readonly number: number;
  /** The program's file name in stacks. It differs from those of other programs of the session. */
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
  /** True when its state is kept for the next run. */
  readonly isKept: boolean;
}

/**
 * The form in which a word is sent. The text of an input or an answer is JSON already: it follows on a line of its own, and is written
 * and read once. As a part of the word, it would be escaped as text within text: 1 MB took the host 8 ms then, and takes 5 now.
 */
export type Head =
  | readonly ["run", Omit<Order, "input">, hasInput: boolean]
  | readonly ["answer", call: number, paused: number]
  | Extract<Word, readonly ["stop", number]>;

/** The lines of a word. */
export function linesOf(word: Word): string {
  switch (word[0]) {
    case "run": {
      const { input, ...order } = word[1];
      const head = JSON.stringify(["run", order, input !== undefined] satisfies Head);
      return input === undefined ? `${head}\n` : `${head}\n${input}\n`;
    }
    case "answer":
      return `["answer",${word[1]},${word[3]}]\n${word[2]}\n`;
    case "stop":
      return `["stop",${word[1]}]\n`;
  }
}

/** True if the next line is a text that belongs to this one. It calls no method, since code may have changed them. */
export const hasText = (head: Head): boolean => head[0] === "answer" || (head[0] === "run" && head[2]);

/** The word of a line and, if it has one, its text. It calls no method either. */
export function wordOf(head: Head, text: string | undefined): Word {
  // `hasText` was true for each head whose word needs a text.
  if (head[0] === "answer") return ["answer", head[1], text as string, head[2]];
  if (head[0] === "run" && text !== undefined) return ["run", { ...head[1], input: text }];
  return head[0] === "run" ? ["run", head[1]] : head;
}

/** The outcome of a run, as its process sees it. */
export type Outcome =
  | { readonly kind: "value"; readonly value?: string }
  | {
      readonly kind: (typeof FAULTS)[number];
      readonly message: string;
      readonly name?: string;
      /** As the interpreter writes it. The code can make it say anything. */
      readonly stack?: string;
    };

/** Messages of a process to the host. They are not trusted: see `parseNews`. */
export type News =
  | readonly ["ready", held: readonly string[]]
  | readonly ["unavailable", message: string]
  | readonly ["log", level: number, text: string, time: number]
  | readonly ["progress", value: string]
  /** The process chooses the number. The answer has the same one. */
  | readonly ["call", call: number, request: string]
  /** The code can only wait for answers to its open calls. */
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

/** Parses and checks news; undefined if it is not well-formed. */
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
      // JSON has no infinity, but a number that is too large is read as infinity.
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

/** True if a text is JSON, and not nested too deep. */
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
