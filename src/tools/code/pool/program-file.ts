/** What the caller's code is called in the stacks of the interpreter. */
export const FILE = "program.js";

/** The line there that the caller's first one is: one of ours stands before it. */
export const FIRST_LINE = 2;
