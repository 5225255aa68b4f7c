import { type Census, type Family, type Group, Known } from "./census";
import type { Numbers, Order, TreeRow } from "./shapes";

/** Siblings on one page. */
export const PAGE = 50;
/** Siblings of one pattern from which they are one line. */
const MANY = 5;
/** Siblings up to which those that come first are found without sorting all. */
const FEW_PAGES = 200;
/** Most lines of a tree. */
const MOST = 500;
/** Most bytes of a key. A longer one is a hash: the keys of all open lines must fit into a URL. */
const LONGEST_KEY = 32;
/** Most running messages that are shown of one actor. */
const MOST_RUNNING = 10;

/** The part of the tree that is to be seen. */
export interface Seen {
  /** The lines that are open, by key, each with the first sibling below it that is shown. The key of the actors without a parent is empty. */
  readonly open: ReadonlyMap<string, number>;
  readonly order: Order;
}

const keyOf = (text: string): string =>
  Buffer.byteLength(text) <= LONGEST_KEY ? text : `#${Bun.hash(text).toString(36)}`;

const numbersOf = ({ queued, rate, handled, failed, restarts }: Numbers): Numbers => ({
  ...{ queued, rate: Math.round(rate * 10) / 10, handled, failed, restarts },
});

/** The lines of a tree, those that are open with what is below them. */
export function rowsOf({ roots }: Census, seen: Seen): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  addPage(rows, entriesOf(roots), "", 1, seen);
  return rows;
}

/** The lines of all actors whose path has a text, at most a page of them, and their number. */
export function rowsFound(
  { known }: Census,
  text: string,
  { open, order }: Seen,
): { rows: readonly TreeRow[]; found: number } {
  const wanted = text.toLowerCase();
  const last = wanted.slice(wanted.lastIndexOf("/") + 1);
  const found = known.filter(
    (actor) =>
      actor.name.toLowerCase().includes(last) && (last === wanted || actor.path.toLowerCase().includes(wanted)),
  );
  const rows: TreeRow[] = [];
  addPage(rows, found, "", 1, { open: new Map([["", open.get("") ?? 0]]), order }, true);
  return { rows, found: found.length };
}

/** Siblings: groups of many, and the others one by one. */
function entriesOf({ groups }: Family): readonly (Group | Known)[] {
  const entries: (Group | Known)[] = [];
  for (const group of groups.values()) {
    if (group.members.length >= MANY) entries.push(group);
    else entries.push(...group.members);
  }
  return entries;
}

/** The first entries in an order, so many. To sort 100,000 of them all would take 40 ms, for each page and look. */
function firstOf<Entry extends Numbers>(entries: readonly Entry[], most: number, order: Order): readonly Entry[] {
  if (order === "spawned") return entries;
  if (most > FEW_PAGES) return entries.toSorted((a, b) => b[order] - a[order]);
  const first: Entry[] = [];
  for (const entry of entries) {
    const last = first[most - 1];
    if (last !== undefined && entry[order] <= last[order]) continue;
    if (last !== undefined) first.pop();
    let at = first.length;
    while (at > 0 && (first[at - 1] as Entry)[order] < entry[order]) at--; // The index is in range.
    first.splice(at, 0, entry);
  }
  return first;
}

function addPage(
  rows: TreeRow[],
  entries: readonly (Group | Known)[],
  of: string,
  level: number,
  seen: Seen,
  isFlat = false,
): void {
  const siblings = entries.length;
  const wanted = seen.open.get(of) ?? 0;
  const from = wanted < siblings ? wanted : Math.max(0, Math.floor((siblings - 1) / PAGE) * PAGE); // Some have gone.
  const end = Math.min(from + PAGE, siblings);
  const ordered = firstOf(entries, end, seen.order);
  if (from > 0) rows.push(pageRow(of, level, Math.max(0, from - PAGE), siblings, "previous"));
  let index = from;
  for (; index < end && rows.length < MOST; index++) {
    const entry = ordered[index] as Group | Known; // The index is in range.
    const place = { level, place: index + 1, siblings };
    if (entry instanceof Known) addActor(rows, entry, place, seen, isFlat);
    else addGroup(rows, entry, place, seen);
  }
  if (index < siblings) rows.push(pageRow(of, level, index, siblings, "next"));
}

type Place = Pick<TreeRow, "level" | "place" | "siblings">;

function addActor(rows: TreeRow[], known: Known, place: Place, seen: Seen, isFlat: boolean): void {
  const { view, family } = known;
  const { protocol = "", state } = view;
  const { address } = known.ref;
  const key = keyOf(address);
  const isOpen = seen.open.has(key);
  rows.push({
    key,
    kind: "actor",
    ...place,
    name: isFlat ? known.path : known.name,
    ...(family !== null && !isFlat && { isOpen }),
    numbers: numbersOf(known),
    actor: { address, protocol, state, current: view.current.slice(0, MOST_RUNNING) },
  });
  if (isOpen && family !== null && !isFlat) addPage(rows, entriesOf(family), key, place.level + 1, seen);
}

function addGroup(rows: TreeRow[], group: Group, place: Place, seen: Seen): void {
  const { family, pattern, members, troubled } = group;
  const key = keyOf(`*${family.parent?.ref.address ?? ""}/${pattern}`); // No address begins so.
  const isOpen = seen.open.has(key);
  rows.push({
    ...{ key, kind: "group", ...place, name: pattern, isOpen },
    numbers: numbersOf(group),
    count: members.length,
    troubled,
  });
  if (isOpen) addPage(rows, members, key, place.level + 1, seen);
}

function pageRow(of: string, level: number, from: number, siblings: number, which: "previous" | "next"): TreeRow {
  const last = Math.min(from + PAGE, siblings);
  return {
    key: `${which} ${of}`, // No address and no group begins so.
    kind: "page",
    level,
    place: 0,
    siblings: 0,
    name: `${which === "next" ? "Next" : "Previous"}: ${from + 1}–${last} of ${siblings}`,
    from,
    of,
  };
}
