import { quote, type System, type SystemEvent } from "../../index";
import type { LetterRow, LogEntry } from "./shapes";

/** Most letters of a text that is shown. */
const LONGEST = 300;
/** Rows of dead letters. Beyond that, the row that was quiet for longest goes. */
const MOST_LETTERS = 100;
/** Starts and stops, and other events, that are kept between two looks at the actors. Each costs about a microsecond. */
const MOST_EVENTS = 1_000;
/** Starts and stops that are heard between two looks. Most are only passed over, so that failures among them are heard. */
const MOST_LIVES = 10_000;
/** Most entries that one frame has. */
const MOST_SENT = 200;

/** A text that is cut is copied: a slice alone would keep all of the text in memory, as long as the entry is kept. */
const shorten = (text: string): string =>
  text.length > LONGEST ? `${Buffer.from(text.slice(0, LONGEST - 1)).toString()}…` : text;

/** The sentence of what was thrown. No stack: it has paths. */
function sentenceOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return shorten(String(thrown.message) || thrown.name);
    return typeof thrown === "string" ? shorten(thrown) : quote(thrown);
  } catch {
    return "an error that cannot be shown";
  }
}

function textOf(event: SystemEvent): string {
  switch (event.kind) {
    case "started":
      return "";
    case "stopped":
      return event.error === undefined ? "" : sentenceOf(event.error);
    case "restarted":
      return `for the ${ordinal(event.restarts)} time: ${sentenceOf(event.error)}`;
    case "held":
      return `for ${Math.round(event.delay)} ms: ${sentenceOf(event.error)}`;
    case "failed":
      return `${shorten(event.operation)}: ${sentenceOf(event.error)} (${event.directive})`;
    case "dead-letter":
      return `${event.letter.reason}: ${shorten(event.letter.description)}`;
    case "overflow":
      return `${shorten(event.operation)} found ${event.capacity} messages waiting (${event.overflow})`;
    case "slow-handler":
      return `${shorten(event.operation)} has taken ${Math.round(event.elapsed)} ms`;
    default:
      return event.detail === undefined
        ? ""
        : typeof event.detail === "string"
          ? shorten(event.detail)
          : quote(event.detail);
  }
}

const ordinal = (count: number): string => {
  const last = count % 10;
  if (Math.trunc((count % 100) / 10) === 1 || last === 0 || last > 3) return `${count}th`;
  return `${count}${["st", "nd", "rd"][last - 1]}`;
};

/** The last entries of some kinds. */
class Ring {
  readonly #most: number;
  #entries: LogEntry[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(entry: LogEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length >= this.#most * 2) this.#entries = this.#entries.slice(-this.#most);
  }

  after(id: number): readonly LogEntry[] {
    const entries = this.#entries.slice(-this.#most);
    return entries.filter((entry) => entry.id > id);
  }
}

/**
 * The last events of a system while somebody looks, and its dead letters by reason. It hears a bounded number of events
 * between two looks: a flood of them costs no more than that.
 */
export class Journal {
  /** The time at which it was made, in milliseconds since 1970. Another time means another service, with other numbers of entries. */
  readonly since: number;
  readonly #system: System;
  /** Starts and stops have entries of their own number, or they would push out the failures. */
  readonly #startsAndStops: Ring;
  readonly #rest: Ring;
  readonly #letters = new Map<string, LetterRow>();
  #last = 0;
  /** Starts and stops, and other events, that were heard since the last look began. */
  #lives = 0;
  #others = 0;
  /** The numbers of the newest entries at which some events were left out. */
  #cutAt = 0;
  #end: (() => void) | null = null;

  /** @param most entries that are kept of each of two kinds. */
  constructor(system: System, most: number) {
    this.since = Math.trunc(system.clock.wallTime());
    this.#system = system;
    this.#startsAndStops = new Ring(most);
    this.#rest = new Ring(most);
  }

  /** The number of the newest entry. */
  get last(): number {
    return this.#last;
  }

  get letters(): readonly LetterRow[] {
    return [...this.#letters.values()].reverse();
  }

  /** Begins to hear, or goes on after too many events. */
  listen(): void {
    this.#lives = this.#others = 0;
    this.#end ??= this.#system.events.subscribe((event) => this.#hear(event));
  }

  close(): void {
    this.#end?.();
    this.#end = null;
  }

  /** The newest entries after another one, and whether some are missing. */
  after(id: number): { readonly entries: readonly LogEntry[]; readonly isCut: boolean } {
    if (id >= this.#last) return { entries: [], isCut: false };
    const entries = [...this.#startsAndStops.after(id), ...this.#rest.after(id)].sort((a, b) => a.id - b.id);
    const isCut = this.#cutAt > id || entries.length > MOST_SENT;
    return { entries: entries.slice(-MOST_SENT), isCut };
  }

  #hear(event: SystemEvent): void {
    const isLife = event.kind === "started" || event.kind === "stopped";
    if (isLife && ++this.#lives > MOST_EVENTS) {
      if (this.#lives === MOST_EVENTS + 1) this.#cutAt = ++this.#last;
      if (this.#lives === MOST_LIVES) this.close();
      return;
    }
    const at = this.#system.clock.wallTime();
    const id = ++this.#last;
    const { kind, address } = event;
    const ring = isLife ? this.#startsAndStops : this.#rest;
    ring.add({ id, at, kind: shorten(kind), address: shorten(address), text: textOf(event) });
    if (event.kind === "dead-letter") this.#count(event.letter, at);
    if (isLife || ++this.#others < MOST_EVENTS) return;
    this.#cutAt = id;
    this.close();
  }

  #count(letter: Omit<LetterRow, "count" | "at">, at: number): void {
    const [reason, address, operation] = [letter.reason, shorten(letter.address), shorten(String(letter.operation))];
    const key = `${reason} ${address} ${operation}`;
    const count = (this.#letters.get(key)?.count ?? 0) + 1;
    this.#letters.delete(key); // The latest one is the last.
    this.#letters.set(key, { reason, address, operation, count, at, description: shorten(letter.description) });
    if (this.#letters.size <= MOST_LETTERS) return;
    for (const oldest of this.#letters.keys()) {
      this.#letters.delete(oldest);
      return;
    }
  }
}
