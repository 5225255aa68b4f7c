/** An event of an event stream. */
export interface ServerEvent {
  /** The name: `message` if it has none. */
  readonly event: string;
  readonly data: string;
  /** The id of the last event that had one; empty if none had. */
  readonly id: string;
  /** The number of its message, in the events of a session. */
  readonly message?: number;
}

/** Most characters of one event. */
const LONGEST = 16_777_216;

/**
 * Parses server-sent events as the HTML standard says (section 9.2.6), from a text that comes in pieces, cut anywhere. An event counts, with its
 * id, once the empty line after it has come.
 */
export class EventParser {
  /** The milliseconds that the server wants its clients to wait before they come back; null if it did not say. */
  retry: number | null = null;
  #line = "";
  #isAfterReturn = false;
  #data: string | null = null;
  #size = 0;
  #event = "";
  #newId = "";
  #message = 0;

  /**
   * Takes a piece of decoded text, and gives the events that are complete with it.
   *
   * @throws RangeError for an event that is too long.
   */
  push(text: string): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    let from = 0;
    if (this.#isAfterReturn && text !== "") {
      this.#isAfterReturn = false;
      if (text.startsWith("\n")) from = 1; // The second half of a line's end.
    }
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      const line = this.#line + text.slice(from, end.index);
      this.#line = "";
      from = ends.lastIndex;
      this.#isAfterReturn = end[0] === "\r" && from === text.length;
      if (line === "") this.#dispatch(events);
      else this.#field(line);
    }
    this.#line += text.slice(from);
    if (this.#line.length + this.#size > LONGEST) throw new RangeError("An event is too long.");
    return events;
  }

  #dispatch(events: ServerEvent[]): void {
    if (this.#data !== null) {
      events.push({
        event: this.#event || "message",
        data: this.#data,
        id: this.#newId,
        ...(this.#message > 0 && { message: this.#message }),
      });
    }
    this.#data = null;
    this.#message = 0;
    this.#size = 0;
    this.#event = "";
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // A comment.
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "data") {
      this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
      this.#size += value.length + 1;
    } else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#newId = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    else if (name === "message") this.#message = Number(value) || 0;
  }
}
