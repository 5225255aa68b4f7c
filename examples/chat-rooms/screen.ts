import type { WriteStream } from "node:tty";
import type { System } from "envoi";
import { fit, printable, seconds } from "./text";
import { linesOfTree } from "./tree";
import type { View } from "./view";

/** Four times a second. */
const REDRAW_EVERY = 250;
/** How many of the latest notes are shown. */
const NOTES = 2;

// Of xterm and its like. What does not know of the last two takes no notice.
const ESC = "\x1b[";
const ENTER = `${ESC}?1049h${ESC}?25l`; // Another screen, without a cursor.
const LEAVE = `${ESC}?25h${ESC}?1049l`;
const BEGIN_FRAME = `${ESC}?2026h${ESC}H`; // Shown at once when it is complete; from the top left corner.
const END_FRAME = `${ESC}J${ESC}?2026l`; // And nothing below.
const END_LINE = `${ESC}K`;

/** On a terminal: the live tree, redrawn in place on the terminal's other screen. */
export function liveView(out: WriteStream, title: string): View {
  const start = performance.now();
  const notes: string[] = [];
  let shown: System | null = null;
  let timer: Timer | undefined;

  function frame(system: System): string {
    const { columns, rows } = out;
    const head = `${title}  ${seconds(performance.now() - start)}  Ctrl-C ends it.`;
    const tree = linesOfTree(system.inspect());
    const room = Math.max(rows - 3 - NOTES, 1); // The last row stays free: a full one would scroll.
    const left = tree.length - room;
    const shownTree = left <= 0 ? tree : [...tree.slice(0, room - 1), `… and ${left + 1} more`];
    const lines = [head, ...shownTree, "", ...notes].slice(0, Math.max(rows - 1, 1));
    return lines.map((line) => fit(line, columns) + END_LINE).join("\n");
  }

  const draw = (): void => {
    if (shown !== null) out.write(BEGIN_FRAME + frame(shown) + END_FRAME);
  };

  const close = (): void => {
    if (shown === null) return;
    const tree = linesOfTree(shown.inspect());
    shown = null;
    clearInterval(timer);
    out.off("resize", draw);
    out.write(`${LEAVE}${tree.map((line) => fit(line, out.columns)).join("\n")}\n\n`);
  };

  return {
    note: (sentence) => {
      notes.push(printable(sentence));
      if (notes.length > NOTES) notes.shift();
    },
    open(system) {
      shown = system;
      out.on("resize", draw);
      out.write(ENTER);
      draw();
      timer = setInterval(draw, REDRAW_EVERY);
    },
    close,
  };
}
