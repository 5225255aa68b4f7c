import type { CodeError } from "../code-error";
import type { CodeRefusal } from "../code-refusal";
import type { Language } from "../language";
import type { Reading } from "./source-program";

/** The purpose of a source: code, code of a session, or a behaviour, whose value may be a function. */
export type Purpose = "run" | "session" | "behaviour";

/** A source for another thread to read. */
export interface Errand {
  readonly code: string;
  readonly language: Language;
  readonly purpose: Purpose;
}

/** The answer of the thread. */
export type Report = { readonly reading: Reading } | { readonly fault: CodeError };

/** The message that ends the thread. */
export const LEAVE = "leave";

export type Outcome = Reading | CodeRefusal;
