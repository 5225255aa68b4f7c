import type { EndpointOptions, LoggedEvent } from "../contract";
import { jsonOf } from "../json-of";
import type { Problem } from "../problem";

/** Takes one event: its data, and its name where it has one. */
export type AddEvent = (data: string, event?: string) => void;

/** Makes the events of one stream. */
export interface Encoder {
  /** @throws TypeError when the item cannot be written as JSON. */
  item(item: unknown, add: AddEvent): void;
  end(add: AddEvent): void;
  /** The end of a stream that failed. */
  error(problem: Problem, add: AddEvent): void;
}

/** The format of a stream. */
export interface EventFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** The data of an `end` event that is not named in this format; null where it is written like any other. */
  readonly end: string | null;
  /** The text that ends the stream where the server goes away. It has no id, so that its reader resumes behind the last event. */
  readonly goodbye: string;
  encoder(): Encoder;
}

/** Milliseconds after which a reader comes back. */
const COME_BACK = 1_000;

export const EVENT_STREAM = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-store",
  "x-accel-buffering": "no", // nginx would hold the events back.
  "x-content-type-options": "nosniff",
};

/**
 * An event as it is on the wire; `prefix` goes before the number of its id. The number of its message is a field that an `EventSource`
 * passes over.
 */
export const textOf = ({ id, message, event, data }: LoggedEvent, prefix: string, { end }: EventFormat): string =>
  `id: ${prefix}${id}\n${message === undefined ? "" : `message: ${message}\n`}${unnumbered(data, event, end)}`;

/** An event without an id. */
export const unnumbered = (data: string, event?: string, end: string | null = null): string => {
  if (event === undefined) return `data: ${data}\n\n`;
  return event === "end" && end !== null ? `data: ${end}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
};

const plain: Encoder = {
  item: (item, add) => add(jsonOf(item)),
  end: (add) => add("{}", "end"),
  error: (problem, add) => add(JSON.stringify(problem), "error"),
};

/** Items as they are; `event: error` and `event: end` are named. */
export const SSE: EventFormat = {
  headers: EVENT_STREAM,
  end: null,
  goodbye: `retry: ${COME_BACK}\n${unnumbered(`{"after":${COME_BACK}}`, "reconnect")}`,
  encoder: () => plain,
};

/**
 * The id of each text that is made of plain strings. One is open at a time, and readers forget the id at its end. So what was written before
 * an event follows from the event before it alone, wherever a reader resumes.
 */
const TEXT = "text";

/** Makes the chunks of the AI SDK's UI message stream (v1), which the handler yields, or of plain strings. */
class AiSdkEncoder implements Encoder {
  #isStarted = false;
  #isFinished = false;
  #isText = false;

  item(item: unknown, add: AddEvent): void {
    const type = typeof item === "object" && item !== null && "type" in item ? item.type : undefined;
    if (!this.#isStarted && type !== "start") add('{"type":"start"}');
    this.#isStarted = true;
    this.#isFinished = type === "finish" || type === "abort" || type === "error";
    if (typeof item !== "string") {
      this.#endText(add);
      add(jsonOf(item));
      return;
    }
    if (!this.#isText) add(JSON.stringify({ type: "text-start", id: TEXT }));
    this.#isText = true;
    add(JSON.stringify({ type: "text-delta", id: TEXT, delta: item }));
  }

  end(add: AddEvent): void {
    if (!this.#isStarted) add('{"type":"start"}');
    this.#endText(add);
    if (!this.#isFinished) add('{"type":"finish"}');
    add("{}", "end");
  }

  error({ kind, detail }: Problem, add: AddEvent): void {
    this.#endText(add);
    add(
      JSON.stringify(kind === "cancelled" ? { type: "abort", reason: detail } : { type: "error", errorText: detail }),
    );
    add("{}", "end");
  }

  #endText(add: AddEvent): void {
    if (this.#isText) add(JSON.stringify({ type: "text-end", id: TEXT }));
    this.#isText = false;
  }
}

/** The AI SDK's UI message stream, version 1. */
export const AI_SDK: EventFormat = {
  headers: { ...EVENT_STREAM, "x-vercel-ai-ui-message-stream": "v1" },
  end: "[DONE]",
  // The hooks read the data of each event. By the name, other readers know that they may come back.
  goodbye: `retry: ${COME_BACK}\n${unnumbered('{"type":"error","errorText":"The server goes away: come back in a moment."}', "reconnect")}`,
  encoder: () => new AiSdkEncoder(),
};

/** The format in which an endpoint writes its streams. */
export const formatOf = ({ format }: EndpointOptions): EventFormat => (format === "ai-sdk" ? AI_SDK : SSE);

/** The chat that a payload names, if it is the body of a request of the AI SDK's hooks. */
export function chatIn(payload: unknown): string | undefined {
  if (typeof payload !== "object" || payload === null || !("id" in payload)) return undefined;
  return typeof payload.id === "string" ? payload.id : undefined;
}

/** The text of a stream that fails before its first event. */
export function failureOf({ encoder, end }: EventFormat, problem: Problem): string {
  let text = "";
  encoder().error(problem, (data, event) => {
    text += unnumbered(data, event, end);
  });
  return text;
}
