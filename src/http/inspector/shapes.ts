// The questions of the inspector's page, and their answers. It is compiled for the browser, too.

/** Most lines that are open at one time. Their keys go in the URL of a request. */
export const MOST_OPEN = 150;

/** All that the page shows, as one event of its stream. */
export interface Frame {
  /** Counts the looks at the system: two frames of one look have the same numbers. */
  readonly look: number;
  /** The name and the version of the service. */
  readonly service: { readonly name: string; readonly version: string };
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds since the look before; 0 for the first one, which knows no rates. */
  readonly period: number;
  readonly totals: Totals;
  /** The busiest operations first; null where the system has no metrics. */
  readonly operations: readonly OperationRow[] | null;
  /** The latest dead letters first, by reason, address and operation. */
  readonly letters: readonly LetterRow[];
  readonly rows: readonly TreeRow[];
  /** The number of actors that were found; null where nothing was looked for. */
  readonly found: number | null;
  /** The entries since the last frame, the oldest first. */
  readonly log: readonly LogEntry[];
  /** The number of the newest entry: for the next request. */
  readonly logged: number;
  /** The service that numbered them: another one after a restart. For the next request, too. */
  readonly since: number;
  /** True where so many things happened since the last frame that some are not in the log. */
  readonly isLogCut: boolean;
}

/** The whole system. Rates are in 1/s. */
export interface Totals {
  readonly actors: number;
  readonly queued: number;
  /** Messages handled in a second. */
  readonly rate: number;
  /** Messages that failed, and that were dead-lettered, so far. */
  readonly failed: number;
  readonly dead: number;
  /** Of all actors so far, also of those that have stopped since. */
  readonly restarts: number;
}

/** One operation of a protocol. */
export interface OperationRow {
  readonly protocol: string;
  readonly operation: string;
  /** Messages in a second. */
  readonly rate: number;
  readonly failed: number;
  readonly dead: number;
  /** Milliseconds that handlers took since the look before; null where none was timed. */
  readonly mean: number | null;
  /** An upper bound of the time that 99 in 100 took. */
  readonly high: number | null;
}

/** Dead letters of one reason. */
export interface LetterRow {
  readonly reason: string;
  readonly address: string;
  readonly operation: string;
  readonly count: number;
  /** The last one, in milliseconds since 1970. */
  readonly at: number;
  /** The sentence of the last one. */
  readonly description: string;
}

/** One line of the tree. */
export interface TreeRow {
  /** Names it in requests: the address of an actor, or a hash of one that is long. */
  readonly key: string;
  /** `page`: leads to other siblings, from `from` on. */
  readonly kind: "actor" | "group" | "page";
  /** 1 for actors without a parent. */
  readonly level: number;
  /** Its place among its siblings, from 1, and their number; 0 for a page. */
  readonly place: number;
  readonly siblings: number;
  readonly name: string;
  /** True or false where something is below it. */
  readonly isOpen?: boolean;
  /** For a page: the first sibling that it leads to, and the key of their parent. */
  readonly from?: number;
  readonly of?: string;
  /** The numbers of an actor, or the sums of a group. */
  readonly numbers?: Numbers;
  /** For an actor. */
  readonly actor?: ActorPart;
  /** For a group: the number of actors, and how many of them are held back or restart. */
  readonly count?: number;
  readonly troubled?: number;
}

export interface Numbers {
  readonly queued: number;
  readonly rate: number;
  readonly handled: number;
  readonly failed: number;
  readonly restarts: number;
}

export interface ActorPart {
  readonly address: string;
  readonly protocol: string;
  readonly state: string;
  readonly current: readonly { readonly operation: string; readonly age: number }[];
}

/** One thing that happened. */
export interface LogEntry {
  /** Counts from 1. */
  readonly id: number;
  readonly at: number;
  /** As in `system.events`: `failed`, `restarted`, `dead-letter` … */
  readonly kind: string;
  readonly address: string;
  readonly text: string;
}

/** The orders of siblings. */
export type Order = "spawned" | "queued" | "rate" | "failed" | "restarts";
