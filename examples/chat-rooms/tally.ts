import type { Audit } from "envoi";
import type { Diary } from "./diary";
import type { Entry } from "./protocols";
import type { EventCounts } from "./witness";

/** What a chat came to. */
export interface Tally {
  readonly sent: number;
  readonly acknowledged: number;
  readonly inHistory: number;
  /** Acknowledged, and not in the history where its user was told that it is. */
  readonly lost: number;
  /** In the history more than once. */
  readonly duplicates: number;
  /** In the history before something that the same user had said earlier. */
  readonly outOfOrder: number;
  /** Lines that somebody read otherwise than the history has them; and those that somebody in their room did not read. */
  readonly misread: number;
  readonly unread: number;
  readonly resent: number;
  readonly caughtUp: number;
  readonly roomsKilled: number;
  /** Rooms that their supervisor restarted, and those that the lobby opened anew. */
  readonly restarts: number;
  readonly reopened: number;
  readonly dropped: number;
  readonly lateReplies: number;
  /** What the router says of all messages. */
  readonly audit: Audit;
  readonly isBalanced: boolean;
  /** Ended before all was delivered and read. */
  readonly isCutShort: boolean;
  /** Actors that did not stop in time. */
  readonly unfinished: number;
  /** Whether nothing went wrong. */
  readonly isFlawless: boolean;
}

export interface Evidence {
  readonly entries: readonly Entry[];
  readonly diaries: readonly Diary[];
  readonly rooms: number;
  readonly events: EventCounts;
  readonly audit: Audit;
  readonly isCutShort: boolean;
  readonly unfinished: number;
}

/** Counts from what the log has and from what each user knows, and believes no actor. */
export function tallyOf({ entries, diaries, rooms, events, audit, isCutShort, unfinished }: Evidence): Tally {
  const histories = Map.groupBy(entries, (entry) => entry.room);
  const ids = new Set(entries.map((entry) => entry.id));
  let sent = 0;
  let acknowledged = 0;
  let lost = 0;
  let outOfOrder = 0;
  let misread = 0;
  let unread = 0;
  for (const diary of diaries) {
    const history = histories.get(diary.room) ?? [];
    sent += diary.sent.length;
    acknowledged += diary.acknowledged.length;
    lost += count(diary.acknowledged, (position, nth) => history[position]?.id !== diary.sent[nth]?.id);
    const numbers = new Map(diary.sent.map(({ id }, nth) => [id, nth]));
    const said = history.flatMap(({ id }) => numbers.get(id) ?? []);
    outOfOrder += count(said, (number, nth) => number < (said[nth - 1] ?? 0));
    misread += count(diary.heard, (entry, nth) => history[nth]?.id !== entry.id || history[nth]?.text !== entry.text);
    unread += history.length - diary.heard.length;
  }
  const duplicates = entries.length - ids.size;
  const { accepted, handled, failed, dead, queued, running } = audit;
  const isBalanced = accepted === handled + failed + dead && queued === 0 && running === 0;
  const isDone = sent === acknowledged && sent === entries.length && unread === 0;
  const wrong = lost + duplicates + outOfOrder + misread + unfinished;
  const reopened = events.started - rooms;
  return {
    sent,
    acknowledged,
    inHistory: entries.length,
    lost,
    duplicates,
    outOfOrder,
    misread,
    unread,
    resent: diaries.reduce((sum, diary) => sum + diary.resent, 0),
    caughtUp: diaries.reduce((sum, diary) => sum + diary.caughtUp, 0),
    roomsKilled: events.failed + reopened,
    restarts: events.restarted,
    reopened,
    dropped: events.dropped,
    lateReplies: events.late,
    audit,
    isBalanced,
    isCutShort,
    unfinished,
    isFlawless: wrong === 0 && isBalanced && (isDone || isCutShort),
  };
}

const count = <Item>(items: readonly Item[], isOne: (item: Item, index: number) => boolean): number =>
  items.filter(isOne).length;
