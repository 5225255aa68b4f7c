// The texts of a worker: those of the link begin with "[", and these with "{".

/** A text from the system that started a worker. */
export type ToWorker =
  | { readonly kind: "start"; readonly name: string; readonly index: number; readonly data?: unknown }
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

export const isControl = (text: string): boolean => text.startsWith("{");

/** Set for processes, so that a program knows that it was started as a worker: the id of the process that started it. */
export const PROCESS_MARK = "ENVOI_WORKER";
