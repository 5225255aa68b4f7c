import { type ActorReport, type Address, parseAddress } from "envoi";
import { columnsOf, seconds } from "./text";

/** From how long on a handler's time is shown, in milliseconds. */
const LONG = 100;

/** How wide that column is at least, so that the ones behind it do not move with each state. */
const STATE = 21;

/** The tree of actors as aligned lines, a head first: what each is and does at this moment. */
export function linesOfTree(reports: readonly ActorReport[]): string[] {
  const rows = [["actor", "state".padEnd(STATE), "queued", "handled", "failed", "restarts"]];
  const add = (
    { address, state, queued, handled, failed, restarts, current, children }: ActorReport,
    depth: number,
  ) => {
    const [running] = current;
    const doing = running !== undefined && running.age >= LONG ? ` ${running.operation} ${seconds(running.age)}` : "";
    const name = `${"  ".repeat(depth)}${nameOf(address, depth)}`;
    rows.push([name, `${state}${doing}`, ...[queued, handled, failed, restarts].map(String)]);
    // By name: in the order of their spawning, a room would move down whenever it is opened anew.
    for (const child of children.toSorted((a, b) => (a.address < b.address ? -1 : 1))) add(child, depth + 1);
  };
  for (const report of reports) add(report, 0);
  return columnsOf(rows, [2, 3, 4, 5]);
}

/** Below its parent, an actor needs no more than the end of its address. */
function nameOf(address: Address, depth: number): string {
  const { id, segments } = parseAddress(address)._unsafeUnwrap(); // It comes from a report.
  return depth === 0 ? id : (segments.at(-1) ?? id);
}
