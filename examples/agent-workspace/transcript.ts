import { printable } from "./printable";
import type { Happening, Observation, Step } from "./protocols";

/** Most lines that are shown of what is read, run or written. */
const MOST_LINES = 12;
const WIDEST = 110;

export interface Transcript {
  show(happening: Happening): void;
}

/** Prints what an agent does, while it does it. */
export function transcriptOn(write: (text: string) => void): Transcript {
  let isThinking = false; // Thoughts come in pieces, and go on in the same line.
  let code = "";
  const end = (): void => {
    if (isThinking) write("\n");
    isThinking = false;
  };
  return {
    show(happening) {
      if (happening.kind === "thought") {
        if (!isThinking) write("\n");
        isThinking = true;
        return write(lines(happening.text).join("\n"));
      }
      end();
      if (happening.kind === "step") {
        if (happening.step.do === "run") code = happening.step.code;
        write(`${happening.number}. ${sentenceOf(happening.step)}\n`);
        write(excerptOf(textOf(happening.step)));
      } else if (happening.kind === "observed") write(observed(happening.observation, code));
      else if (happening.kind === "failed") write(`\nThere is no report. ${printable(happening.why)}\n`);
    },
  };
}

function sentenceOf(step: Step): string {
  switch (step.do) {
    case "list":
      return `list ${printable(step.glob ?? "all files")}`;
    case "read":
      return `read ${printable(step.path)}${step.lines ? `, lines ${step.lines.from} to ${step.lines.to}` : ""}`;
    case "run":
      return "run code in the sandbox";
    case "write":
      return `write ${printable(step.path)}`;
    case "finish":
      return `finish: ${printable(step.summary)}`;
    case "giveUp":
      return "give up";
  }
}

const textOf = (step: Step): string => (step.do === "run" ? step.code : step.do === "write" ? step.content : "");

function observed(observation: Observation, code: string): string {
  switch (observation.kind) {
    case "files":
      return `   → ${observation.paths.map(printable).join(", ") || "nothing"}${observation.isCut ? ", and more" : ""}\n`;
    case "text":
      return excerptOf(observation.content);
    case "value":
      return logsOf(observation.logs) + excerptOf(JSON.stringify(observation.value, null, 1), "→");
    case "written":
      return `   → ${observation.bytes.toLocaleString("en")} bytes\n`;
    case "error": {
      const { error, message, line, column, logs = [] } = observation;
      const place = line === undefined ? "" : ` in line ${line}${column === undefined ? "" : `, column ${column}`}`;
      const shown = line === undefined ? "" : placeOf(code, line, column);
      return `${logsOf(logs)}   ✗ ${error}${place}: ${printable(message)}\n${shown}`;
    }
  }
}

const logsOf = (logs: readonly string[]): string => logs.map((log) => `   · ${cut(printable(log))}\n`).join("");

/** A line of code, and a mark below the place. */
function placeOf(code: string, line: number, column = 1): string {
  const text = printable(code.split("\n")[line - 1] ?? "");
  return `   │ ${cut(text)}\n   │ ${" ".repeat(Math.min(column - 1, WIDEST))}^\n`;
}

function excerptOf(text: string, mark = "│"): string {
  if (text === "") return "";
  const all = lines(text.trimEnd());
  const shown = all.slice(0, MOST_LINES).map((line) => `   ${mark} ${cut(line)}\n`);
  const more = all.length - shown.length;
  return shown.join("") + (more > 0 ? `   ${mark} … ${more} more lines\n` : "");
}

const lines = (text: string): string[] => text.split(/\r?\n/).map(printable);
const cut = (line: string): string => (line.length > WIDEST ? `${line.slice(0, WIDEST).toWellFormed()}…` : line);
