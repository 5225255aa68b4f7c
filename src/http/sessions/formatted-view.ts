import type { EventLog, LoggedEvent } from "../contract";
import type { Problem } from "../problem";
import type { Encoder, EventFormat } from "../streams/event-format";
import type { View } from "./session-view";
import type { EventRow } from "./store";

/**
 * The part of a number by which the events differ that are made of one stored event: a power of two, so that the ids are exact. The last
 * one has the id of the stored event, and those before it lie below: 2.125, 2.25, 3.
 */
const PART = 1 / 8;

/**
 * The events of a message in a format that makes several events of a stored one. Each has an id of its own, so that a reader that was cut
 * off between them misses none and gets none twice.
 */
export class FormattedView implements EventLog {
  readonly #view: View;
  readonly #format: EventFormat;
  /** The stored event that the encoder wrote last. */
  #at = Number.NaN;
  #encoder: Encoder | null = null;

  constructor(view: View, format: EventFormat) {
    this.#view = view;
    this.#format = format;
  }

  get last(): number {
    return this.#view.last;
  }

  get isEnded(): boolean {
    return this.#view.isEnded;
  }

  changed(after: number, signal: AbortSignal): Promise<void> {
    return this.#view.changed(after, signal);
  }

  read(after: number, most: number): readonly LoggedEvent[] | "gone" {
    const whole = Math.floor(after);
    const stored = this.#view.rows(whole, most);
    const encoder = stored === "gone" ? "gone" : this.#encoderAfter(whole);
    if (stored === "gone" || encoder === "gone") return "gone";
    const events: LoggedEvent[] = [];
    for (const row of stored) {
      const parts = partsOf(encoder, row);
      const first = row.id - 1 + PART;
      for (const [index, part] of parts.entries()) {
        const id = index === parts.length - 1 ? row.id : first + index * PART;
        if (id > after) events.push({ id, ...part });
      }
    }
    this.#encoder = encoder;
    this.#at = stored.at(-1)?.id ?? whole;
    return events;
  }

  /** An encoder that has written the stored events up to one. */
  #encoderAfter(id: number): Encoder | "gone" {
    if (this.#encoder !== null && this.#at === id) return this.#encoder;
    const encoder = this.#format.encoder();
    const before = this.#view.rowUpTo(id);
    if (before === "gone") return "gone";
    if (before !== null) partsOf(encoder, before); // The output of an encoder depends on the event before alone.
    return encoder;
  }
}

function partsOf(encoder: Encoder, { event, data }: EventRow): readonly Omit<LoggedEvent, "id">[] {
  const parts: Omit<LoggedEvent, "id">[] = [];
  const add = (text: string, name?: string): void => {
    parts.push(name === undefined ? { data: text } : { event: name, data: text });
  };
  if (event === "end") encoder.end(add);
  else if (event === "error")
    encoder.error(JSON.parse(data) as Problem, add); // It was made by `problemOf`.
  else encoder.item(JSON.parse(data), add);
  return parts;
}
