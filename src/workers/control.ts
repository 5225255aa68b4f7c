import type { Worker } from "node:worker_threads";
import type { Binary } from "../link/index";

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
  /** To stop its actors within so many milliseconds, and to say so. */
  | { readonly kind: "leave"; readonly within: number }
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
  | { readonly kind: "left" };

/** Sent by a thread as it exits, unless it was asked to: the exit code, which is no text. */
export type LastMessage = number;

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

/** Set for processes, so that a program knows that it was started as a worker: the id of the process that started it. */
export const PROCESS_MARK = "ENVOI_WORKER";
