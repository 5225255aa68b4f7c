import type { Frame, Program } from "../tier";
import { FIRST_LINE } from "./program-file";

/** A name that `ProgramFiles` gives, and a place there. */
const FRAME = /\b(program(?:-\d{1,15})?\.js):(\d{1,9}):(\d{1,9})/;
const MOST_FRAMES = 50;

/** The places of a stack that are in callers' sources; the stack is text that the code may have written itself. */
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
