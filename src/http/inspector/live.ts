import type { EventLog, LoggedEvent, Site } from "../contract";
import type { Lookout } from "./lookout";
import { rowsFound, rowsOf, type Seen } from "./rows";
import { type Frame, MOST_OPEN, type Order } from "./shapes";

/** The wishes of one page. */
export interface Wanted extends Seen {
  /** The text that the paths of actors have; empty for the tree. */
  readonly find: string;
  /** The number of the newest entry of the log that the page has. */
  readonly logged: number;
  /** The service that numbered it; null for this one. */
  readonly since: number | null;
}

/** Most letters of a key, and of a text to find. */
const LONGEST = 600;

const ORDERS: readonly string[] = ["spawned", "queued", "rate", "failed", "restarts"] satisfies Order[];
const isOrder = (text: string): text is Order => ORDERS.includes(text);

const NUMBER = /^\d{1,15}$/;

/** Reads what a page wants from its query; gives the sentence of what is wrong with it. */
export function wantedOf(query: string): Wanted | string {
  const params = new URLSearchParams(query);
  const open = new Map<string, number>();
  for (const each of params.getAll("open")) {
    const [, from = "", key = ""] = /^(\d{1,15})\.([\s\S]*)$/.exec(each) ?? [];
    if (from === "" || key.length > LONGEST) return "open is the first place to show, a dot, and the key of a line.";
    open.set(key, Number(from));
  }
  if (open.size > MOST_OPEN) return `At most ${MOST_OPEN} lines are open at one time.`;
  const find = (params.get("find") ?? "").trim();
  if (find.length > LONGEST) return `find has at most ${LONGEST} letters.`;
  const order = params.get("order") ?? "spawned";
  if (!isOrder(order)) return `order is one of ${ORDERS.join(", ")}.`;
  const logged = params.get("logged") ?? "0";
  if (!NUMBER.test(logged)) return "logged is a number.";
  const since = params.get("since");
  if (since !== null && !NUMBER.test(since)) return "since is a number.";
  return { open, find, order, logged: Number(logged), since: since === null ? null : Number(since) };
}

/** The view of one page, as the log that its stream is written from. It keeps nothing: an event is the present, and a slow reader misses some. */
export class LiveView implements EventLog {
  readonly isEnded = false;
  readonly isEndless = true;
  readonly #site: Pick<Site, "name" | "version" | "clock">;
  readonly #lookout: Lookout;
  readonly #wanted: Wanted;
  /** The frame that was made last. It is asked for again where it was not sent. */
  #made: LoggedEvent = { id: 0, data: "" };
  #logged: number;

  constructor(site: Pick<Site, "name" | "version" | "clock">, lookout: Lookout, wanted: Wanted) {
    this.#site = site;
    this.#lookout = lookout;
    this.#wanted = wanted;
    const { logged, since } = wanted;
    this.#logged = since === null || since === lookout.journal.since ? logged : 0;
  }

  get last(): number {
    const { isLooking, looks, census } = this.#lookout;
    return isLooking || census === null ? this.#made.id : looks;
  }

  read(after: number): readonly LoggedEvent[] {
    const { last } = this;
    if (last <= after) return [];
    if (this.#made.id !== last) {
      this.#made = { id: last, data: this.#lookout.spend(() => JSON.stringify(this.#frame(last))) };
    }
    return [this.#made];
  }

  async changed(after: number, signal: AbortSignal): Promise<void> {
    while (this.last <= after && !signal.aborted) await this.#lookout.changed(signal);
  }

  #frame(look: number): Frame {
    const { journal, totals, operations, period, census } = this.#lookout;
    const { find } = this.#wanted;
    const { rows, found } =
      census === null
        ? { rows: [], found: null }
        : find === ""
          ? { rows: rowsOf(census, this.#wanted), found: null }
          : rowsFound(census, find, this.#wanted);
    const { entries, isCut } = journal.after(this.#logged > journal.last ? 0 : this.#logged);
    this.#logged = journal.last;
    const { name, version } = this.#site;
    return {
      look,
      service: { name, version },
      at: this.#site.clock.wallTime(),
      period,
      totals,
      operations,
      letters: journal.letters,
      rows,
      found,
      log: entries,
      logged: journal.last,
      since: journal.since,
      isLogCut: isCut,
    };
  }
}
