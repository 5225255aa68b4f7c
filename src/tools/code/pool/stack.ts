import type { Frame, Program } from "../tier";
import { FILE, FIRST_LINE } from "./program-file";

const FRAME = new RegExp(`\\b${FILE.replace(".", "\\.")}:(\\d{1,9}):(\\d{1,9})`);
const MOST_FRAMES = 50;

/** The places of a stack that are in the caller's source; the stack is text that the code may have written itself. */
export function stackOf(stack: string, program: Program): Frame[] {
  const places: Frame[] = [];
  for (const frame of stack.split("\n")) {
    if (places.length === MOST_FRAMES) break;
    const [, line, column] = FRAME.exec(frame) ?? [];
    if (line === undefined || column === undefined || Number(line) < FIRST_LINE) continue;
    const place = program.place(Number(line) - FIRST_LINE + 1, Number(column));
    if (place !== undefined) places.push({ program, ...place });
  }
  return places;
}
