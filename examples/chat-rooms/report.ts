import type { Tally } from "./tally";
import { columnsOf } from "./text";

/** The tally for people. */
export function reportOf(tally: Tally, seed: number): string {
  const { audit } = tally;
  const rows: [string, number, string][] = [
    ["sent", tally.sent, ""],
    ["acknowledged", tally.acknowledged, ""],
    ["in the history", tally.inHistory, ""],
    ["lost", tally.lost, "acknowledged, and not in the history"],
    ["duplicates", tally.duplicates, "in the history more than once"],
    ["out of order", tally.outOfOrder, "in the history before an earlier one of the same user"],
    ["misread", tally.misread, "read otherwise than the history has them"],
    ["unread", tally.unread, "not read by somebody in the room"],
    ["sent again", tally.resent, "because no acknowledgement came"],
    ["dropped", tally.dropped, "by the mailboxes of slow readers"],
    ["caught up", tally.caughtUp, "times a reader found lines missing, and read them in the history"],
    ["rooms killed", tally.roomsKilled, `${tally.restarts} restarted, ${tally.reopened} opened anew`],
    ["late replies", tally.lateReplies, "to users who had given up"],
  ];
  if (tally.unfinished > 0) rows.push(["unfinished", tally.unfinished, "actors that did not stop in time"]);
  const cells = rows.map(([what, count, note]) => [what, String(count), note]);
  const table = columnsOf(cells, [1]);
  const sum =
    `${audit.accepted} messages = ${audit.handled} handled + ${audit.failed} failed + ${audit.dead} dead ` +
    `+ ${audit.queued} queued + ${audit.running} running`;
  return `${table.join("\n")}\n\n${sum}: ${tally.isBalanced ? "in balance" : "NOT IN BALANCE"}\n${verdictOf(tally, seed)}\n`;
}

function verdictOf(tally: Tally, seed: number): string {
  const again = `(seed ${seed})`;
  if (!tally.isFlawless) return `NOT ALL WENT WELL: see above ${again}.`;
  if (!tally.isCutShort) return `Nothing that was acknowledged is lost ${again}.`;
  return `It was stopped early, and nothing that was acknowledged by then is lost ${again}.`;
}

/** The tally for programs: one document. Later versions may add fields, and change "schema" if they change one. */
export const jsonOf = (tally: Tally, seed: number): string =>
  `${JSON.stringify({ schema: "envoi.chat-rooms/1", seed, ...tally }, null, 2)}\n`;
