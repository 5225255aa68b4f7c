import { Automaton } from "../../tools/files/search/automaton";
import { Program } from "../../tools/files/search/program";
import { PatternError, parsePattern, syntaxOf } from "../../tools/files/search/syntax";
import { Effort } from "../../tools/files/steps";
import { UsageError } from "../arguments";

/** Says whether a text of one line has what is looked for. */
export type Needle = (text: string) => boolean;

/**
 * Looks for a text or a regular expression in JSON. The engine is the file tool's, whose time grows linearly with the text: what was recorded
 * may be a stranger's.
 *
 * @throws UsageError when the pattern is none.
 */
export function needleOf(pattern: string, isRegex: boolean, ignoresCase: boolean): Needle {
  const escaped = JSON.stringify(pattern).slice(1, -1); // As the text stands in JSON.
  if (!isRegex && !ignoresCase) return (text) => text.includes(escaped);
  const automaton = new Automaton(new Program(parsed(isRegex ? pattern : escaped, isRegex, ignoresCase)));
  return (text) => {
    const bytes = Buffer.from(text);
    const steps = automaton.find(bytes, 0, bytes.length, new Effort());
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value >= 0;
  };
}

function parsed(pattern: string, isRegex: boolean, ignoreCase: boolean): ReturnType<typeof parsePattern> {
  try {
    return isRegex ? parsePattern(pattern, ignoreCase) : { syntax: syntaxOf(pattern), ignoreCase };
  } catch (thrown) {
    if (!(thrown instanceof PatternError)) throw thrown;
    throw new UsageError(`The pattern cannot be searched: at letter ${thrown.at}, ${thrown.message}.`);
  }
}
