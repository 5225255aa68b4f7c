import type { Socket } from "bun";

// Requests are lines `[7,"ask"]`. A line of answers is `[7,7,8,"mailbox-full"]`: of the second, something went wrong. The one that
// makes load reads them in half the time of a line each.

/** A request: its number, and the operation that it asks for. */
export type Request = readonly [id: number, operation: string];
/** The number of a request, and what came of it: the same number, which the operation gives back, or the kind of the error; and so on. */
export type Answers = readonly (number | string)[];

/** Goes through lines of answers; `error` is undefined where the operation gave back its number. */
export function eachAnswer(lines: readonly Answers[], hear: (id: number, error: string | undefined) => void): void {
  for (const line of lines) {
    for (let i = 0; i < line.length; i += 2) {
      const value = line[i + 1];
      const id = Number(line[i]);
      hear(id, value === id ? undefined : typeof value === "string" ? value : "wrong");
    }
  }
}

/** Cuts bytes into lines of JSON, however they come. */
export class LineReader<Line> {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The lines that are whole by now. They are parsed at once, in a tenth of the time of one by one. */
  read(bytes: Uint8Array): readonly Line[] {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n");
    this.#rest = text.slice(end + 1);
    if (end < 0) return [];
    return JSON.parse(`[${text.slice(0, end).replaceAll("\n", ",")}]`) as Line[]; // The other process writes nothing else.
  }
}

interface Piece {
  readonly bytes: Uint8Array;
  /** When it came here, in milliseconds. */
  readonly at: number;
}

/** Writes to a socket what it takes, and keeps the rest until it takes more. */
export class LineWriter {
  readonly #socket: Pick<Socket, "write">;
  readonly #encoder = new TextEncoder();
  #pieces: Piece[] = [];
  /** How much of the first piece is written. */
  #written = 0;

  constructor(socket: Pick<Socket, "write">) {
    this.#socket = socket;
  }

  write(text: string, now = 0): void {
    this.#pieces.push({ bytes: this.#encoder.encode(text), at: now });
    if (this.#pieces.length === 1) this.drain();
  }

  /** Goes on after the socket refused some. */
  drain(): void {
    let done = 0;
    for (const { bytes } of this.#pieces) {
      this.#written += this.#socket.write(bytes.subarray(this.#written));
      if (this.#written < bytes.length) break;
      this.#written = 0;
      done++;
    }
    if (done > 0) this.#pieces.splice(0, done);
  }

  /** Takes back what came before a time and is not begun: nobody waits for it any more. */
  forget(before: number): void {
    const from = this.#written > 0 ? 1 : 0;
    const first = this.#pieces[from];
    if (first === undefined || first.at >= before) return;
    const kept = this.#pieces.findIndex(({ at }, index) => index >= from && at >= before);
    this.#pieces.splice(from, (kept < 0 ? this.#pieces.length : kept) - from);
  }
}
