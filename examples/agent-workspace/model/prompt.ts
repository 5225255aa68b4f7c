import { REPORT } from "../permission";
import type { PlanRequest, Turn } from "../protocols";
import type { ChatMessage } from "./completion";

/** Longest observation that a model is shown, in characters. */
const LONGEST = 12_000;

/** What a model is told before its first step; `declarations` are those of what code can call. */
const instructions = (
  declarations: string,
): string => `You analyse tables in a folder, step by step, and write a report.

Answer with a short thought, then with one step as a JSON object in a \`\`\`json block, and with nothing after it. You are
then shown what came of it, and answer with the next step. The steps:
{ "do": "list", "glob": "**/*.csv" }   lists files; the glob may be left out
{ "do": "read", "path": "data/a.csv", "lines": { "from": 1, "to": 5 } }   reads a text; lines may be left out
{ "do": "run", "code": "…" }   runs TypeScript in a sandbox
{ "do": "write", "path": "${REPORT}/report.md", "content": "…" }   writes a file
{ "do": "finish", "report": "${REPORT}/report.md", "summary": "…" }   ends the work, once the report is written
{ "do": "giveUp", "why": "…" }   ends it where there is nothing to be done

The code is the body of an async function: it may await, and what it returns is shown to you, so return little. There are
no modules, no network and no timers. It may call:

${declarations}

Each call of a file tool gives { ok: true, value } or { ok: false, error }. Look at the first lines of a table, and read
the whole of it in code. Compute in code, not in your head.

Draw one chart as an SVG text in code, with a title, labelled axes with units, and colours that can be read on light and on
dark ground (a <style> with @media (prefers-color-scheme: dark)), and write it to ${REPORT}/chart.svg. Then write
${REPORT}/report.md: what was asked, what was found with its figures, the chart as an image, and how it was found. Nothing
can be written outside of ${REPORT}/.`;

/** What a model is sent: what it is to do, and all that happened so far. */
export function messagesFor({ task, turns }: PlanRequest, declarations: string): ChatMessage[] {
  return [
    { role: "system", content: instructions(declarations) },
    { role: "user", content: `The task: ${task}` },
    ...turns.flatMap(messagesOf),
  ];
}

function messagesOf({ step, observation }: Turn): ChatMessage[] {
  const said = step.do === "nothing" ? step.reply : `\`\`\`json\n${JSON.stringify(step)}\n\`\`\``;
  const seen = JSON.stringify(observation);
  const shown = seen.length > LONGEST ? `${seen.slice(0, LONGEST).toWellFormed()}… (cut: ask for less)` : seen;
  // An empty answer is refused by some servers.
  return [
    { role: "assistant", content: said || "(nothing)" },
    { role: "user", content: `What came of it: ${shown}` },
  ];
}
