import { EventParser } from "../../client/event-parser";
import type { Frame } from "../shapes";

/** The fate of a connection. */
export interface Listener {
  readonly onFrame: (frame: Frame) => void;
  readonly onState: (state: "live" | "lost" | "paused") => void;
  /** The gateway refused: its status, and its sentence. */
  readonly onRefused: (status: number, detail: string) => void;
  /** The headers of each request. */
  readonly headers: () => Record<string, string>;
  /** The query of the next request. */
  readonly query: () => string;
}

/** Milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
/** The longest pause that a server may ask for. */
const LONGEST_ASKED = 60_000;
/** The gateway writes at least that often. */
const SILENCE = 45_000;

/** Reads the frames of one stream after the other: a new one for each change of what is to be seen, and after each that was lost. */
export class Connection {
  readonly #listener: Listener;
  #current: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #isPaused = false;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** Opens a stream. The one before ends when this one begins, so that the gateway goes on with what it knows. */
  open(): void {
    if (this.#isPaused) return;
    clearTimeout(this.#timer);
    const before = this.#current;
    const current = new AbortController();
    this.#current = current;
    void this.#run(current, before);
  }

  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#timer);
    this.#current?.abort();
    this.#current = null;
    this.#listener.onState("paused");
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#failures = 0;
    this.open();
  }

  async #run(current: AbortController, before: AbortController | null): Promise<void> {
    const { signal } = current;
    let wait = 0;
    try {
      const response = await fetch(`inspect/live?${this.#listener.query()}`, {
        headers: { accept: "text/event-stream", ...this.#listener.headers() },
        signal,
        cache: "no-store",
      });
      before?.abort();
      if (!response.ok || response.body === null) {
        const told = await problemIn(response);
        if (this.#current !== current) return;
        this.#listener.onRefused(response.status, told);
        if (response.status < 500 && response.status !== 429) return; // The same request would be refused again.
        wait = waitIn(response);
      } else {
        for await (const frame of framesOf(response.body, current)) {
          if (this.#current !== current) return;
          this.#failures = 0;
          this.#listener.onFrame(frame);
          this.#listener.onState("live");
        }
      }
    } catch {
      before?.abort(); // The network failed, or this stream was ended.
    }
    if (this.#current !== current) return;
    this.#current = null;
    this.#listener.onState("lost");
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures++, LONGEST_PAUSE);
    this.#timer = setTimeout(() => this.open(), Math.max(wait, pause * (0.5 + Math.random() / 2)));
  }
}

/** The pause that a server asks for, in milliseconds. A date counts as none: clocks differ. */
function waitIn({ headers }: Response): number {
  const [seconds = "0"] = /^\d+$/.exec(headers.get("retry-after") ?? "") ?? [];
  return Math.min(Number(seconds) * 1_000, LONGEST_ASKED);
}

async function problemIn(response: Response): Promise<string> {
  try {
    const problem: unknown = await response.json();
    if (typeof problem === "object" && problem !== null && "detail" in problem) return String(problem.detail);
  } catch {
    // It is of another server, such as a proxy.
  }
  return `The server answered with ${response.status}.`;
}

/** Reads server-sent events. Each has one frame. */
async function* framesOf(body: ReadableStream<Uint8Array>, current: AbortController): AsyncGenerator<Frame, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const parser = new EventParser();
  let silence: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      clearTimeout(silence);
      silence = setTimeout(() => current.abort(), SILENCE);
      const { done, value } = await reader.read();
      if (done) return;
      for (const { event, data } of parser.push(decoder.decode(value, { stream: true }))) {
        if (event === "message") yield JSON.parse(data) as Frame; // The gateway that served the page writes it.
      }
    }
  } finally {
    clearTimeout(silence);
    void reader.cancel().catch(() => {});
  }
}
