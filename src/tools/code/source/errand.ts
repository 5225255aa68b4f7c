import type { CodeError } from "../code-error";
import type { CodeRefusal } from "../code-refusal";
import type { Language } from "../language";
import type { Reading } from "./source-program";

/** What a source is: code, code of a session, or a behaviour, whose value may be a function. */
export type Purpose = "run" | "session" | "behaviour";

/** A source that another thread is to read. */
export interface Errand {
  readonly code: string;
  readonly language: Language;
  readonly purpose: Purpose;
}

/** What the thread says of it. */
export type Report = { readonly reading: Reading } | { readonly fault: CodeError };

/** What tells the thread to end. */
export const LEAVE = "leave";

export type Outcome = Reading | CodeRefusal;
