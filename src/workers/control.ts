import type { Worker } from "node:worker_threads";
import { readJson } from "../index";
import { type Binary, MAX_DEPTH } from "../link/index";

// The texts of a worker: those of the link begin with "[", and these with "{".

/** A text from the system that started a worker. */
export type ToWorker =
  | {
      readonly kind: "start";
      readonly name: string;
      readonly index: number;
      readonly data?: unknown;
      readonly mostUnread?: number;
    }
  | { readonly kind: "ping" }
  /** To stop its actors within so many milliseconds, or without a limit, and to say so. */
  | { readonly kind: "leave"; readonly within?: number }
  /** All that it said has come: it may end. */
  | { readonly kind: "bye" };

/** A text from a worker. */
export type FromWorker =
  /** It hears. */
  | { readonly kind: "here" }
  /** Its actors can be reached. */
  | { readonly kind: "ready" }
  /** It could not begin. */
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "pong" }
  /** It got what is no frame. */
  | { readonly kind: "refused" }
  | { readonly kind: "left" };

/** Sent by a thread as it exits, unless it was asked to: the exit code, in a shape that no other code posts. */
export interface LastMessage {
  readonly envoiExitCode: number;
}

export const isLastMessage = (data: unknown): data is LastMessage =>
  typeof data === "object" && data !== null && "envoiExitCode" in data && typeof data.envoiExitCode === "number";

/** A text and the bytes that belong to it as they are posted; a text alone where it has none. */
export type Posted = string | readonly [text: string, ...bytes: Binary[]];

/** Calls back with a text that came, and with its bytes. Ignores all else. */
export function readPosted(data: unknown, onText: (text: string, bytes?: readonly unknown[]) => void): void {
  if (typeof data === "string") onText(data);
  else if (Array.isArray(data) && typeof data[0] === "string") onText(data[0], data.slice(1));
}

/** Posts a text with its bytes to a thread, which takes over their memory. Memory that nobody can take over, such as that of WebAssembly, is copied. */
export function postWith(port: Pick<Worker, "postMessage">, text: string, bytes: readonly Binary[]): void {
  const posted: Posted = [text, ...bytes];
  try {
    port.postMessage(
      posted,
      bytes.map((each) => (ArrayBuffer.isView(each) ? (each.buffer as ArrayBuffer) : each)), // `transfer` takes no shared memory.
    );
  } catch {
    port.postMessage(posted);
  }
}

export const isControl = (text: string): boolean => text.startsWith("{");

const TO_WORKER = ["start", "ping", "leave", "bye"] as const satisfies readonly ToWorker["kind"][];
const FROM_WORKER = [
  "here",
  "ready",
  "failed",
  "pong",
  "refused",
  "left",
] as const satisfies readonly FromWorker["kind"][];

/** Data are as deep as a payload may be. */
const CONTROL_DEPTH = MAX_DEPTH + 1;

function readControl(text: string, kinds: readonly string[]): { readonly kind: unknown } | undefined {
  const read = readJson(text, { depth: CONTROL_DEPTH });
  const message = read.isOk() ? read.value : undefined;
  if (typeof message !== "object" || message === null || !("kind" in message)) return undefined;
  return kinds.some((kind) => kind === message.kind) ? message : undefined;
}

/** The message of a text; undefined where it is none: any code of a worker can post what it likes. */
export function readFromWorker(text: string): FromWorker | undefined {
  const message = readControl(text, FROM_WORKER);
  if (message?.kind === "failed" && !("message" in message && typeof message.message === "string")) return undefined;
  return message as FromWorker | undefined; // It has one of the kinds, and their only member was looked at.
}

/** As above, for a text from the system that started this worker. */
export const readToWorker = (text: string): ToWorker | undefined =>
  readControl(text, TO_WORKER) as ToWorker | undefined; // Only spawnWorkers writes to a worker.

/** True for a path in the executable of a program that was made by `bun build --compile`. */
export const isInExecutable = (path: string): boolean => /^(\/\$bunfs\/|B:[\\/]~BUN)/i.test(path);

/** True for a program whose executable is no `bun`, but runs as one with this variable. A worker of such a program was started with it. */
export const BUN_MARK = "BUN_BE_BUN";
export const isCompiled = isInExecutable(Bun.main) || process.env[BUN_MARK] === "1";

/** Set for processes, so that a program knows that it was started as a worker: the id of the process that started it. */
export const PROCESS_MARK = "ENVOI_WORKER";
