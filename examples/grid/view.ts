/** The place where a run says what happens. */
export interface View {
  /** Prints a line that stays. */
  readonly say: (line: string) => void;
  /** Shows a line about the present: on a terminal the next one takes its place. */
  readonly show: (line: string) => void;
  /** Takes the line about the present away. */
  readonly end: () => void;
}

/** The stream of a terminal or a file, such as `process.stdout`. */
export interface Out {
  readonly isTTY?: boolean;
  readonly columns: number;
  write(text: string): unknown;
}

/** To the beginning of the line, and nothing on it. */
const CLEAR = "\r\x1b[K";

/** Prints on a terminal with one live line at the bottom; anywhere else line by line, without control codes. */
export function viewOn(out: Out, isTerminal = out.isTTY === true && process.env["TERM"] !== "dumb"): View {
  if (!isTerminal) {
    const print = (line: string): void => void out.write(`${line}\n`);
    return { say: print, show: print, end: () => undefined };
  }
  let shown = "";
  const draw = (): void => void out.write(CLEAR + shown.slice(0, Math.max(out.columns - 1, 1))); // A full line would wrap.
  return {
    say(line) {
      out.write(`${CLEAR}${line}\n`);
      draw();
    },
    show(line) {
      shown = line;
      draw();
    },
    end() {
      shown = "";
      draw();
    },
  };
}
