import type { System } from "envoi";
import { seconds } from "./text";
import { linesOfTree } from "./tree";
import { isOfRoom } from "./witness";

/** Shows a chat while it goes on. */
export interface View {
  /** Something that happened, in a sentence. What happens after `close` is not shown. */
  note(sentence: string): void;
  /** Begins to show a system. */
  open(system: System): void;
  /** Shows no more, and leaves the terminal as it was; again does nothing. */
  readonly close: () => void;
}

/** How often a log gets a line of sums, in milliseconds. */
const SUMS_EVERY = 1_000;

/** Shows nothing. */
export const silence = (): View => ({ note() {}, open() {}, close() {} });

/** For a pipe or a log: a line for each thing that happens, the sums each second, and the tree at the end. */
export function plainView(write: (text: string) => void): View {
  const start = performance.now();
  let shown: System | null = null;
  let isClosed = false;
  let timer: Timer | undefined;
  const note = (sentence: string): void => {
    if (!isClosed) write(`${seconds(performance.now() - start).padStart(7)}  ${sentence}\n`);
  };
  return {
    note,
    open(system) {
      shown = system;
      timer = setInterval(() => note(sumsOf(system)), SUMS_EVERY);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(timer);
      if (shown !== null) write(`\n${linesOfTree(shown.inspect()).join("\n")}\n\n`);
    },
  };
}

function sumsOf(system: System): string {
  const { accepted, handled, failed, dead, queued, running } = system.router.audit();
  return `${accepted} messages: ${handled} handled, ${failed} failed, ${dead} dead, ${queued} queued, ${running} running`;
}

/** Tells a view of rooms that are gone, or back. */
export function noteRooms(system: System, view: View): void {
  system.events.subscribe((event) => {
    if (!isOfRoom(event)) return;
    if (event.kind === "restarted") view.note(`${event.address} has restarted; restarts: ${event.restarts}.`);
    if (event.kind === "stopped") view.note(`${event.address} was stopped.`);
    if (event.kind === "started") view.note(`${event.address} is open.`);
  });
}
