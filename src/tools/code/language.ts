/** What code is written in. */
export type Language = "javascript" | "typescript";

/** The languages that a code actor can be asked for, the default first. */
export const LANGUAGES: readonly Language[] = ["javascript", "typescript"];
