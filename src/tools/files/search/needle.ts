import { refuse } from "../file-error";
import type { SearchRequest } from "../requests/searching";
import { Automaton } from "./automaton";
import { Program } from "./program";
import { type Pattern, PatternError, parsePattern, requiredText, syntaxOf, wholeText } from "./syntax";

/** The text or pattern of a search. */
export interface Needle {
  /** A text that every matching line contains, or null. */
  readonly text: Buffer | null;
  /** The automaton that such a line must match as well, or null. */
  readonly automaton: Automaton | null;
}

/** Reads the text or pattern of a request, or refuses it. */
export function needleOf({ path = "", text, pattern, ignoreCase = false }: SearchRequest): Needle {
  const wanted = text ?? pattern ?? ""; // The schema requires one of the two.
  if (!wanted.isWellFormed()) return refuse("denied", path, "What is searched is a text of whole letters.");
  if (text !== undefined && !ignoreCase) return { text: Buffer.from(text), automaton: null };
  if (text !== undefined && /[\r\n]/.test(text)) {
    return refuse("denied", path, "With ignoreCase a text of one line is searched; write one line of it.");
  }
  try {
    return needleOfPattern(
      text === undefined ? parsePattern(wanted, ignoreCase) : { syntax: syntaxOf(text), ignoreCase },
    );
  } catch (thrown) {
    if (!(thrown instanceof PatternError)) throw thrown;
    const shown = JSON.stringify(wanted.length > 200 ? `${wanted.slice(0, 200)}…` : wanted);
    return refuse(
      "denied",
      path,
      `The pattern ${shown} cannot be searched: at letter ${thrown.at}, ${thrown.message}.`,
    );
  }
}

function needleOfPattern(pattern: Pattern): Needle {
  const whole = wholeText(pattern);
  if (whole !== null) return { text: Buffer.from(whole), automaton: null };
  const required = requiredText(pattern);
  return {
    text: required === "" ? null : Buffer.from(required),
    automaton: new Automaton(new Program(pattern)),
  };
}
