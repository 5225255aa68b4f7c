import { quote, type System, type SystemEvent } from "../../index";
import type { LetterRow, LogEntry } from "./shapes";

/** Most letters of a text that is shown. */
const LONGEST = 300;
/** Rows of dead letters. Beyond that, the row that was quiet for longest goes. */
const MOST_LETTERS = 100;
/** Events that are looked at between two looks at the actors. Each costs about a microsecond. */
const MOST_EVENTS = 1_000;
/** Most entries that one frame has. */
const MOST_SENT = 200;

const shorten = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

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
 * What happened in a system, while somebody looks: the last events, and the dead letters by reason. It hears a bounded number of events
 * between two looks: a flood of them costs no more than that.
 */
export class Journal {
  readonly #system: System;
  /** Starts and stops have entries of their own number, or they would push out the failures. */
  readonly #lives: Ring;
  readonly #rest: Ring;
  readonly #letters = new Map<string, LetterRow>();
  #last = 0;
  #heard = 0;
  /** The numbers of the newest entries at which some events were left out. */
  #cutAt = 0;
  #end: (() => void) | null = null;

  /** @param most entries that are kept of each of two kinds. */
  constructor(system: System, most: number) {
    this.#system = system;
    this.#lives = new Ring(most);
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
    this.#heard = 0;
    this.#end ??= this.#system.events.subscribe((event) => this.#hear(event));
  }

  close(): void {
    this.#end?.();
    this.#end = null;
  }

  /** The newest entries after another one, and whether some are missing. */
  after(id: number): { readonly entries: readonly LogEntry[]; readonly isCut: boolean } {
    if (id >= this.#last) return { entries: [], isCut: false };
    const entries = [...this.#lives.after(id), ...this.#rest.after(id)].sort((a, b) => a.id - b.id);
    const isCut = this.#cutAt > id || entries.length > MOST_SENT;
    return { entries: entries.slice(-MOST_SENT), isCut };
  }

  #hear(event: SystemEvent): void {
    const at = this.#system.clock.wallTime();
    const id = ++this.#last;
    const { kind, address } = event;
    const ring = kind === "started" || kind === "stopped" ? this.#lives : this.#rest;
    ring.add({ id, at, kind: shorten(kind), address: shorten(address), text: textOf(event) });
    if (event.kind === "dead-letter") this.#count(event.letter, at);
    if (++this.#heard < MOST_EVENTS) return;
    this.#cutAt = id;
    this.close();
  }

  #count({ reason, address, operation, description }: Omit<LetterRow, "count" | "at">, at: number): void {
    const key = `${reason} ${address} ${operation}`;
    const count = (this.#letters.get(key)?.count ?? 0) + 1;
    this.#letters.delete(key); // The latest one is the last.
    const row = { reason, address: shorten(address), operation: shorten(String(operation)), count, at };
    this.#letters.set(key, { ...row, description: shorten(description) });
    if (this.#letters.size <= MOST_LETTERS) return;
    for (const oldest of this.#letters.keys()) {
      this.#letters.delete(oldest);
      return;
    }
  }
}
