/** The language that code is written in. */
export type Language = "javascript" | "typescript";

/** The languages that a code actor can run, the default first. */
export const LANGUAGES: readonly Language[] = ["javascript", "typescript"];
