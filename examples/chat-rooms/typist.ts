import { createInterface } from "node:readline";
import type { System } from "envoi";
import type { Entry } from "./protocols";
import { fit, printable } from "./text";
import { linesOfTree } from "./tree";
import type { View } from "./view";

const HELP = "Type, and press Enter. /tree shows the actors; /quit, or Ctrl-D, leaves.";

/** The view of a person who takes part: what is said in the room, above the line that is being typed. */
export interface Typist extends View {
  show(entry: Entry): void;
}

export interface TypistOptions {
  readonly onLine: (text: string) => void;
  /** Called on /quit and Ctrl-D. */
  readonly onQuit: () => void;
  /** Called on Ctrl-C, which comes as a key here and not as a signal. */
  readonly onInterrupt: () => void;
}

export function typistAt(name: string, { onLine, onQuit, onInterrupt }: TypistOptions): Typist {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: `${name}> ` });
  let shown: System | null = null;
  let isClosed = false;
  let isTyping = true;

  function print(text: string): void {
    if (isClosed) return;
    process.stdout.write(`\r\x1b[J${text}\n`);
    if (isTyping) lines.prompt(true);
  }

  function obey(line: string): void {
    const text = line.trim();
    if (text === "/quit") onQuit();
    else if (text === "/tree") print(treeOf(shown));
    else if (text.startsWith("/")) print(HELP);
    else if (text !== "") onLine(text);
    if (isTyping) lines.prompt();
  }

  const treeOf = (system: System | null): string =>
    linesOfTree(system?.inspect() ?? [])
      .map((line) => fit(line, process.stdout.columns))
      .join("\n");

  return {
    show: ({ room, from, text }) => print(`#${room}  ${from}: ${printable(text)}`),
    note: (sentence) => print(`* ${printable(sentence)}`),
    open(system) {
      shown = system;
      print(HELP);
      lines.on("line", obey);
      lines.on("SIGINT", onInterrupt);
      lines.on("close", () => {
        isTyping = false;
        onQuit();
      });
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      lines.close();
      process.stdout.write("\r\x1b[J\n");
    },
  };
}
