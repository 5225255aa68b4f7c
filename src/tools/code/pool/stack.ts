import type { Frame, Program } from "../tier";
import { FIRST_LINE } from "./program-file";

/** A file name of `ProgramFiles`, and a place in it. */
const FRAME = /\b(program(?:-\d{1,15})?\.js):(\d{1,9}):(\d{1,9})/;
const MOST_FRAMES = 50;

/** The places of a stack that are in callers' sources. The code may have written the text of the stack itself. */
export function stackOf(stack: string, programOf: (file: string) => Program | undefined): Frame[] {
  const places: Frame[] = [];
  for (const frame of stack.split("\n")) {
    if (places.length === MOST_FRAMES) break;
    const [, file, line, column] = FRAME.exec(frame) ?? [];
    if (file === undefined || line === undefined || column === undefined || Number(line) < FIRST_LINE) continue;
    const program = programOf(file);
    const place = program?.place(Number(line) - FIRST_LINE + 1, Number(column));
    if (program !== undefined && place !== undefined) places.push({ program, ...place });
  }
  return places;
}
