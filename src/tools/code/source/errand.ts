import type { CodeError } from "../code-error";
import type { CodeRefusal } from "../code-refusal";
import type { Language } from "./parser";
import type { Reading } from "./source-program";

/** A source that another thread is to read. */
export interface Errand {
  readonly code: string;
  readonly language: Language;
  readonly isSession: boolean;
}

/** What the thread says of it. */
export type Report = { readonly reading: Reading } | { readonly fault: CodeError };

/** What tells the thread to end. */
export const LEAVE = "leave";

export type Outcome = Reading | CodeRefusal;
