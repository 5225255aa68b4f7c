import type { WriteStream } from "node:tty";
import { count, printable, size } from "./table";

/** How often a log, unlike a terminal, gets a line, in milliseconds. */
const LINE_EVERY = 2_000;

/** Shows where a census is. */
export interface Progress {
  begin(folder: string): void;
  show(progress: { readonly files: number; readonly bytes: number }): void;
  end(): void;
}

/** On a terminal, one line that changes; elsewhere a line now and then, or none when `isQuiet`. */
export function progressOn(out: WriteStream, isQuiet: boolean): Progress {
  const isTerminal = out.isTTY === true;
  if (isQuiet && !isTerminal) return { begin() {}, show() {}, end() {} };
  const write = (text: string): void => void out.write(isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
  let last = performance.now();
  return {
    begin: (folder) => write(`Counting ${printable(folder)} …`),
    show({ files, bytes }) {
      const now = performance.now();
      if (!isTerminal && now - last < LINE_EVERY) return;
      last = now;
      write(`${count(files)} files, ${size(bytes)} …`);
    },
    end() {
      if (isTerminal) write("");
    },
  };
}
