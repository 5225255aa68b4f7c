import type { RecordingReader } from "../../record/index";
import { plain } from "../plain";
import type { Terminal } from "../terminal";

/** Tells what of a recording could not be read, once it has been read. */
export function tellFaults({ faults, faultCount }: RecordingReader, terminal: Terminal): void {
  for (const { sentence } of faults) terminal.err(`${plain(sentence)}\n`);
  if (faultCount > faults.length) terminal.err(`… and ${faultCount - faults.length} more.\n`);
}
